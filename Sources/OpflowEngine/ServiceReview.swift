internal import OpflowPlan

/// Services to review: something has changed that decides whether they are needed.
struct ServiceReview {
  struct Conditions: Equatable {
    var phase: Phase
    var isAtRest: Bool
    var isLeaving: Bool
    var passedOn: Set<TaskID>
    var keptOver: Set<TaskID>
  }

  private var services: [TaskID] = []
  private var places: [TaskID: Int32] = [:]
  /// Negative topological places: users come before their services.
  private var open = BinaryHeap<Int32>()
  private var isOpen: [Bool] = []
  private var conditions: Conditions?
  /// As of their last review.
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

  /// Reviews all services once conditions are noted again.
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
