internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension Scheduler {
  var runState: RunState {
    switch phase.stopCause {
    case .signal, .ioError: .interrupted
    case .request: .cancelled
    case nil:
      failures + graph.earlierFailures > 0
        ? .failed
        : cancelled + graph.earlierCancelled > 0
          ? .cancelled : graph.leftOpen > 0 ? .interrupted : .succeeded
    }
  }

  private var closing: CloseEntry {
    switch phase.stopCause {
    case .signal(let signal): CloseEntry(state: runState, exitCode: 128 + signal, signal: signal)
    case .request: CloseEntry(state: runState, exitCode: 6)
    case .ioError: CloseEntry(state: runState, exitCode: 74)
    case nil:
      CloseEntry(
        state: runState,
        exitCode: failures + graph.earlierFailures > 0
          ? 1 : cancelled + graph.earlierCancelled > 0 ? 6 : 0)
    }
  }

  mutating func halt() {
    phase.halt()
    // An exempt task may need a retried one.
    graph.endExemption()
    exemptAll()
    retract()
  }

  mutating func exemptAll() {
    for index in plan.tasks {
      if plan.flags(TaskID(index)).contains(.finally) { exempt(TaskID(index)) }
      if graph.state(TaskID(index)) == .failed { exemptFailureEdges(of: TaskID(index)) }
    }
  }

  private mutating func retract() {
    returnSetAside()
    for rank in ready.removeAll() { offer(TaskID(ranking.task[Int(rank)])) }
    for task in blocks.removeWaiting() { offer(task) }
    if !approvals.isEmpty { retractApprovals() }
    if !checks.isEmpty { retractChecks() }
    retractTaken()
    let delayed = timers.elements
    timers.removeAll()
    for timer in delayed {
      // The turn of a `finally` task comes later.
      let mayCome = plan.flags(timer.task).contains(.finally) && phase.leadsToFinally
      if mayStart(timer.task) || mayCome {
        timers.push(timer)
      } else {
        withheld[timer.task] = timer.at
      }
    }
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      if record.state == .launching, !record.current.isNone, !mayStart(record.current) {
        giveBackAssigned(workforce.retract(worker))
      }
      takeBackAll(of: worker)
    }
  }

  /// - Parameter detail: The reason, if no signal was sent.
  mutating func stop(_ cause: StopCause, detail: String = "", letsFinallyGo: Bool = true) {
    if case .signal = cause, phase.stopCause == nil, isServing { return leaveService() }
    services.passNothingOn()
    let isFirst = phase.stopCause == nil
    let stopsRunning = phase.stop(cause)
    // Other processes then see that the run is stopping.
    if isFirst, case .signal(let signal) = cause {
      steps.append(.tell(.stop(StopEntry(signal: signal, detail: detail))))
    }
    if letsFinallyGo { letFinallyGo() }
    guard stopsRunning else { return }
    retract()
    stopRunning()
  }

  mutating func stopForClients() {
    guard phase.stopCause == nil else { return }
    stop(.signal(Self.terminate), detail: StopEntry.clientsGone)
  }

  mutating func kill() {
    services.passNothingOn()
    phase.kill()
    retract()
    stopRunning()
  }

  private mutating func stopRunning() {
    if !approvals.isEmpty { stopApprovals() }
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      guard record.state == .busy, !record.isDiscarded, !record.current.isNone else { continue }
      if record.isStopping, !phase.isKilled { continue }
      if isService(record.current), !phase.isKilled { continue }
      stopCurrent(of: worker)
    }
  }

  mutating func stopCurrent(of worker: WorkerID) {
    stopCurrent(of: worker, phase.stopReason)
  }

  mutating func stopCurrent(of worker: WorkerID, _ reason: StopReason) {
    let task = workforce.workers[worker.index].current
    if isService(task), !workforce.workers[worker.index].isStopping {
      let told = Transition(.stopping, task, attempt: attempt[task.index], reason: .stopped(reason))
      tell(told)
    }
    let grace = phase.isKilled ? 0 : Int64(plan.policy(task).stopGraceMilliseconds)
    let isExternal = workforce.workers[worker.index].kind == .block
    if isExternal { blocks.note(stop: .stopped(reason), of: worker) }
    // opflow cannot kill an external task: waiting ends with its grace.
    let slack = isExternal ? 0 : SchedulerOptions.stopSlackMilliseconds
    workforce.noteStop(of: worker, by: now.advanced(byMilliseconds: grace + slack))
    send(.stop(task, attempt: attempt[task.index], reason: reason), to: worker)
  }

  mutating func suspend() {
    guard phase.suspend() else { return }
    approvals.suspend(at: now)
    tell(Transition(.pause, .none))
    for worker in workforce.living {
      // Time in which the coordinator itself is stopped is ignored.
      workforce.watch.pause(worker, at: now)
      let record = workforce.workers[worker.index]
      let task = record.current
      guard record.state == .busy, !record.isDiscarded, !task.isNone, !record.standsStill,
        record.kind != .block
      else { continue }
      // If still `prefetched`, the report of its start is most likely on its way.
      if graph.state(task) == .running { graph.set(task, .suspended) }
      send(.suspend(task, attempt: attempt[task.index]), to: worker)
    }
  }

  mutating func proceed() {
    guard phase.proceed() else { return }
    approvals.proceed(at: now)
    tell(Transition(.proceed, .none))
    workforce.watch.listenAnew(at: now)
    for worker in workforce.living {
      let record = workforce.workers[worker.index]
      if record.isDiscarded || record.standsStill && !record.isStopping { continue }
      workforce.watch.proceed(worker, at: now)
      let task = record.current
      guard record.state == .busy, !task.isNone, record.kind != .block else { continue }
      if graph.state(task) == .suspended { graph.set(task, .running) }
      send(.proceed(task, attempt: attempt[task.index]), to: worker)
    }
  }

  mutating func advancePhase() {
    if plan.hasServices || workforce.hasComplaints || !beyondDevices.isEmpty {
      settleReady()
    }
    // No task can come that needs the services.
    if plan.hasServices, openness == .closed, isServing {
      leaveService()
      settleReady()
    }
    // The usual case after a task's end; inlined to avoid copies.
    if !plan.hasServices, workforce.heldCount > 0 { return }
    if options.usesNodes, let exhaustion {
      stop(.signal(Self.terminate), detail: exhaustion)
      settleReady()
    }
    guard mayEnd else { return }
    if plan.hasServices, leavesServices != nil { return }
    if phase.leadsToFinally, startedAny {
      phase.advance(to: .finally)
      graph.openFinally()
      followChanges()
      dispatch()
      settleReady()
      if !isAtRest || isKeptOpen { return }
    }
    phase.advance(to: .done)
    steps.append(.finish(closing))
  }

  static let terminate: Int32 = 15

  /// Services that gave way are ready again.
  private mutating func settleReady() {
    while true {
      while failUnservable() || failBeyondDevices() { dispatch() }
      guard plan.hasServices else { return }
      attendServices()
      guard failUnservable() else { return }
      dispatch()
    }
  }

  /// Only a request can end the wait: for suspended tasks, an open run, or a paused one with
  /// `finally` tasks.
  var isKeptOpen: Bool {
    if openness == .open, phase.leadsToFinally, phase.stopCause == nil { return true }
    if phase.isPaused, phase.leadsToFinally, phase.stopCause == nil, graph.hasOpenFinally {
      return true
    }
    return onHold.contains { graph.state($0) == .ready && mayStart($0) }
  }

  var mayEnd: Bool { isAtRest && timers.first == nil && !phase.isSuspended && !isKeptOpen }

  private var isAtRest: Bool {
    ready.count == 0 && machines.setAside.isEmpty && approvals.isEmpty && checks.isEmpty
      && blocks.waiting.isEmpty
      && (plan.hasServices ? allowServicesNextStep : workforce.heldCount == 0)
  }
}

