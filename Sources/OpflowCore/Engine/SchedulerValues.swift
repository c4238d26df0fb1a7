/// What tasks leave for each other, as far as a drive has to know of it.
struct Values {
  /// Of tasks that succeeded.
  private var left: [TaskID: ValueSet]
  /// Of tries whose end is still to come.
  private var coming: [TaskID: [TaskValue]] = [:]
  private var faults: [TaskID: String] = [:]
  /// What tasks that run have read: a hash of it. What they need may be tried again before they end.
  fileprivate var read: [TaskID: UInt64] = [:]
  /// Tasks whose `if` is to be decided now.
  fileprivate var undecided: [TaskID] = []
  fileprivate var isDeciding = false

  let arguments: TaskArguments?

  init(left: [TaskID: ValueSet], arguments: TaskArguments?) {
    self.left = left
    self.arguments = arguments
  }

  subscript(task: TaskID) -> [TaskValue] { left[task]?.values ?? [] }

  /// Where those of a task are.
  func attempt(of task: TaskID) -> Int32? { left[task]?.attempt }

  /// A task is up to date, and left that then.
  mutating func keep(_ values: [TaskValue], of task: TaskID) {
    left[task] =
      values.isEmpty ? nil : ValueSet(attempt: ValueFolder.ofRecord, values)
  }

  mutating func note(_ value: TaskValue, of task: TaskID) {
    if coming[task, default: []].count < ValueRules.mostValues {
      coming[task, default: []].append(value)
    }
  }

  mutating func note(fault: String, of task: TaskID) { faults[task] = fault }

  /// A try ended: what it left, which counts where that was a success, and what was the matter.
  @inline(__always)
  mutating func end(
    _ task: TaskID, attempt: Int32, isSuccess: Bool
  ) -> (values: [TaskValue], fault: String?) {
    if coming.isEmpty, faults.isEmpty, left.isEmpty { return ([], nil) }
    let fault = faults.removeValue(forKey: task)
    let values = coming.removeValue(forKey: task) ?? []
    guard isSuccess else { return ([], fault) }
    // Of an earlier drive, too, nothing holds any more.
    left[task] = values.isEmpty ? nil : ValueSet(attempt: attempt, values)
    return (values, fault)
  }

  /// A try was cut short.
  mutating func forget(_ task: TaskID) {
    if !coming.isEmpty { coming[task] = nil }
    if !faults.isEmpty { faults[task] = nil }
  }
}

extension Scheduler {
  /// Remembers what a task reads that starts.
  mutating func noteRead(by task: TaskID) {
    if let digest = valuesRead(by: task) { values.read[task] = digest }
  }

  /// A hash of what a try has read that ends; nil where it reads nothing.
  mutating func takeRead(by task: TaskID) -> UInt64? {
    values.read.isEmpty ? nil : values.read.removeValue(forKey: task)
  }

  /// Tells a worker which values a task reads that it is to start: those of the tries that succeeded, as
  /// the journal has them.
  func tellValues(of task: TaskID, to worker: WorkerID, into actions: inout StepQueue) {
    guard plan.flags(task).contains(.readsValues) else { return }
    let names = plan.valueNames(readBy: task)
    for need in plan.valueSources(of: task) {
      let hasValues = hasValues(need)
      let attempt = values.attempt(of: need) ?? attempt[need.index]
      actions.append(.order(worker, .values(need, attempt: hasValues ? attempt : nil)))
      guard hasValues else { continue }
      for value in values[need] where names?.contains(value.name) ?? true {
        actions.append(.order(worker, .value(need, name: value.name, hash: value.hash)))
      }
    }
  }

  /// Whether what a task left holds: that of an earlier drive not where this one skips it.
  private func hasValues(_ task: TaskID) -> Bool {
    graph.state(task).holdsValues
  }

  /// Nil for one that did not succeed.
  private func valuesLeft(by task: TaskID) -> [TaskValue]? { hasValues(task) ? values[task] : nil }

  /// A hash of the values that a task read and of its arguments; nil where it has neither.
  func valuesRead(by task: TaskID) -> UInt64? {
    let arguments = values.arguments.flatMap { $0.task == task ? $0.words : nil }
    guard plan.flags(task).contains(.readsValues) || arguments != nil else { return nil }
    return plan.valueDigest(of: task, arguments: arguments ?? []) { valuesLeft(by: $0) ?? [] }
  }

  /// All that a task needs has ended, and its `if` waited for that.
  mutating func awaitDecision(of task: TaskID) { values.undecided.append(task) }

  /// Decides what waits for it. What is skipped spreads, which may add to it: not by recursion, since a
  /// chain of them may have a million.
  mutating func decide(into actions: inout StepQueue) {
    if values.isDeciding || values.undecided.isEmpty { return }
    values.isDeciding = true
    var next = 0
    while next < values.undecided.count {
      decide(values.undecided[next], into: &actions)
      next += 1
    }
    values.undecided.removeAll()
    values.isDeciding = false
  }

  private mutating func decide(_ task: TaskID, into actions: inout StepQueue) {
    // What it needs may have failed when that was decided itself: a service.
    guard graph.state(task) == .ready else { return }
    guard let condition = plan.lateCondition(task), options.knowsValues else { return offer(task) }
    switch plan.verdict(of: task, condition, values: { valuesLeft(by: $0) }) {
    case .holds: offer(task)
    case .fails: settle(task, as: .skipped, Transition(.skip(.condition), task), into: &actions)
    case .undecided(let why):
      var transition = Transition(.failure, task, reason: .value)
      transition.what = why
      transition.allowed = plan.flags(task).contains(.allowAnyFailure)
      if transition.allowed {
        transition.fingerprint = plan.fingerprint(task)
        transition.with = valuesRead(by: task)
      }
      graph.set(task, .waiting)
      settle(task, as: transition.allowed ? .failedAllowed : .failed, transition, into: &actions)
    }
  }
}
