internal import OpflowPlan

/// Up-to-date checks. A checker is a worker that runs no tasks and has many questions at once.
struct Checks {
  private struct Checker {
    let worker: WorkerID
    /// Including abandoned ones.
    var serials: Set<Int32> = []
    var isDiscarded = false
  }

  private struct Question {
    let worker: WorkerID
    let serial: Int32
    var values: [TaskValue] = []
  }

  /// In order of arrival; entries before `next` are done.
  private var pending: [TaskID] = []
  private var next = 0
  private var open: [TaskID: Question] = [:]
  private var checkers: [Checker] = []
  private var lastSerial: Int32 = 0
  /// Why tasks are not up to date, until they start.
  private var reasons: [TaskID: String] = [:]
  /// See `Entering`.
  private let asked: TaskSet?

  init(asked: TaskSet?) { self.asked = asked }

  /// They keep a worker busy until the next ones arrive.
  private static let mostAtOnce = 160
  private static let tasksPerWorker = 16

  var isEmpty: Bool { open.isEmpty && !hasPending }
  var hasPending: Bool { next < pending.count }
  var waiting: ArraySlice<TaskID> { pending[next...] }

  func isAsked(_ task: TaskID) -> Bool { asked?.contains(task) ?? false }

  func isOpen(_ task: TaskID) -> Bool { open[task] != nil }

  func wantsWorker(alive: Int) -> Bool {
    hasPending && (pending.count - next) > alive * Self.tasksPerWorker
  }

  // MARK: - Waiting

  mutating func enqueue(_ task: TaskID) { pending.append(task) }

  private mutating func removeFirst() -> TaskID? {
    guard hasPending else { return nil }
    defer {
      next += 1
      if next == pending.count {
        pending.removeAll(keepingCapacity: true)
        next = 0
      }
    }
    return pending[next]
  }

  mutating func remove(_ task: TaskID) {
    pending.removeSubrange(..<next)
    next = 0
    pending.removeAll { $0 == task }
  }

  mutating func removeAll() -> (waiting: [TaskID], open: [TaskID]) {
    defer {
      pending.removeAll()
      next = 0
      open.removeAll()
    }
    return (Array(waiting), open.keys.sorted { $0.rawValue < $1.rawValue })
  }

  // MARK: - Workers

  mutating func join(_ worker: WorkerID) { checkers.append(Checker(worker: worker)) }

  mutating func discard(_ worker: WorkerID) {
    guard let place = place(of: worker) else { return }
    checkers[place].isDiscarded = true
  }

  /// Returns the tasks of its open questions.
  mutating func leave(_ worker: WorkerID) -> [TaskID] {
    guard let place = place(of: worker) else { return [] }
    checkers.remove(at: place)
    let tasks = open.filter { $0.value.worker == worker }.keys
    for task in tasks { open[task] = nil }
    return tasks.sorted { $0.rawValue < $1.rawValue }
  }

  private func place(of worker: WorkerID) -> Int? {
    checkers.firstIndex { $0.worker == worker }
  }

  // MARK: - Questions

  /// Chooses the checker with the fewest open questions.
  mutating func nextQuestion() -> (task: TaskID, worker: WorkerID, serial: Int32)? {
    guard hasPending else { return nil }
    var best: Int?
    for place in checkers.indices
    where !checkers[place].isDiscarded && checkers[place].serials.count < Self.mostAtOnce {
      if best.map({ checkers[place].serials.count < checkers[$0].serials.count }) ?? true {
        best = place
      }
    }
    guard let best, let task = removeFirst() else { return nil }
    lastSerial = lastSerial == .max ? 1 : lastSerial + 1
    let worker = checkers[best].worker
    checkers[best].serials.insert(lastSerial)
    open[task] = Question(worker: worker, serial: lastSerial)
    return (task, worker, lastSerial)
  }

  enum Answer {
    /// To an open question, with the values reported before.
    case awaited([TaskValue])
    /// The question was abandoned.
    case past
    case unasked
  }

  mutating func answer(_ worker: WorkerID, _ task: TaskID, _ serial: Int32) -> Answer {
    guard let place = place(of: worker), checkers[place].serials.remove(serial) != nil else {
      return .unasked
    }
    guard let question = open[task], question.serial == serial else { return .past }
    open[task] = nil
    return .awaited(question.values)
  }

  /// The value precedes the answer; returns whether the worker has such a question.
  mutating func note(
    _ value: TaskValue, _ worker: WorkerID, _ task: TaskID, _ serial: Int32
  ) -> Bool {
    guard let place = place(of: worker), checkers[place].serials.contains(serial) else {
      return false
    }
    if let question = open[task], question.serial == serial,
      question.values.count < ValueRules.mostValues
    {
      open[task]?.values.append(value)
    }
    return true
  }

  mutating func abandon(_ task: TaskID) { open[task] = nil }

  // MARK: - Reasons

  mutating func note(_ why: String, of task: TaskID) { reasons[task] = why }

  mutating func takeReason(of task: TaskID) -> String? {
    reasons.isEmpty ? nil : reasons.removeValue(forKey: task)
  }
}
