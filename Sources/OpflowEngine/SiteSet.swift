internal import OpflowPlan

struct SiteSet {
  private(set) var members: [SiteID] = []
  private var places: [Int32] = []

  var isEmpty: Bool { members.isEmpty }

  mutating func insert(_ site: SiteID) {
    while places.count <= site.index { places.append(-1) }
    guard places[site.index] < 0 else { return }
    places[site.index] = Int32(truncatingIfNeeded: members.count)
    members.append(site)
  }

  mutating func remove(_ site: SiteID) {
    guard site.index < places.count, places[site.index] >= 0 else { return }
    let place = Int(places[site.index])
    places[site.index] = -1
    guard let moved = members.removeBySwapping(at: place) else { return }
    places[moved.index] = Int32(truncatingIfNeeded: place)
  }
}
