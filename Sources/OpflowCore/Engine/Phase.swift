/// Where a drive is on its way to its end, and what may still start on it.
struct Phase {
  /// In their order; none is gone back to.
  enum Step: Int { case begin, main, finally, done }

  private(set) var step = Step.begin
  /// Why nothing new starts any more; nil while that is not so.
  private(set) var stopCause: StopCause?
  /// What runs is to end at once.
  private(set) var isKilled = false
  /// `max_failures` is reached: only what is exempt from it starts.
  private(set) var isHalted = false
  /// Nothing new starts, by an order; what runs runs on.
  var isPaused = false
  /// Nothing starts, and what runs stands still.
  private(set) var isSuspended = false

  mutating func advance(to next: Step) {
    precondition(next.rawValue > step.rawValue, "a drive went from \(step) to \(next)")
    step = next
  }

  /// - Returns: whether that stops what goes on. While `finally` tasks run they go on: they are what a
  ///   stop is to lead to.
  mutating func stop(_ cause: StopCause) -> Bool {
    // An I/O error outranks a request to stop: the run cannot keep its promises any more.
    if cause == .ioError {
      if stopCause == .ioError { return false }
    } else if stopCause != nil {
      return false
    }
    stopCause = cause
    // Who wants the run to end wants no `finally` task to wait for somebody who lets it go on.
    isPaused = false
    return step != .finally || cause == .ioError
  }

  mutating func kill() {
    isKilled = true
    if stopCause == nil { stopCause = .request }
  }

  mutating func halt() { isHalted = true }

  /// There are fewer failures than `max_failures` again.
  mutating func endHalt() { isHalted = false }

  /// - Returns: whether it was not suspended before.
  mutating func suspend() -> Bool {
    if isSuspended { return false }
    isSuspended = true
    return true
  }

  /// - Returns: whether it was suspended before.
  mutating func proceed() -> Bool {
    if !isSuspended { return false }
    isSuspended = false
    return true
  }

  /// Nothing at all starts any more.
  var isShut: Bool { isKilled || stopCause == .ioError }

  /// Whether a task may start at all.
  func mayStart(isFinally: Bool, isExempt: Bool) -> Bool {
    if isShut { return false }
    switch step {
    case .begin, .main: return stopCause == nil && (!isHalted || isExempt)
    case .finally: return isFinally
    case .done: return false
    }
  }

  /// Whether the run goes its ordinary way, in which the next task follows from what is ready alone.
  var isOrdinary: Bool { step == .main && stopCause == nil && !isHalted && !isKilled }

  /// Whether `finally` tasks may follow when nothing else is left.
  var leadsToFinally: Bool { step == .main && !isKilled && stopCause != .ioError }

  /// Why and how a task that runs is stopped now.
  var stopReason: StopReason {
    if isKilled { return .kill }
    switch stopCause {
    case .request: return .cancel
    case .ioError: return .ioError
    case .signal, nil: return .signal
    }
  }

  /// Whether an end that nobody ordered is the work of who stops the run: who stops a whole process tree stops the workers
  /// and their tasks too. Programs that tidy up at a signal tell of it by their exit code (sh(1): 128 and the signal's
  /// number). What runs after the rest is there because of the stop.
  func isStopped(_ end: Outcome) -> Bool {
    switch (end.reason, stopCause) {
    case (.interrupted, let cause): cause != nil
    case (nil, .signal(let signal)):
      step.rawValue < Step.finally.rawValue
        && (end.status == .signal(signal) || end.status == .exit(128 + signal))
    default: false
    }
  }

  /// What is wrong with it; nil when nothing is.
  func checkInvariants() -> String? {
    if isKilled, stopCause == nil { return "a drive is killed and not stopped" }
    if step == .done, isSuspended { return "a drive ended while it was suspended" }
    return nil
  }
}
