internal import OpflowPlan

extension Resources {
  func processors(in grant: Int32) -> UInt64 { grants.amount(of: Self.processor, in: grant) }

  @inline(__always)
  func wholeHas(_ amount: UInt64) -> Bool {
    guard let whole else { return true }
    return whole.has(amount, of: Self.processor, beside: wholeHeldBack)
  }

  var wholeHeldBack: UInt64 {
    (reservedHere.map { processors(in: $0.grant) } ?? 0)
      + (reservedElsewhere.map { processors(in: $0.grant) } ?? 0)
      + reservedTogether.reduce(0) { $1.resource == Self.processor ? $0 + $1.amount : $0 }
  }

  /// A task that wants more than the run may have runs alone.
  func cutToWhole(_ items: [DemandItem]) -> [DemandItem] {
    guard let limit = whole?.capacity[Self.processor] else { return items }
    return items.map { item in
      var item = item
      if item.resource == ResourceEntry.cpu { item.amount = min(item.amount, limit) }
      return item
    }
  }
}
