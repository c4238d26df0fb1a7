extension RunModel {
  /// Reads and folds a whole journal.
  ///
  /// - Parameters:
  ///   - absolutePlan: the plan with fingerprints as an older opflow made them
  ///     (`FingerprintStyle`); needed where tasks are to be judged by the lines of one.
  ///   - beforeFilling: called with the memory of the model's records.
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

  /// Reads what a journal says of the run as a whole, which needs no plan; its tasks stay unknown.
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
