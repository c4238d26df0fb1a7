internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

package struct Values {
  /// Values of tasks that succeeded.
  private var left: [TaskID: ValueSet]
  /// Values of attempts that have not ended.
  private var coming: [TaskID: [TaskValue]] = [:]
  private var faults: [TaskID: String] = [:]
  /// The sources may be retried meanwhile.
  fileprivate var read: [TaskID: UInt64] = [:]
  fileprivate var undecided: [TaskID] = []
  fileprivate var isDeciding = false

  let arguments: TaskArguments?

  init(left: [TaskID: ValueSet], arguments: TaskArguments?) {
    self.left = left
    self.arguments = arguments
  }

  subscript(task: TaskID) -> [TaskValue] { left[task]?.values ?? [] }

  /// The attempt whose values are valid.
  func attempt(of task: TaskID) -> Int32? { left[task]?.attempt }

  mutating func keep(_ values: [TaskValue], of task: TaskID) {
    left[task] = values.isEmpty ? nil : ValueSet(attempt: ValueFolder.ofRecord, values)
  }

  mutating func note(_ value: TaskValue, of task: TaskID) {
    if coming[task, default: []].count < ValueRules.mostValues {
      coming[task, default: []].append(value)
    }
  }

  mutating func note(fault: String, of task: TaskID) { faults[task] = fault }

  @inline(__always)
  mutating func end(
    _ task: TaskID, attempt: Int32, isSuccess: Bool
  ) -> (values: [TaskValue], fault: String?) {
    if coming.isEmpty, faults.isEmpty, left.isEmpty { return ([], nil) }
    let fault = faults.removeValue(forKey: task)
    let values = coming.removeValue(forKey: task) ?? []
    guard isSuccess else { return ([], fault) }
    left[task] = values.isEmpty ? nil : ValueSet(attempt: attempt, values)
    return (values, fault)
  }

  mutating func forget(_ task: TaskID) {
    if !coming.isEmpty { coming[task] = nil }
    if !faults.isEmpty { faults[task] = nil }
  }
}

extension Scheduler {
  mutating func noteRead(by task: TaskID) {
    if let digest = valuesRead(by: task) { values.read[task] = digest }
  }

  mutating func takeRead(by task: TaskID) -> UInt64? {
    values.read.isEmpty ? nil : values.read.removeValue(forKey: task)
  }

  /// Sends values as journaled for successful attempts.
  mutating func tellValues(of task: TaskID, to worker: WorkerID) {
    guard plan.flags(task).contains(.readsValues) else { return }
    let names = plan.valueNames(readBy: task)
    for need in plan.valueSources(of: task) {
      let hasValues = hasValues(need)
      let attempt = values.attempt(of: need) ?? attempt[need.index]
      send(.values(need, attempt: hasValues ? attempt : nil), to: worker)
      guard hasValues else { continue }
      for value in values[need] where names?.contains(value.name) ?? true {
        send(.value(need, name: value.name, hash: value.hash), to: worker)
      }
    }
  }

  /// False for values of an earlier session if this one skips the task.
  private func hasValues(_ task: TaskID) -> Bool { graph.state(task).holdsValues }

  private func valuesLeft(by task: TaskID) -> [TaskValue]? { hasValues(task) ? values[task] : nil }

  func valuesRead(by task: TaskID) -> UInt64? {
    let arguments = values.arguments.flatMap { $0.task == task ? $0.words : nil }
    guard plan.flags(task).contains(.readsValues) || arguments != nil else { return nil }
    return plan.valueDigest(of: task, arguments: arguments ?? []) { valuesLeft(by: $0) ?? [] }
  }

  mutating func awaitDecision(of task: TaskID) { values.undecided.append(task) }

  /// Iterative: skips may add a million tasks.
  mutating func decide() {
    if values.isDeciding || values.undecided.isEmpty { return }
    values.isDeciding = true
    var next = 0
    while next < values.undecided.count {
      decide(values.undecided[next])
      next += 1
    }
    values.undecided.removeAll()
    values.isDeciding = false
  }

  private mutating func decide(_ task: TaskID) {
    // A service may have failed meanwhile.
    guard graph.state(task) == .ready else { return }
    guard let condition = plan.lateCondition(task), options.knowsValues else { return offer(task) }
    switch plan.verdict(of: task, condition, values: { valuesLeft(by: $0) }) {
    case .holds: offer(task)
    case .fails: settle(task, as: .skipped, Transition(.skip(.condition), task))
    case .undecided(let why):
      var transition = Transition(.failure, task, reason: .value)
      transition.detail = why
      transition.allowed = plan.flags(task).contains(.allowAnyFailure)
      if transition.allowed {
        transition.fingerprint = plan.fingerprint(task)
        transition.with = valuesRead(by: task)
      }
      graph.set(task, .waiting)
      settle(task, as: transition.allowed ? .failedAllowed : .failed, transition)
    }
  }
}
