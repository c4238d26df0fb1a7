internal import OpflowPlan

extension Resources {
  var away: UInt64 {
    get { pools[0].away }
    set { pools[0].setAway(newValue) }
  }

  /// Neither held nor reserved.
  func idleProcessors(at site: SiteID) -> UInt64 {
    let free = min(pools[site.index].idleProcessors, whole?.free(Self.processor) ?? .max)
    return free - min(free, heldBack(of: Self.processor, in: site.index))
  }

  func processors(at site: SiteID) -> UInt64 { pools[site.index].capacity[Self.processor] }

  /// Held beyond the capacity.
  func overdrawnProcessors(at site: SiteID) -> UInt64 {
    let pool = pools[site.index]
    let (held, capacity) = (pool.held[Self.processor], pool.capacity[Self.processor])
    return held > capacity ? held - capacity : 0
  }

  /// Held beyond the capacity, so that it must drain.
  func isOverdrawn(_ share: Share) -> Bool {
    hasShrunk
      && grants.items[grants.range(share.grant)].contains { item in
        let resource = Int(item.resource)
        let pool = pools[poolIndex(of: resource, at: share.site)]
        return pool.held[resource] > pool.capacity[resource]
      }
  }

  /// The smallest CPU shortfall over `sites`; 0 if another resource is short too, since recalled
  /// tokens would be lent again at once.
  func lackingProcessors(_ lane: Int, at sites: [SiteID]) -> UInt64 {
    let grant = grants.current(lane)
    return sites.compactMap { lackingProcessors(at: $0) { grants.amount(of: $0, in: grant) } }
      .min() ?? 0
  }

  func lackingProcessors(_ amounts: [[DemandItem]], at site: SiteID) -> UInt64 {
    lackingProcessors(at: site) { amounts.sum(of: $0) } ?? 0
  }

  private func lackingProcessors(at site: SiteID, of wanted: (Int) -> UInt64) -> UInt64? {
    for resource in plan.resources.indices where resource != Self.processor {
      let amount = wanted(resource)
      if amount == 0 { continue }
      let pool = poolIndex(of: resource, at: site)
      let heldBack = heldBack(of: resource, in: pool)
      if !pools[pool].has(amount, of: resource, beside: heldBack) { return nil }
    }
    func lacking(_ free: UInt64, _ heldBack: UInt64) -> UInt64 {
      let (amount, overflow) = wanted(Self.processor).addingReportingOverflow(heldBack)
      return overflow ? .max : amount - min(amount, free)
    }
    let here = lacking(
      pools[site.index].free(Self.processor), heldBack(of: Self.processor, in: site.index))
    guard let whole else { return here }
    return max(here, lacking(whole.free(Self.processor), wholeHeldBack))
  }

  /// Without lent tokens.
  func processors(of share: Share) -> UInt64 { grants.amount(of: Self.processor, in: share.grant) }

  mutating func lend(_ count: Int32, at site: SiteID) {
    pools[site.index].take(UInt64(count), of: Self.processor)
    whole?.take(UInt64(count), of: Self.processor)
    look(at: site)
  }

  mutating func takeBack(_ count: Int32, at site: SiteID) {
    pools[site.index].give(UInt64(count), of: Self.processor)
    whole?.give(UInt64(count), of: Self.processor)
    look(at: site)
  }

  static let processor = Int(ResourceEntry.cpu)
}
