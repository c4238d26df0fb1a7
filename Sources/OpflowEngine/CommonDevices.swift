internal import OpflowPlan

/// GPUs that a remote node shares with the local one, as on the first node of a batch job. A GPU in
/// use on one is in use on both.
struct CommonDevices {
  /// By node: the local number of each GPU, or empty.
  private var here: [[Int?]] = [[]]
  private var sites: [SiteID] = []

  var isEmpty: Bool { sites.isEmpty }

  mutating func join(_ devicesHere: [Int?]) {
    let site = SiteID(Int32(truncatingIfNeeded: here.count))
    let hasAny = devicesHere.contains { $0 != nil }
    here.append(hasAny ? devicesHere : [])
    if hasAny { sites.append(site) }
  }

  func areOf(_ first: SiteID, _ second: SiteID) -> Bool {
    if first == second { return true }
    return (first == .local || sites.contains(first))
      && (second == .local || sites.contains(second))
  }

  /// Returns the other nodes with these GPUs, and their numbers there.
  func elsewhere(_ devices: DeviceSet, of site: SiteID) -> [(site: SiteID, devices: DeviceSet)] {
    let local =
      site == .local ? devices : DeviceSet(devices.numbers.compactMap { number(of: $0, at: site) })
    if local.isEmpty { return [] }
    var found: [(site: SiteID, devices: DeviceSet)] = site == .local ? [] : [(.local, local)]
    for other in sites where other != site {
      let numbers = here[other.index].indices.filter { place in
        number(of: place, at: other).map { !local.isDisjoint(with: DeviceSet([$0])) } ?? false
      }
      if !numbers.isEmpty { found.append((other, DeviceSet(numbers))) }
    }
    return found
  }

  private func number(of device: Int, at site: SiteID) -> Int? {
    device < here[site.index].count ? here[site.index][device] : nil
  }
}
