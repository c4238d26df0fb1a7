/// Names of tasks that the plan does not have.
struct GoneTasks: Sendable {
  /// With the place that each came in.
  private var places: [String: Int] = [:]
  private var nextPlace = 0

  var names: [String] { places.sorted { $0.value < $1.value }.map(\.key) }

  mutating func insert(_ escapedName: UnsafeRawBufferPointer) {
    guard let name = Field.text(escapedName), places[name] == nil else { return }
    places[name] = nextPlace
    nextPlace += 1
  }

  mutating func forget(_ names: [String]) {
    for name in names { places[name] = nil }
  }
}
