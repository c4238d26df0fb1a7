package import OpflowJournal
package import OpflowPlan
package import OpflowReports

/// A run for tests of reports: a journal with names, and the logs of tasks.
package struct ReportFixture {
  package let plan: Plan
  private var encoder = JournalEncoder()
  /// The lines before those of `encoder`.
  private var earlier: [UInt8] = []
  private var now: Int64 = 1_767_323_045_000
  package var logs: [String: [UInt8]] = [:]
  /// The time between two lines.
  package var stepMilliseconds: Int64 = 1000

  package init(_ plan: Plan, open: OpenEntry = .example) {
    self.plan = plan
    encoder.append(.open(open), at: now, plan: plan)
  }

  package mutating func tell(
    _ event: TransitionEvent, _ name: String, attempt: Int32 = 1,
    _ status: ExitStatus = .unknown, _ reason: EndReason? = nil, wall: Int64 = 0,
    change: (inout Transition) -> Void = { _ in }
  ) {
    var transition = Transition(event, plan.task(named: name) ?? .none, attempt: attempt)
    if transition.why == nil { transition.outcome = Outcome(status: status, reason: reason) }
    transition.outcome.usage.wallMicroseconds = wall
    change(&transition)
    now += stepMilliseconds
    encoder.append(transition, at: now, plan: plan)
  }

  /// Adds a line of the run or of a worker.
  package mutating func tell(_ entry: JournalEntry) {
    now += stepMilliseconds
    encoder.append(entry, at: now, plan: plan)
  }

  /// Adds another session that makes these tasks pending again.
  package mutating func resume(
    _ retracted: (String, RerunReason)..., reused: Int = 0, trace: TraceParent? = nil
  ) {
    var entry = ResumeEntry(planKey: "", opflowVersion: "0.1.0")
    entry.retracted = retracted.count
    entry.reused = reused
    entry.trace = trace
    tell(.resume(entry))
    for (name, reason) in retracted { tell(.resume(reason), name, attempt: 0) }
  }

  package mutating func close(_ state: RunState, exit: Int32, signal: Int32 = 0) {
    encoder.append(
      .close(CloseEntry(state: state, exitCode: exit, signal: signal)), at: now, plan: plan)
  }

  /// Makes further lines those of another session.
  package mutating func pretend(session: Int) {
    earlier += encoder.bytes
    encoder = JournalEncoder(nextSequence: encoder.nextSequence, session: session)
  }

  package mutating func wait(_ milliseconds: Int64) { now += milliseconds }

  package func status(isHeld: Bool = false) throws -> RunStatus {
    let history = try (earlier + encoder.bytes).withUnsafeBytes {
      try RunModel.read($0, plan: plan, keepingAttempts: true).history
    }
    return RunStatus(
      run: "r1", plan: plan, history: history, included: .all(taskCount: plan.taskCount),
      isHeld: isHeld)
  }

  /// Returns outputs like a run that reads its logs.
  package var output: OutputSource {
    let (plan, logs) = (plan, logs)
    return { task, most in
      logs[plan.nameString(task)].map {
        ReportedOutput(
          bytes: $0.suffix(most), totalBytes: Int64($0.count),
          path: "logs/\(plan.nameString(task)).log")
      }
    }
  }

  /// Text that does harm if it is interpreted.
  package static let hostile: [UInt8] =
    Array(
      "\u{1b}[31mred\u{1b}[0m \u{1b}]8;;x\u{7}link ]]> </script> &amp; <failure> \"\u{202e}abc".utf8
    )
    + [0, 8, 0xFF, 0xC3, 0x28, 0xEF, 0xBF, 0xBE, 0xEF, 0xBF, 0xBF, 10]
    + Array("::error file=a::x\n ##[add-mask]y\n::stop-commands::z\n".utf8)
}