struct Phase: Equatable {
  /// Steps never go back.
  enum Step: Int { case begin, main, finally, done }

  private(set) var step = Step.begin
  private(set) var stopCause: StopCause?
  private(set) var isKilled = false
  /// `max_failures` is reached: only exempt tasks start.
  private(set) var isHalted = false
  /// Running tasks continue.
  var isPaused = false
  private(set) var isSuspended = false

  mutating func advance(to next: Step) {
    precondition(next.rawValue > step.rawValue, "a session went from \(step) to \(next)")
    step = next
  }

  /// - Returns: True if running tasks are stopped; `finally` tasks continue.
  mutating func stop(_ cause: StopCause) -> Bool {
    // The run cannot keep its promises any more: this outranks a request.
    if cause == .ioError {
      if stopCause == .ioError { return false }
    } else if stopCause != nil {
      return false
    }
    stopCause = cause
    // `finally` tasks must not wait for the end of a pause.
    isPaused = false
    return step != .finally || cause == .ioError
  }

  mutating func kill() {
    isKilled = true
    if stopCause == nil { stopCause = .request }
  }

  mutating func halt() { isHalted = true }

  mutating func endHalt() { isHalted = false }

  mutating func suspend() -> Bool {
    if isSuspended { return false }
    isSuspended = true
    return true
  }

  mutating func proceed() -> Bool {
    if !isSuspended { return false }
    isSuspended = false
    return true
  }

  var isShut: Bool { isKilled || stopCause == .ioError }

  func mayStart(isFinally: Bool, isExempt: Bool) -> Bool {
    if isShut { return false }
    switch step {
    case .begin, .main: return stopCause == nil && (!isHalted || isExempt)
    case .finally: return isFinally
    case .done: return false
    }
  }

  /// Only readiness decides what starts next.
  var isOrdinary: Bool { step == .main && stopCause == nil && !isHalted && !isKilled }

  var leadsToFinally: Bool { step == .main && !isKilled && stopCause != .ioError }

  var stopReason: StopReason {
    if isKilled { return .kill }
    switch stopCause {
    case .request: return .cancel
    case .ioError: return .ioError
    case .signal, nil: return .signal
    }
  }

  /// A stop of the run may explain an end that opflow did not request: a signal to the process tree
  /// reaches tasks too. Programs that clean up exit with 128 plus the signal (sh(1)).
  func isStopped(_ end: Outcome) -> Bool {
    switch (end.reason, stopCause) {
    case (.interrupted, let cause): cause != nil
    case (nil, .signal(let signal)):
      step.rawValue < Step.finally.rawValue
        && (end.status == .signal(signal) || end.status == .exit(128 + signal))
    default: false
    }
  }

  func checkInvariants() -> String? {
    if isKilled, stopCause == nil { return "a session is killed but not stopped" }
    if step == .done, isSuspended { return "a session ended while it was suspended" }
    return nil
  }
}
