/// The services to review: something has changed that decides whether they are needed.
struct ServiceReview {
  /// What decides for all services at once.
  struct Conditions: Equatable {
    var phase: Phase
    /// Whether nothing but services runs or can start.
    var isAtRest: Bool
    var isLeaving: Bool
    var passedOn: Set<TaskID>
    var keptOver: Set<TaskID>
  }

  private var services: [TaskID] = []
  private var places: [TaskID: Int32] = [:]
  /// Negative places in the topological order: users come before their services.
  private var open = BinaryHeap<Int32>()
  private var isOpen: [Bool] = []
  private var conditions: Conditions?
  /// The services that are needed, as of their last review.
  private(set) var needed: Set<TaskID> = []

  mutating func append(_ service: TaskID) {
    places[service] = Int32(truncatingIfNeeded: services.count)
    services.append(service)
    isOpen.append(false)
  }

  mutating func touch(_ service: TaskID) {
    guard let place = places[service], !isOpen[Int(place)] else { return }
    isOpen[Int(place)] = true
    open.push(-place)
  }

  /// Has all services reviewed, and then again when conditions are noted.
  mutating func touchAll() { conditions = nil }

  mutating func note(_ now: Conditions) {
    if now == conditions { return }
    conditions = now
    for service in services { touch(service) }
  }

  func isDone(under now: Conditions) -> Bool { now == conditions && open.count == 0 }

  mutating func next() -> TaskID? {
    guard let place = open.pop() else { return nil }
    isOpen[Int(-place)] = false
    return services[Int(-place)]
  }

  /// Returns whether that differs from the last review.
  mutating func note(_ service: TaskID, isNeeded: Bool) -> Bool {
    isNeeded ? needed.insert(service).inserted : needed.remove(service) != nil
  }
}
