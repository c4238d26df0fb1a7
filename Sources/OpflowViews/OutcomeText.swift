package import OpflowCore

/// Describes how a try ended, in the same words for every view.
package enum OutcomeText {
  /// `exit 2`, `signal 9 (KILL)`, `timeout`, `could not start: …`.
  package static func text(_ outcome: Outcome, what: String = "") -> String {
    switch outcome.reason {
    case .timeout: return "timeout"
    case .refused:
      // The worker's message contains the error's name.
      return what.isEmpty
        ? "could not start\(errnoText(outcome.errorNumber))"
        : "could not start: \(CleanText.string(what))"
    case .output:
      return what.isEmpty
        ? "its output could not be written\(errnoText(outcome.errorNumber))"
        : CleanText.string(what)
    case .fetch, .fetchFinal:
      // The downloader's message contains the error's name.
      return what.isEmpty
        ? "could not be downloaded\(errnoText(outcome.errorNumber))" : CleanText.string(what)
    case .input: return what.isEmpty ? "an input is missing" : CleanText.string(what)
    case .noOutput:
      return what.isEmpty ? "it left an output out" : CleanText.string(what)
    case .value:
      return what.isEmpty ? "a value is missing or is none" : CleanText.string(what)
    case .workerLost:
      // The first line that the worker wrote before it was lost says the most.
      let line = what.split(separator: "\n").first.map { CleanText.string(String($0)) } ?? ""
      return line.isEmpty ? "its worker was lost" : "its worker was lost: \(line)"
    case .memory:
      return what.isEmpty ? "it used more than its memory_limit" : CleanText.string(what)
    case .rejected: return what.isEmpty ? "rejected" : "rejected by \(CleanText.string(what))"
    case .unready:
      if !what.isEmpty { return CleanText.string(what) }
      let hint = outcome.status == .success ? ": a service stays in the foreground" : ""
      return "it ended before it was ready, \(outcome.status.text)\(hint)"
    case .ended: return "it ended by itself, \(outcome.status.text)"
    case .stopped(.unneeded): return "not needed"
    case .stopped(.serviceLost):
      return what.isEmpty
        ? "a service that it needs is gone" : "service \(CleanText.string(what)) is gone"
    case .stopped(.timeOver): return "the time of its machine is over"
    case .interrupted: return "interrupted"
    case .stopped(.cancel): return "cancelled"
    case .stopped(.signal): return "stopped by a signal"
    case .stopped(.kill): return "killed"
    case .stopped(.ioError):
      return "stopped with the run, of which a file could not be written"
    case nil where outcome.status != .success && !what.isEmpty:
      // The error that an external task threw.
      return "\(outcome.status.text): \(CleanText.string(what))"
    case nil, .revoked: return outcome.status.text
    }
  }

  /// Returns what follows `ID failed`: `: exit 2 after 0.30s (try 2)`, or ` after 0.30s (try 2): …`
  /// if the description is long. First tries are not numbered.
  static func failure(_ transition: Transition) -> String {
    let outcome = transition.outcome
    let wall = outcome.usage.wallMicroseconds
    let time = wall == 0 ? "" : " after \(DurationText.text(microseconds: wall))"
    let attempt = transition.attempt > 1 ? " (try \(transition.attempt))" : ""
    let text = text(outcome, what: transition.what)
    let isLong =
      outcome.reason == .fetch || outcome.reason == .fetchFinal
      || outcome.reason == .workerLost || outcome.reason == .value
      || outcome.reason == .input || outcome.reason == .noOutput
      || outcome.reason == .output && !transition.what.isEmpty
      || outcome.reason == .memory || outcome.reason == .unready || outcome.reason == .ended
      || outcome.reason == .stopped(.serviceLost)
    return isLong ? "\(time)\(attempt): \(text)" : ": \(text)\(time)\(attempt)"
  }

  private static func errnoText(_ number: Int32) -> String {
    number == 0 ? "" : ": \(ErrorName.text(number))"
  }
}

/// Explains why something happened to a task.
package enum ReasonText {
  static func text(_ transition: Transition, plan: Plan) -> String {
    text(transition.why, plan: plan)
  }

  /// Returns an empty text for nil.
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
    case .skipped(.order): return "by `opflow skip`"
    case .skipped(.unused): return "nothing needed it"
    case .skipped(.withdrawn): return "what added it was tried again"
    case .skipped(.upstream):
      return name.map { "because of \($0)" } ?? "its needs cannot be met"
    case .rerun(.service): return "as a service does where it is needed"
    case .rerun(.changed(let part)): return part.map { "changed: \($0.word)" } ?? "changed"
    case .rerun(.afterRerun): return name.map { "after rerun of \($0)" } ?? "after a rerun"
    case .rerun(let reason): return reason.word.description
    }
  }
}
