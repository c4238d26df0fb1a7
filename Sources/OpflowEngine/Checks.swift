internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

/// A checker is a worker that runs no tasks and has many questions at once.
struct Checks {
  private struct Checker {
    let worker: WorkerID
    /// Includes abandoned questions.
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
  /// Kept until the tasks start.
  private var reasons: [TaskID: String] = [:]
  private let asked: TaskSet?

  init(asked: TaskSet?) { self.asked = asked }

  /// So many questions keep a worker busy until the next ones arrive.
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
    /// The values reported before the answer.
    case awaited([TaskValue])
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

  /// The value precedes the answer. Returns true if the worker has the question.
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

extension Scheduler {
  @inline(__always)
  func wantsCheck(_ task: TaskID) -> Bool {
    plan.hasChecks && plan.isChecked(task) && !graph.has(.checked, task)
  }

  mutating func giveChecks() {
    while checks.wantsWorker(alive: workforce.count(of: .check)),
      workforce.mayLaunch(.check, at: .local)
    {
      steps.append(.launch(workforce.launch(.check, at: .local, now: now), .check, .local))
    }
    while let (task, worker, serial) = checks.nextQuestion() {
      graph.set(task, .checking)
      var check = TaskCheck(
        task: task, serial: serial, with: valuesRead(by: task), needs: 0,
        isAsked: checks.isAsked(task) || isToSteer(task), after: changeCount)
      check.keeps = failureKept(by: task)
      addNeeds(to: &check)
      send(.check(check), to: worker)
    }
  }

  private func failureKept(by task: TaskID) -> UInt64? {
    guard graph.has(.mayKeep, task), let earlier = graph.result(of: task),
      earlier.state == .failedAllowed
    else { return nil }
    return earlier.origin
  }

  /// Makes workers discard findings about commands and dependencies.
  mutating func noteChange() { changeCount = changeCount == .max ? 0 : changeCount + 1 }

  /// The task is checked again before a further attempt.
  mutating func noteStart(of task: TaskID, in transition: inout Transition) {
    guard plan.isChecked(task) else { return }
    graph.unmark(task, .checked)
    origins[task] = nil
    if let reason = checks.takeReason(of: task) { transition.detail = reason }
  }

  mutating func retractCheck(of task: TaskID) {
    if graph.state(task) == .checking {
      checks.abandon(task)
      graph.set(task, .ready)
    } else {
      checks.remove(task)
    }
    graph.mark(task, .held)
  }

  mutating func retractChecks() {
    let (waiting, open) = checks.removeAll()
    for task in open { graph.set(task, .ready) }
    for task in waiting + open { offer(task) }
  }

  mutating func checked(_ worker: WorkerID, _ task: TaskID, _ serial: Int32, _ result: CheckResult)
  {
    guard mayAnswer(worker, task) else { return }
    let values: [TaskValue]
    switch checks.answer(worker, task, serial) {
    case .awaited(let told): values = told
    case .past: return
    case .unasked: return discard(worker, unasked: task)
    }
    switch result {
    case .fresh(let origin): keep(task, origin, values)
    case .stale where isToSteer(task) && !checks.isAsked(task): findStale(task, TaskCheck.steering)
    case .stale(let why): findStale(task, why)
    case .unfit(let detail): fail(task, .input, detail: detail)
    case .unwritten(let detail):
      fail(task, .output, detail: detail)
      stop(.ioError)
    }
  }

  mutating func keptValue(_ worker: WorkerID, _ task: TaskID, _ serial: Int32, _ value: TaskValue) {
    guard mayAnswer(worker, task) else { return }
    if !checks.note(value, worker, task, serial) { discard(worker, unasked: task) }
  }

  /// True if a controlling task must still run in this run: what it did to another run is missing
  /// here.
  private func isToSteer(_ task: TaskID) -> Bool {
    plan.flags(task).contains(.control) && graph.result(of: task)?.state.isSuccess != true
  }

  private mutating func mayAnswer(_ worker: WorkerID, _ task: TaskID) -> Bool {
    guard workforce.isAlive(worker), !workforce.workers[worker.index].isDiscarded,
      plan.tasks.contains(task.index)
    else { return false }
    hear(worker)
    return true
  }

  private mutating func discard(_ worker: WorkerID, unasked task: TaskID) {
    discard(
      worker,
      complaint: "it reported a check of task number \(task.rawValue) that opflow did not request")
  }

  private mutating func findStale(_ task: TaskID, _ why: String) {
    // The reason is reported once.
    if graph.has(.mayKeep, task) {
      takeBack(task, .inputs, detail: why)
    } else if !why.isEmpty {
      checks.note(why, of: task)
    }
    graph.mark(task, .checked)
    graph.set(task, .ready)
    offer(task)
  }

