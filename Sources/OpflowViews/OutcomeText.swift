internal import OpflowBase
package import OpflowJournal
package import OpflowPlan

/// Describes the end of an attempt, in the same words for every view.
package enum OutcomeText {
  /// `exit 2`, `signal 9 (KILL)`, `timeout`, `could not start: …`.
  package static func text(_ outcome: Outcome, detail: String = "") -> String {
    let said = detail.isEmpty ? nil : CleanText.string(detail)
    switch outcome.reason {
    case .timeout: return "timeout"
    // The messages of workers and of the downloader contain the error's name.
    case .refused:
      return "could not start" + (said.map { ": \($0)" } ?? errorText(outcome))
    case .output:
      return said ?? "opflow cannot write its output\(errorText(outcome))"
    case .fetch, .fetchFinal:
      return said ?? "download failed\(errorText(outcome))"
    case .input: return said ?? "an input is missing"
    case .noOutput: return said ?? "exited 0 but did not create an output"
    case .value: return said ?? "a value is missing or not valid"
    case .workerLost:
      // The worker's first line before it was lost is the most useful.
      let line = detail.split(separator: "\n").first.map { CleanText.string(String($0)) } ?? ""
      return "its worker was lost" + (line.isEmpty ? "" : ": \(line)")
    case .memory: return said ?? "exceeded its `memory_limit`"
    case .rejected: return "rejected" + (said.map { " by \($0)" } ?? "")
    case .unready:
      let hint = outcome.status == .success ? "; a service must stay in the foreground" : ""
      return said ?? "ended before it was ready: \(outcome.status.text)\(hint)"
    case .ended: return "ended unexpectedly: \(outcome.status.text)"
    case .stopped(.unneeded): return "no longer needed"
    case .stopped(.serviceLost): return said.map { "lost service \($0)" } ?? "lost a service"
    case .stopped(.timeOver): return "its node reached its time limit"
    case .interrupted: return "interrupted"
    case .stopped(.cancel): return "cancelled"
    case .stopped(.signal): return "stopped by a signal"
    case .stopped(.kill): return "killed"
    case .stopped(.ioError): return "opflow could not write a file of the run"
    // An external task may have thrown an error.
    case nil:
      let thrown = outcome.status == .success ? nil : said
      return outcome.status.text + (thrown.map { ": \($0)" } ?? "")
    case .revoked: return outcome.status.text
    }
  }

  /// Continues `ID failed`: ` after 0.30s (attempt 2): exit 2`. First attempts are not numbered.
  static func failure(_ transition: Transition) -> String {
    let wall = transition.outcome.usage.wallMicroseconds
    let time = wall == 0 ? "" : " after \(DurationText.text(microseconds: wall))"
    let attempt = transition.attempt > 1 ? " (attempt \(transition.attempt))" : ""
    return "\(time)\(attempt): \(text(transition.outcome, detail: transition.detail))"
  }

  private static func errorText(_ outcome: Outcome) -> String {
    outcome.errorNumber == 0 ? "" : ": \(ErrorName.text(outcome.errorNumber))"
  }
}

