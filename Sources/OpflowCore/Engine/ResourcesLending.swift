/// `cpu` that is lent to jobservers, and that others have who share it with this run.
extension Resources {
  /// How much `cpu` of this machine others have now.
  var away: UInt64 {
    get { pools[0].away }
    set { pools[0].setAway(newValue) }
  }

  /// How much of a machine's `cpu` nobody holds, and nothing is held back of.
  func idleProcessors(at site: SiteID) -> UInt64 {
    let free = min(pools[site.index].idleProcessors, whole?.free(Self.processor) ?? .max)
    return free - min(free, heldBack(of: Self.processor, in: site.index))
  }

  /// How much of it there is.
  func processors(at site: SiteID) -> UInt64 { pools[site.index].capacity[Self.processor] }

  /// How much more of it is held there than there is.
  func overdrawnProcessors(at site: SiteID) -> UInt64 {
    let pool = pools[site.index]
    let (held, capacity) = (pool.held[Self.processor], pool.capacity[Self.processor])
    return held > capacity ? held - capacity : 0
  }

  /// Whether more is held of something that a task has than there is by now: what it has must drain.
  func isOverdrawn(_ share: Share) -> Bool {
    hasShrunk
      && grants.items[grants.range(share.grant)].contains { item in
        let resource = Int(item.resource)
        let pool = pools[poolIndex(of: resource, at: share.site)]
        return pool.held[resource] > pool.capacity[resource]
      }
  }

  /// How much of it what a lane wants lacks, on the machine where that is least; 0 where it lacks none of it.
  func lackingProcessors(_ lane: Int) -> UInt64 {
    let wanted = grants.amount(of: Self.processor, in: grants.current(lane))
    let sites = isLocal(lane) ? Self.here : pools.indices.dropFirst().map { SiteID(Int32($0)) }
    return sites.map { wanted - min(wanted, pools[$0.index].free(Self.processor)) }.min() ?? 0
  }

  /// The same of amounts that are taken together on a machine.
  func lackingProcessors(_ amounts: [[DemandItem]], at site: SiteID) -> UInt64 {
    let wanted = amounts.sum(of: Self.processor)
    return wanted - min(wanted, pools[site.index].free(Self.processor))
  }

  /// How much of it a share has of its own.
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
