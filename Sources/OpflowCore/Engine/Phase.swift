/// The phase of a session, and what may start in it.
struct Phase: Equatable {
  /// The phases in order; none comes back.
  enum Step: Int { case begin, main, finally, done }

  private(set) var step = Step.begin
  /// The reason why nothing new starts.
  private(set) var stopCause: StopCause?
  /// Whether running tasks must end at once.
  private(set) var isKilled = false
  /// Whether `max_failures` is reached: only exempt tasks start.
  private(set) var isHalted = false
  /// Whether a request has paused starts; running tasks go on.
  var isPaused = false
  /// Whether nothing starts and running tasks are suspended.
  private(set) var isSuspended = false

  mutating func advance(to next: Step) {
    precondition(next.rawValue > step.rawValue, "a drive went from \(step) to \(next)")
    step = next
  }

  /// - Returns: whether running tasks are stopped; `finally` tasks go on.
  mutating func stop(_ cause: StopCause) -> Bool {
    // The run can no longer keep its promises: this outranks a request.
    if cause == .ioError {
      if stopCause == .ioError { return false }
    } else if stopCause != nil {
      return false
    }
    stopCause = cause
    // A stopped run must not keep its `finally` tasks waiting for the end of a pause.
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

  /// Whether nothing starts any more, `finally` tasks included.
  var isShut: Bool { isKilled || stopCause == .ioError }

  func mayStart(isFinally: Bool, isExempt: Bool) -> Bool {
    if isShut { return false }
    switch step {
    case .begin, .main: return stopCause == nil && (!isHalted || isExempt)
    case .finally: return isFinally
    case .done: return false
    }
  }

  /// Whether only readiness decides what starts next.
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

  /// Whether an end that opflow did not order is due to a stop of the run: a signal to the process
  /// tree reaches workers and tasks too. Programs that clean up exit with 128 plus the signal
  /// (sh(1)).
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
    if isKilled, stopCause == nil { return "a drive is killed and not stopped" }
    if step == .done, isSuspended { return "a drive ended while it was suspended" }
    return nil
  }
}
