/// Tasks that are looked at, by content, before they may start: those that are to be, and those that a worker
/// has been asked about. Such a worker runs no task, so that it has many questions at once and none of them
/// waits for what runs.
struct Checks {
  private struct Checker {
    let worker: WorkerID
    /// The questions that it has not answered; those among them that nobody waits for any more.
    var serials: Set<Int32> = []
    /// Its end was ordered.
    var isDiscarded = false
  }

  private struct Question {
    let worker: WorkerID
    let serial: Int32
    /// What the task left, as far as it was told.
    var values: [TaskValue] = []
  }

  /// In the order in which they came; what lies before `next` is gone.
  private var pending: [TaskID] = []
  private var next = 0
  private var open: [TaskID: Question] = [:]
  private var checkers: [Checker] = []
  private var lastSerial: Int32 = 0
  /// Why tasks run that are not up to date, until they start.
  private var reasons: [TaskID: String] = [:]
  /// Tasks that somebody asked for.
  private let asked: TaskSet?

  init(asked: TaskSet?) { self.asked = asked }

  /// Questions that one worker has at most: more than it answers before it looks for others, so that it has
  /// something to do until those come.
  private static let mostAtOnce = 160
  /// There is one more worker for so many that wait.
  private static let tasksPerWorker = 16

  var isEmpty: Bool { open.isEmpty && !hasPending }
  var hasPending: Bool { next < pending.count }
  /// In no order. For checks.
  var waiting: ArraySlice<TaskID> { pending[next...] }

  func isAsked(_ task: TaskID) -> Bool { asked?.contains(task) ?? false }

  func isOpen(_ task: TaskID) -> Bool { open[task] != nil }

  /// Whether one more worker would be of use.
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

  /// Takes a task out that waits.
  mutating func remove(_ task: TaskID) {
    pending.removeSubrange(..<next)
    next = 0
    pending.removeAll { $0 == task }
  }

  /// Takes out all that wait and all that are being looked at, whose answers nobody waits for any more.
  mutating func removeAll() -> (waiting: [TaskID], open: [TaskID]) {
    defer {
      pending.removeAll()
      next = 0
      open.removeAll()
    }
    return (Array(waiting), open.keys.sorted { $0.rawValue < $1.rawValue })
  }

  // MARK: - Workers

  /// A worker is there that may be asked.
  mutating func join(_ worker: WorkerID) { checkers.append(Checker(worker: worker)) }

  /// It is asked nothing any more.
  mutating func discard(_ worker: WorkerID) {
    guard let place = place(of: worker) else { return }
    checkers[place].isDiscarded = true
  }

  /// It is gone.
  ///
  /// - Returns: the tasks that it was asked about.
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

  /// The next task, whom to ask about it, and the number of the question.
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
    /// Somebody waits for it. With what the task left.
    case awaited([TaskValue])
    /// Nobody does any more.
    case past
    /// There was no such question.
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

  /// What a task left, before the answer.
  ///
  /// - Returns: whether the worker has such a question to answer.
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

  /// Nobody waits for the answer any more.
  mutating func abandon(_ task: TaskID) { open[task] = nil }

  // MARK: - Reasons

  mutating func note(_ why: String, of task: TaskID) { reasons[task] = why }

  mutating func takeReason(of task: TaskID) -> String? {
    reasons.isEmpty ? nil : reasons.removeValue(forKey: task)
  }
}
