internal import OpflowPlan

struct Phase: Equatable {
  /// None comes back.
  enum Step: Int { case begin, main, finally, done }

  private(set) var step = Step.begin
  private(set) var stopCause: StopCause?
  /// Running tasks must end at once.
  private(set) var isKilled = false
  /// `max_failures` is reached: only exempt tasks start.
  private(set) var isHalted = false
  /// By a request; running tasks go on.
  var isPaused = false
  /// Running tasks are suspended too.
  private(set) var isSuspended = false

  mutating func advance(to next: Step) {
    precondition(next.rawValue > step.rawValue, "a drive went from \(step) to \(next)")
    step = next
  }

  /// - Returns: whether running tasks are stopped; `finally` tasks go on.
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

  /// Not even `finally` tasks start.
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

  /// Whether a stop of the run explains an end that opflow did not order: a signal to the process
  /// tree reaches tasks too. Programs that clean up exit with 128 plus the signal (sh(1)).
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
