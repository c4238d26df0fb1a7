internal import OpflowPlan

extension [DemandItem] {
  func amount(of resource: Int) -> UInt64 {
    first { Int($0.resource) == resource }?.amount ?? 0
  }
}

extension [[DemandItem]] {
  func sum(of resource: Int) -> UInt64 {
    reduce(0) { sum, items in
      let (next, overflow) = sum.addingReportingOverflow(items.amount(of: resource))
      return overflow ? .max : next
    }
  }
}
