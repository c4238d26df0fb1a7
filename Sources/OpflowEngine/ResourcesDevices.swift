internal import OpflowPlan

extension Resources {
  @inline(__always)
  var haveDevices: Bool { gpu >= 0 }

  /// Whether use at a site may count in that pool too.
  @inline(__always)
  func isHeld(_ resource: Int, at site: SiteID, in pool: Int) -> Bool {
    let own = poolIndex(of: resource, at: site)
    if own == pool { return true }
    if commonDevices.isEmpty || resource != gpu { return false }
    return commonDevices.areOf(site, SiteID(Int32(truncatingIfNeeded: pool)))
  }

  mutating func takeDevices(_ amount: UInt64, at site: SiteID) -> DeviceSet {
    let devices = devicesTaken[site.index].takeFirstMissing(Int(clamping: amount / 1000))
    if !commonDevices.isEmpty { takeElsewhere(devices, of: site) }
    return devices
  }

  mutating func giveDevices(_ devices: DeviceSet, at site: SiteID) {
    devicesTaken[site.index].subtract(devices)
    for (other, same) in commonDevices.elsewhere(devices, of: site) {
      devicesTaken[other.index].subtract(same)
      pools[other.index].give(UInt64(same.count) * 1000, of: gpu)
      look(at: other)
    }
  }

  private mutating func takeElsewhere(_ devices: DeviceSet, of site: SiteID) {
    for (other, same) in commonDevices.elsewhere(devices, of: site) {
      take(same, at: other)
      look(at: other)
    }
  }

  private mutating func take(_ devices: DeviceSet, at site: SiteID) {
    devicesTaken[site.index].formUnion(devices)
    pools[site.index].take(UInt64(devices.count) * 1000, of: gpu)
  }

  /// Some may be in use.
  mutating func noteCommon(_ devicesHere: [Int?], of site: SiteID) {
    commonDevices.join(devicesHere)
    let taken = commonDevices.elsewhere(devicesTaken[SiteID.local.index], of: .local)
    guard let same = taken.first(where: { $0.site == site })?.devices else { return }
    take(same, at: site)
    // The new node's GPU capacity may be 0.
    hasShrunk = true
  }

  func lanes(beyond gpus: UInt64, isLocal: Bool) -> [Int] {
    lanes.all.indices.filter {
      lanes[$0].isUsed && self.isLocal($0) == isLocal && self.gpus(of: $0) > gpus
    }
  }

  /// With its services.
  func gpus(of lane: Int) -> UInt64 {
    serviceLanes.lanesTogether(lane).reduce(0) {
      $0 &+ grants.amount(of: gpu, in: grants.current($1))
    } / 1000
  }
}
