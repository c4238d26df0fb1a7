internal import OpflowBase
package import OpflowPlan
package import OpflowWire

extension RunModel {
  /// Processes that opflow could not end, of tasks that have not started again: each the entry of
  /// its worker with the pid and start time of the process.
  package var processesLeft: [WorkerEntry] { leftAlive.values.flatMap { $0 } }

  @inline(__always)
  mutating func noteLeft(
    _ event: TransitionKind, _ line: JournalLine, _ fields: TryFields, by worker: WorkerID
  ) {
    if fields.pids.isEmpty, event != .start || leftAlive.isEmpty { return }
    guard let worker = workers.last(where: { $0.worker == worker }), event != .start else {
      leftAlive[Array(line.task)] = nil
      return
    }
    leftAlive[Array(line.task)] = LeftBehind.processes(Field.text(fields.pids) ?? "").map { mark in
      var process = worker
      process.pid = mark.pid
      process.startTime = mark.startTime
      if process.host.isEmpty, let place = sites.place(of: worker.site, drive: drives) {
        process.host = sites.all[place].offer.host
      }
      return process
    }
  }

  /// Replays a whole journal.
  ///
  /// - Parameters:
  ///   - absolutePlan: the plan with fingerprints of older versions (`FingerprintStyle`).
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

  /// Only lines about the run.
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
