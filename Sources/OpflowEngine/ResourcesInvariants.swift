internal import OpflowPlan

extension Resources {
  func checkInvariants(holding shares: [Share]) -> String? {
    var held = pools.all.map { [UInt64](repeating: 0, count: $0.capacity.count) }
    for share in shares {
      for item in grants.items[grants.range(share.grant)] {
        held[poolIndex(of: Int(item.resource), at: share.site)][Int(item.resource)] += item.amount
      }
      for (other, same) in commonDevices.elsewhere(share.devices, of: share.site) {
        held[other.index][gpu] += UInt64(same.count) * 1000
      }
      held[share.site.index][Self.processor] += UInt64(share.lent)
    }
    if held != pools.all.map(\.held) { return "what is held is miscounted" }
    if let whole, whole.held[Self.processor] != held.reduce(0, { $0 + $1[Self.processor] }) {
      return "what is held of all machines is miscounted"
    }
    if gpu >= 0, let problem = checkDevices(of: shares) { return problem }
    if let problem = checkBindings(of: shares) { return problem }
    // After a capacity was lowered, use beyond it drains.
    if !hasShrunk, !pools.all.allSatisfy(\.isWithinCapacity) { return "a resource is exceeded" }
    return grants.checkInvariants(holding: shares.map(\.grant))
  }

  private func checkBindings(of shares: [Share]) -> String? {
    var counts = bindings.map { _ in 0 }
    for share in shares {
      guard let group = serviceLanes.group(of: grants.lane(of: share.grant)) else { continue }
      if share.site == .local { return "services of other machines are on this one" }
      if share.site != bindings[group].site { return "a group of services is on two machines" }
      counts[group] += 1
    }
    return counts == bindings.map(\.shares) ? nil : "what is bound to machines is miscounted"
  }

  private func checkDevices(of shares: [Share]) -> String? {
    var taken = pools.all.map { _ in DeviceSet() }
    for share in shares {
      let wanted = grants.items[grants.range(share.grant)].first { Int($0.resource) == gpu }?.amount
      if share.devices.count != Int((wanted ?? 0) / 1000) { return "a task has not its GPUs" }
      if !taken[share.site.index].isDisjoint(with: share.devices) { return "a GPU has two tasks" }
      taken[share.site.index].formUnion(share.devices)
      for (other, same) in commonDevices.elsewhere(share.devices, of: share.site) {
        if !taken[other.index].isDisjoint(with: same) { return "a GPU has tasks of two sites" }
        taken[other.index].formUnion(same)
      }
    }
    return taken == devicesTaken ? nil : "GPUs that are taken are miscounted"
  }
}
