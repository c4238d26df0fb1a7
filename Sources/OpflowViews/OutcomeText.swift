internal import OpflowBase
package import OpflowJournal
package import OpflowPlan

/// Describes the end of an attempt, in the same words for every view.
package enum OutcomeText {
  /// `exit 2`, `signal 9 (KILL)`, `timeout`, `could not start: …`.
  package static func text(_ outcome: Outcome, detail: String = "") -> String {
    described(outcome, detail: detail).text
  }

  /// A long text is a sentence, which follows a failure's time.
  private static func described(
    _ outcome: Outcome, detail: String
  ) -> (text: String, isLong: Bool) {
    let said = detail.isEmpty ? nil : CleanText.string(detail)
    switch outcome.reason {
    case .timeout: return ("timeout", false)
    // The messages of workers and of the downloader contain the error's name.
    case .refused:
      return ("could not start" + (said.map { ": \($0)" } ?? errorText(outcome)), false)
    case .output:
      return (said ?? "its output could not be written\(errorText(outcome))", said != nil)
    case .fetch, .fetchFinal:
      return (said ?? "could not be downloaded\(errorText(outcome))", true)
    case .input: return (said ?? "an input is missing", true)
    case .noOutput: return (said ?? "it left an output out", true)
    case .value: return (said ?? "a value is missing or is none", true)
    case .workerLost:
      // The worker's first line before it was lost is the most useful.
      let line = detail.split(separator: "\n").first.map { CleanText.string(String($0)) } ?? ""
      return ("its worker was lost" + (line.isEmpty ? "" : ": \(line)"), true)
    case .memory: return (said ?? "it used more than its memory_limit", true)
    case .rejected: return ("rejected" + (said.map { " by \($0)" } ?? ""), false)
    case .unready:
      let hint = outcome.status == .success ? ": a service stays in the foreground" : ""
      return (said ?? "it ended before it was ready, \(outcome.status.text)\(hint)", true)
    case .ended: return ("it ended by itself, \(outcome.status.text)", true)
    case .stopped(.unneeded): return ("not needed", false)
    case .stopped(.serviceLost):
      return (said.map { "service \($0) is gone" } ?? "a service that it needs is gone", true)
    case .stopped(.timeOver): return ("the time of its machine is over", false)
    case .interrupted: return ("interrupted", false)
    case .stopped(.cancel): return ("cancelled", false)
    case .stopped(.signal): return ("stopped by a signal", false)
    case .stopped(.kill): return ("killed", false)
    case .stopped(.ioError):
      return ("stopped with the run, of which a file could not be written", false)
    // An external task may have thrown an error.
    case nil:
      let thrown = outcome.status == .success ? nil : said
      return (outcome.status.text + (thrown.map { ": \($0)" } ?? ""), false)
    case .revoked: return (outcome.status.text, false)
    }
  }

  /// Continues `ID failed`: `: exit 2 after 0.30s (try 2)`, or ` after 0.30s (try 2): …` for a long
  /// description. First attempts are not numbered.
  static func failure(_ transition: Transition) -> String {
    let wall = transition.outcome.usage.wallMicroseconds
    let time = wall == 0 ? "" : " after \(DurationText.text(microseconds: wall))"
    let attempt = transition.attempt > 1 ? " (try \(transition.attempt))" : ""
    let (text, isLong) = described(transition.outcome, detail: transition.detail)
    return isLong ? "\(time)\(attempt): \(text)" : ": \(text)\(time)\(attempt)"
  }

  private static func errorText(_ outcome: Outcome) -> String {
    outcome.errorNumber == 0 ? "" : ": \(ErrorName.text(outcome.errorNumber))"
  }
}

package enum ReasonText {
  package static func text(_ why: Why?, plan: Plan) -> String {
    let culprit = why?.culprit ?? .none
    let name = culprit.isNone ? nil : plan.nameString(culprit)
    switch why {
    case nil: return ""
    case .ended(.stopped(.unneeded)): return "not needed now"
    case .ended(.stopped(.serviceLost)): return "a service that it needs is gone"
    case .ended(.stopped(.timeOver)): return "the time of its machine is over"
    case .ended(let reason): return reason.word.description
    case .skipped(.condition): return "`if` is false"
    case .skipped(.emptyMatrix): return "empty matrix"
    case .skipped(.skipOption): return "by --skip"
    case .skipped(.request): return "by `opflow skip`"
    case .skipped(.unused): return "nothing needed it"
    case .skipped(.retracted): return "what added it was tried again"
    case .skipped(.upstream):
      return name.map { "because of \($0)" } ?? "its needs cannot be met"
    case .rerun(.service): return "as a service does where it is needed"
    case .rerun(.changed(let part)): return part.map { "changed: \($0.word)" } ?? "changed"
    case .rerun(.afterRerun): return name.map { "after rerun of \($0)" } ?? "after a rerun"
    case .rerun(let reason): return reason.word.description
    }
  }
}

extension RunStatus {
  /// `stopped by SIGTERM`
  package var stopWords: String {
    guard let close = history.close else { return "cut off: the process that drove it died" }
    if close.exitCode == 74 { return "stopped by an error of input or output" }
    if let record = history.requests.stoppedBy {
      return "stopped\(record.requester.by)"
    }
    let reason = history.requests.stopReason
    if !reason.isEmpty { return "stopped: \(CleanText.string(reason))" }
    return close.signal == 0 ? "stopped" : "stopped by \(SignalName.spelled(close.signal))"
  }

  /// The journal's word for the reason, with its subject.
  func reasonWord(_ task: TaskID) -> String? {
    let why = why(task)
    switch why {
    case nil: return nil
    case .rerun(.changed), .rerun(.afterRerun): return words(history[task])
    case .ended, .skipped, .rerun: return why?.word.description
    }
  }

  package func outcome(of task: TaskID) -> String {
    let record = history[task]
    return OutcomeText.text(record.outcome, detail: history.details.complaints[task] ?? "")
  }

  /// `try 2 of 6 failed: exit 1`
  package func triesFailed(_ task: TaskID) -> String {
    let most = Int(plan.policy(task).retryMax) + 1
    return "try \(history[task].attempts) of \(most) failed: \(outcome(of: task))"
  }

  func words(_ record: TaskRecord) -> String {
    record.why == .ended(.revoked) ? "" : ReasonText.text(record.why, plan: plan)
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
  /// `, asked by opflow cancel (pid 12)`
  var asked: String { ", asked\(by)" }
}