/// Phrases that fit `ID: re-run (REASON)` and `ID skipped: REASON`.
package enum ReasonText {
  /// `state` returns the state of a dependency, for skips.
  package static func text(
    _ why: Why?, plan: Plan, state: (TaskID) -> TaskState? = { _ in nil }
  ) -> String {
    let culprit = why?.culprit ?? .none
    let name = culprit.isNone ? nil : plan.nameString(culprit)
    switch why {
    case nil: return ""
    case .ended(let reason): return ended(reason)
    case .skipped(.condition): return "its `if` is false"
    case .skipped(.emptyMatrix): return "empty matrix"
    case .skipped(.skipOption): return "by --skip"
    case .skipped(.request): return "by opflow skip"
    case .skipped(.unused): return "no task needed it"
    case .skipped(.retracted): return "its generator is re-run"
    case .skipped(.upstream):
      return name.map { upstream($0, state(culprit)) } ?? "a dependency failed or was skipped"
    case .rerun(let reason): return rerun(reason, name)
    }
  }

  private static func upstream(_ name: String, _ state: TaskState?) -> String {
    switch state {
    case .failed: "\(name) failed"
    case .failedAllowed: "\(name) failed, but `allow_failure` allows it"
    case .skipped: "\(name) was skipped"
    case .cancelled: "\(name) was cancelled"
    // The task depends on a failure.
    case .succeeded, .upToDate: "\(name) did not fail"
    case .waiting, .ready, .checking, .prefetched, .running, .suspended, nil:
      "dependency \(name) is not met"
    }
  }

  private static func rerun(_ reason: RerunReason, _ culprit: String?) -> String {
    switch reason {
    case .interrupted: "interrupted"
    case .changed(nil): "its definition changed"
    case .changed(.values?): "values that it reads changed"
    case .changed(let part?): "its `\(part.word)` changed"
    case .afterRerun: "\(culprit ?? "a dependency") is re-run"
    case .failedBefore: "failed last time"
    case .skippedBefore: "skipped last time"
    case .cancelledBefore: "cancelled last time"
    case .outputMissing: "an output is missing"
    case .inputs: "its inputs changed"
    case .unproven: "a damaged line of the journal may be about it"
    case .asked: "--rerun"
    case .service: "services start when needed"
    case .new: "new in the manifest"
    }
  }

  private static func ended(_ reason: EndReason) -> String {
    switch reason {
    case .timeout: "timeout"
    case .refused: "could not start"
    case .output: "opflow cannot write its output"
    case .fetch, .fetchFinal: "download failed"
    case .workerLost: "its worker was lost"
    case .interrupted: "interrupted"
    case .revoked: "returned to the queue"
    case .value: "a value is missing or not valid"
    case .input: "an input is missing"
    case .noOutput: "an output is missing"
    case .memory: "exceeded its `memory_limit`"
    case .rejected: "rejected"
    case .unready: "did not become ready"
    case .ended: "ended unexpectedly"
    case .stopped(.cancel): "cancelled"
    case .stopped(.signal): "stopped by a signal"
    case .stopped(.kill): "killed"
    case .stopped(.ioError): "opflow could not write a file of the run"
    case .stopped(.unneeded): "no longer needed"
    case .stopped(.serviceLost): "lost a service"
    case .stopped(.timeOver): "its node reached its time limit"
    }
  }
}

extension RunStatus {
  /// `stopped by SIGTERM`
  package var stopWords: String {
    guard let close = history.close else { return "interrupted: its opflow process died" }
    if close.exitCode == 74 { return "stopped by an I/O error" }
    if let record = history.requests.stoppedBy { return "cancelled\(record.requester.by)" }
    let reason = history.requests.stopReason
    if !reason.isEmpty { return "stopped: \(CleanText.string(reason))" }
    return close.signal == 0 ? "stopped" : "stopped by \(SignalName.spelled(close.signal))"
  }

  /// The journal's word for the reason, with its subject. Programs read it.
  func reasonWord(_ task: TaskID) -> String? {
    let why = why(task)
    switch why {
    case nil: return nil
    case .rerun(.changed(let part)): return part.map { "changed: \($0.word)" } ?? "changed"
    case .rerun(.afterRerun(let need)):
      return need.isNone ? "after a rerun" : "after rerun of \(plan.nameString(need))"
    case .ended, .skipped, .rerun: return why?.word.description
    }
  }

  package func outcome(of task: TaskID) -> String {
    let record = history[task]
    return OutcomeText.text(record.outcome, detail: history.details.complaints[task] ?? "")
  }

  /// `attempt 2 of 6 failed: exit 1`
  package func triesFailed(_ task: TaskID) -> String {
    let most = Int(plan.policy(task).retryMax) + 1
    return "attempt \(history[task].attempts) of \(most) failed: \(outcome(of: task))"
  }

  func words(_ record: TaskRecord) -> String {
    switch record.why {
    case .ended(.revoked): ""
    // By --rerun or `opflow retry`.
    case .rerun(.asked): "re-run requested"
    case let why: reasonText(why)
    }
  }

  package func reasonText(_ why: Why?) -> String {
    ReasonText.text(why, plan: plan) { state($0) }
  }
}

extension FailedTry {
  package var text: String { OutcomeText.text(outcome, detail: detail) }
}

extension Requester {
  /// `opflow cancel (pid 12)`
  var words: String { CleanText.string(text) }
  /// ` by opflow cancel (pid 12)`
  var by: String { " by \(words)" }
}
