/// GPUs that the coordinator's machine and another site both have, since they are one machine: as on the first node of
/// a batch job, where the coordinator is, and an agent. What a task has on one of them, none has on the other.
struct CommonDevices {
  /// By site: of each of its GPUs, which of the coordinator's machine that is; empty where it has none of those.
  private var here: [[Int?]] = [[]]
  /// The sites that have any, the coordinator's own left out.
  private var sites: [SiteID] = []

  var isEmpty: Bool { sites.isEmpty }

  mutating func join(_ devicesHere: [Int?]) {
    let site = SiteID(Int32(truncatingIfNeeded: here.count))
    let hasAny = devicesHere.contains { $0 != nil }
    here.append(hasAny ? devicesHere : [])
    if hasAny { sites.append(site) }
  }

  /// Whether two sites have any in common.
  func areOf(_ first: SiteID, _ second: SiteID) -> Bool {
    if first == second { return true }
    return (first == .local || sites.contains(first))
      && (second == .local || sites.contains(second))
  }

  /// Where GPUs of a site are as well, and as which.
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