  /// - Parameter left: The values that other tasks may read.
  private mutating func keep(_ task: TaskID, _ origin: UInt64, _ left: [TaskValue]) {
    // The check let the task keep a failure that was taken back before the answer: check again.
    if !graph.has(.mayKeep, task), let earlier = graph.result(of: task), earlier.origin == origin,
      earlier.state == .failedAllowed
    {
      graph.set(task, .ready)
      return offer(task)
    }
    var transition = Transition(.fresh, task)
    transition.origin = origin
    transition.fingerprint = plan.fingerprint(task)
    transition.with = valuesRead(by: task)
    var next = TaskState.upToDate
    // A task skipped since still has that origin, but another result.
    if graph.has(.mayKeep, task), let earlier = graph.result(of: task), earlier.origin == origin,
      earlier.state != .skipped
    {
      next = earlier.state
      transition.kept = earlier.state
      graph.mark(task, .kept)
    }
    if next.holdsValues, plan.flags(task).contains(.leavesValues) {
      values.keep(left, of: task)
      transition.values = left
    }
    graph.unmark(task, .mayKeep)
    origins[task] = origin
    settle(task, as: next, transition)
  }

  private mutating func fail(_ task: TaskID, _ reason: EndReason, detail: String) {
    var transition = Transition(.failure, task, reason: reason)
    transition.detail = detail
    transition.allowed = plan.allowsFailure(task, .unknown, reason)
    if transition.allowed {
      transition.fingerprint = plan.fingerprint(task)
      transition.with = valuesRead(by: task)
    }
    settle(task, as: transition.allowed ? .failedAllowed : .failed, transition)
  }

  /// Asks other checkers, unless a task has lost too many workers.
  mutating func loseChecks(of worker: WorkerID, complaint: String) {
    for task in checks.leave(worker) {
      lostCount[task.index] += 1
      if lostCount[task.index] > SchedulerOptions.maxLost {
        fail(task, .workerLost, detail: complaint)
      } else {
        graph.set(task, .ready)
        offer(task)
      }
    }
  }

  mutating func failUncheckable() -> Bool {
    guard checks.hasPending, workforce.count(of: .check) == 0,
      let complaint = workforce.complaint(of: .check)
    else { return false }
    let (waiting, _) = checks.removeAll()
    var hasFailed = false
    for task in waiting {
      guard mayStart(task) else {
        offer(task)
        continue
      }
      graph.set(task, .checking)
      fail(task, .workerLost, detail: complaint)
      hasFailed = true
    }
    return hasFailed
  }

  // MARK: - Successes

  mutating func noteSuccess(of task: TaskID, in transition: inout Transition) {
    let origin = recorded.removeValue(forKey: task) ?? numbers.next()
    origins[task] = origin
    transition.origin = origin
  }

  mutating func takeDiscarded(_ task: TaskID) -> String? {
    discarded.isEmpty ? nil : discarded.removeValue(forKey: task)
  }

  // MARK: - Results of earlier sessions

  @inline(__always)
  mutating func takeBack(_ task: TaskID, _ reason: RerunReason, detail: String = "") {
    guard graph.has(.mayKeep, task) else { return }
    graph.unmark(task, .mayKeep)
    var transition = Transition(.resume(reason), task)
    transition.isLate = true
    transition.detail = detail
    tell(transition)
  }

  mutating func noteKept(_ task: TaskID) {
    var transition = Transition(.fresh, task)
    transition.kept = graph.state(task)
    transition.fingerprint = plan.fingerprint(task)
    tell(transition)
  }

  /// Uses the origin of failures and of successes without declared outputs, else the state; for a
  /// task skipped by request, its last success.
  private func addNeeds(to check: inout TaskCheck) {
    for edge in plan.needs(check.task) {
      let need = TaskID(plan.needTargets[edge])
      // Neither has a result. Matrix tasks read the generator's output themselves.
      if isService(need) || plan.makesInstances(need) { continue }
      var state = graph.state(need)
      let declaresOutputs = plan.declaresOutputs(need)
      if state == .skipped, !graph.has(.skippedUpstream, need) {
        if declaresOutputs {
          state = .succeeded
        } else if plan.isChecked(need), check.skipped.count < TaskCheck.mostSkipped {
          check.skipped.append(need)
          continue
        }
      }
      let isTold = state == .failed || state.isSuccess && !declaresOutputs
      check.needs &+= TaskCheck.part(of: need, as: state, isTold ? origin(of: need) : 0, in: plan)
    }
  }

  private func origin(of task: TaskID) -> UInt64 {
    // Missing in journals of an older opflow, and for ends before the plan had `inputs`. The
    // substitute must differ between runs.
    origins[task] ?? ResumeState.origin(ofTry: attempt[task.index], inRun: run)
  }
}
