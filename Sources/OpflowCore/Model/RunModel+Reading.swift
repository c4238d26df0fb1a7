extension RunModel {
  /// Replays a whole journal; for the parameters see `JournalFollower`.
  package static func read(
    _ bytes: UnsafeRawBufferPointer, plan: Plan, keepingDetails: Bool = false,
    keepingAttempts: Bool = false, absolutePlan: Plan? = nil, beforeFilling: BeforeFilling? = nil
  ) throws(JournalError) -> (history: RunModel, recovery: JournalRecovery) {
    var follower = JournalFollower(
      plan: plan, keepingDetails: keepingDetails, keepingAttempts: keepingAttempts,
      absolutePlan: absolutePlan, beforeFilling: beforeFilling)
    let recovery = try follower.read(toEnd: bytes)
    return (follower.model, recovery)
  }

  /// Replays only the lines about the run, without a plan.
  package static func readRun(
    _ bytes: UnsafeRawBufferPointer
  ) throws(JournalError) -> RunModel {
    var reader = try JournalReader(bytes)
    var history = RunModel()
    while let line = reader.next() {
      switch line.event {
      case .transition: history.enter(drive: TransitionFields(line).drive, at: line.sequence)
      case .open, .resume, .close, .worker, .stop, .site, .extend, .withdraw:
        history.applyToRun(line)
      case .order: history.enter(drive: line.drive, at: line.sequence)
      case .unknown: break
      }
    }
    return history
  }
}
