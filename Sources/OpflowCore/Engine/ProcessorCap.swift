/// How much `cpu` tasks may hold on all machines together, and how much of it they hold.
struct ProcessorCap {
  var limit: UInt64
  private(set) var held: UInt64 = 0

  init(limit: UInt64) { self.limit = limit }

  var free: UInt64 { held < limit ? limit - held : 0 }

  func has(_ amount: UInt64, beside reserved: UInt64) -> Bool {
    let (sum, overflow) = amount.addingReportingOverflow(reserved)
    return !overflow && sum <= free
  }

  mutating func take(_ amount: UInt64) { held += amount }

  mutating func give(_ amount: UInt64) { held -= amount }

  /// A task that wants more than the run may have runs alone.
  func cut(_ items: [DemandItem]) -> [DemandItem] {
    items.map { item in
      var item = item
      if item.resource == ResourceEntry.cpu { item.amount = min(item.amount, limit) }
      return item
    }
  }
}

extension Resources {
  func processors(in grant: Int32) -> UInt64 { grants.amount(of: Self.processor, in: grant) }

  /// How much of what the run may have is held back for tasks that do not fit.
  var heldBackOfWhole: UInt64 {
    (reservedHere.map { processors(in: $0.grant) } ?? 0)
      + (reservedElsewhere.map { processors(in: $0.grant) } ?? 0)
      + reservedTogether.amount(of: Self.processor)
  }
}
