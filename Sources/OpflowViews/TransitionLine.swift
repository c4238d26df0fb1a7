internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowWire

extension TextBuffer {
  /// `[ 3/12] `: finished tasks of all.
  mutating func addCounter(_ model: SessionModel) {
    let total = "\(model.total)"
    let finished = "\(model.finished)"
    let padding = String(repeating: " ", count: max(0, total.utf8.count - finished.utf8.count))
    add(palette.dim("[\(padding)\(finished)/\(total)]"))
    add(" ")
  }

  mutating func addLine(_ model: SessionModel, _ clean: String) {
    addCounter(model)
    addSentence(clean)
    endLine()
  }

  /// `[ 3/12] build succeeded in 2.1s`.
  mutating func add(_ transition: Transition, _ model: SessionModel) {
    if let sentence = TransitionLine(palette: palette).sentence(transition, model) {
      addLine(model, sentence)
    }
  }

  mutating func addAction(_ transition: Transition, _ model: SessionModel) {
    guard transition.event == .start, model.plan.kind(transition.task) != .approve else { return }
    addSentence(palette.dim("  \(ActionText.text(transition.task, plan: model.plan))"))
    endLine()
  }

  mutating func addAnswer(
    _ transition: Transition, _ model: SessionModel, _ heading: ProgressHeading
  ) {
    guard transition.event == .start, model.plan.kind(transition.task) == .approve else { return }
    add("  ")
    addCleaned(ApprovalText.howToAnswer(transition.task, plan: model.plan, heading.controlCommand))
    endLine()
  }

  /// `  ended 1 leftover process: sleep`, below the end of an attempt.
  mutating func addLeft(_ transition: Transition) {
    guard let left = transition.left else { return }
    let noun = left.count == 1 ? "process" : "processes"
    add(
      palette.yellow(
        left.areAlive
          ? "  could not end \(left.count) leftover \(noun), which may still run: "
          : "  ended \(left.count) leftover \(noun): "))
    addCleaned(left.names)
    endLine()
  }

  /// `[ 3/12] fetch: 54.0MiB of 200.0MiB (27%), 11.2MiB/s, 13s left`.
  mutating func addDownload(
    _ task: TaskID, _ progress: DownloadProgress, _ model: SessionModel,
    atMilliseconds now: Int64, tellsResume: Bool
  ) {
    let running = DownloadText.running(progress, atMilliseconds: now, tellsResume: tellsResume)
    addLine(model, "\(model.name(task)): \(running)")
  }

  /// `[ 3/12] fetch: 54.0MiB of 200.0MiB (27%), continues after a stall of 12s`.
  mutating func addRecovery(
    _ task: TaskID, _ progress: DownloadProgress, _ model: SessionModel, stalledMilliseconds: Int64
  ) {
    let silence = DurationText.text(wholeSeconds: stalledMilliseconds / 1000)
    let done = DownloadText.done(progress)
    addLine(model, "\(model.name(task)): \(done), continues after a stall of \(silence)")
  }

  /// `[ 3/12] run paused by opflow pause (pid 123)`, for a run that is paused or suspended.
  mutating func addHold(_ model: SessionModel) {
    let why =
      model.isStopped
      ? "suspended by a signal" : model.requests.pausedBy.map { "paused by \($0.requester.text)" }
    guard let why else { return }
    addLine(model, palette.yellow("run ") + CleanText.string(why))
  }

  mutating func addLimit(
    _ transition: Transition, _ model: SessionModel, _ heading: ProgressHeading
  ) {
    let (failed, running) = (model.counts.failed, model.running.count)
    guard transition.event == .failure, !transition.allowed, failed == heading.maxFailures,
      running > 0, model.notStarted > 0
    else { return }
    let stop = palette.yellow("\(failed) failed: no further task starts")
    addLine(model, "\(stop); \(running) still \(running == 1 ? "runs" : "run")")
  }
}

struct TransitionLine {
  let palette: Palette

