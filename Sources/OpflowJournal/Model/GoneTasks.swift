internal import OpflowBase
internal import OpflowPlan

/// Tasks that the plan does not have.
struct GoneTasks: Sendable {
  private var places: [String: Int] = [:]
  private var nextPlace = 0
  /// Per started task: its stand-in ID in `HandedTasks`.
  private var standIns: [String: TaskID] = [:]
  private var workers: [TaskID: WorkerID] = [:]
  private(set) var attempts: [String: Int32] = [:]

  var names: [String] { places.sorted { $0.value < $1.value }.map(\.key) }

  mutating func insert(_ escapedName: UnsafeRawBufferPointer) {
    guard let name = Field.text(escapedName), places[name] == nil else { return }
    places[name] = nextPlace
    nextPlace += 1
  }

  mutating func forget(_ names: [String]) {
    for name in names { places[name] = nil }
  }

  /// Returns a stand-in ID, which no task of the plan has.
  mutating func start(
    _ escapedName: UnsafeRawBufferPointer, _ attempt: Int32, on worker: WorkerID
  ) -> TaskID? {
    guard let name = Field.text(escapedName) else { return nil }
    attempts[name] = max(attempts[name] ?? 0, attempt)
    let standIn = standIns[name] ?? TaskID(-2 - standIns.count)
    standIns[name] = standIn
    workers[standIn] = worker
    return standIn
  }

  /// Nil if the task never started.
  func holder(
    of escapedName: UnsafeRawBufferPointer
  ) -> (standIn: TaskID, worker: WorkerID)? {
    guard let standIn = Field.text(escapedName).flatMap({ standIns[$0] }),
      let worker = workers[standIn]
    else { return nil }
    return (standIn, worker)
  }

  static func isStandIn(_ task: TaskID) -> Bool { task.rawValue < TaskID.none.rawValue }
}