  func sentence(_ transition: Transition, _ model: SessionModel) -> String? {
    let (plan, task, outcome) = (model.plan, transition.task, transition.outcome)
    let name = task.isNone ? "run" : model.name(task)
    let time = DurationText.text(microseconds: outcome.usage.wallMicroseconds)
    let reason = ReasonText.text(transition.why, plan: plan) { model.state($0) }
    let detail = transition.detail.isEmpty ? nil : CleanText.string(transition.detail)
    let isApproval = !task.isNone && plan.kind(task) == .approve
    switch transition.event {
    case .start where isApproval:
      return palette.yellow("\(name) \(ApprovalText.asks(task, plan: plan))")
    case .start:
      return palette.cyan("\(name) started") + MachineText.place(of: task, model)
        + attempt(transition) + (detail.map { palette.dim(": \($0)") } ?? "")
    case .ready where model.hasStayed(task): return "\(name) keeps running"
    case .ready:
      let ports = ServicePorts(text: transition.detail)
      return palette.green("\(name) is ready") + (ports.map { " (\($0.words))" } ?? "")
    // The end of the service is reported, usually at once.
    case .stopping: return nil
    case .success where plan.hasEmptyMatrix(task):
      return palette.dim("\(name) skipped: \(Plan.emptyMatrixText)")
    case .success where isApproval: return palette.green("\(name) approved") + " after \(time)"
    case .success where plan.isService(task): return "\(name) stopped after \(time)"
    case .success where transition.isRestored:
      return palette.green("\(name) restored") + " from the cache in \(time)"
        + discarded(transition, model)
    case .success:
      return palette.green("\(name) succeeded") + " in \(time)" + attempt(transition)
        + download(transition, model) + discarded(transition, model)
    case .failure:
      let verb =
        transition.allowed
        ? palette.yellow("\(name) failed (allowed)") : palette.red("\(name) failed")
      return verb + place(transition, model) + OutcomeText.failure(transition)
    case .retry where plan.isService(task):
      return palette.yellow("\(name) failed") + OutcomeText.failure(transition) + "; restarting"
    case .retry:
      let delay = DurationText.text(milliseconds: transition.delayMilliseconds)
      return palette.yellow("\(name) failed") + place(transition, model)
        + OutcomeText.failure(transition)
        + "; attempt \(transition.attempt + 1) in \(delay)"
    case .skip: return palette.dim("\(name) skipped: \(reason)")
    case .cancel: return palette.yellow("\(name) cancelled") + " after \(time)"
    case .interrupt:
      switch outcome.reason {
      case .stopped(.unneeded):
        let why = detail.map { "\($0) is re-run" } ?? "no task needs it now"
        return "\(name) stopped after \(time): \(why)"
      case .revoked: return isApproval ? palette.yellow("\(name) no longer asks for approval") : nil
      case .workerLost where model.machines.isToldWithMachine(task): return nil
      case .workerLost, .stopped(.serviceLost):
        return palette.yellow("\(name) interrupted")
          + ": \(OutcomeText.text(outcome, detail: transition.detail))"
      case .interrupted, .timeout, .refused, .output, .fetch, .fetchFinal, .value, .input,
        .noOutput, .memory, .rejected, .unready, .ended, .stopped, nil:
        return palette.yellow("\(name) interrupted")
          + (reason.isEmpty || reason == "interrupted" ? "" : ": \(reason)")
      }
    case .pause: return palette.yellow("\(name) suspended")
    case .proceed: return "\(name) continued"
    case .resume(.interrupted) where plan.flags(task).contains(.failWhenInterrupted):
      return "\(name) was interrupted"
    case .resume(.new): return "\(name) is new in the manifest"
    case .resume(.inputs): return "\(name): re-run (\(detail ?? reason))"
    // A request discards a result that was kept so far.
    case .resume(.asked) where transition.isLate: return "\(name): earlier result discarded"
    case .resume: return "\(name): re-run (\(reason))"
    case .fresh:
      return palette.dim("\(name) is \(transition.kept == nil ? "" : "still ")up to date")
    }
  }

  private func place(_ transition: Transition, _ model: SessionModel) -> String {
    transition.attempt > 0 ? MachineText.place(of: transition.task, model) : ""
  }

  /// The success is discarded: the task is not up to date by it.
  static func isDiscarded(_ transition: Transition, _ model: SessionModel) -> Bool {
    transition.event == .success && !transition.detail.isEmpty
      && model.plan.kind(transition.task) != .download
  }

  private func discarded(_ transition: Transition, _ model: SessionModel) -> String {
    guard Self.isDiscarded(transition, model) else { return "" }
    return ", " + palette.yellow(CleanText.string(transition.detail))
  }

  private func download(_ transition: Transition, _ model: SessionModel) -> String {
    guard let report = transition.fetch?.report else { return "" }
    let wall = transition.outcome.usage.wallMicroseconds
    let source = model.plan.download(transition.task).sources.first ?? ""
    let url = DownloadText.otherURL(report, firstSource: source).map { ", from \($0)" } ?? ""
    return ": " + DownloadText.finished(report, wallMicroseconds: wall) + url
  }

  private func attempt(_ transition: Transition) -> String {
    transition.attempt > 1 ? " (attempt \(transition.attempt))" : ""
  }
}

/// The first tasks by name, then the number of others.
struct RerunLines {
  private var count = 0

  private static let maxLines = 20

  mutating func add(
    _ transition: Transition, _ model: SessionModel, into text: inout TextBuffer
  ) {
    count += 1
    if count <= Self.maxLines { text.add(transition, model) }
  }

  mutating func end(into text: inout TextBuffer) {
    if count > Self.maxLines { text.add("… and \(count - Self.maxLines) more are re-run\n") }
    count = 0
  }
}
