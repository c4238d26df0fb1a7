internal import OpflowBase
internal import OpflowJournal
package import OpflowPlan

struct ClosingSummary {
  let heading: ProgressHeading
  let model: SessionModel
  let failures: FailureList
  let namesLogs: Bool
  let toldLines: Int
  /// A failure that has scrolled out of this screen is repeated in full.
  let size: TerminalSize
  /// Little but failures was printed, so none is repeated in full.
  let toldFailuresOnly: Bool

  private static let maxNames = 10

  func write(_ close: CloseEntry, atMilliseconds now: Int64, into text: inout TextBuffer) {
    if !failures.first.isEmpty { text.endLine() }
    for failure in failures.first {
      let block = FailureBlock(heading: heading)
      if let told = failure.toldLines, toldFailuresOnly || toldLines - told < size.rows {
        block.writeLine(failure, model, columns: size.columns, into: &text)
      } else {
        block.write(failure, model, into: &text)
      }
    }
    if model.counts.failed > failures.first.count {
      text.add("… and \(CountText.moreFailures(model.counts.failed - failures.first.count))\n")
    }
    names("interrupted", model.interrupted, count: model.interrupted.count, into: &text)
    names("pending", model.firstNotStarted(Self.maxNames), count: model.notStarted, into: &text)
    let unmet = model.unmet.sorted { $0.index < $1.index }
    names("skipped (dependency failed)", unmet, count: unmet.count, into: &text)
    let (leftFailed, leftOpen) = (model.scope.leftFailed, model.scope.leftOpen)
    names("not run (failed last time)", leftFailed, count: leftFailed.count, into: &text)
    names("not run", leftOpen, count: leftOpen.count, into: &text)
    downloads(into: &text)
    let elapsed = DurationText.text(milliseconds: now - model.beganMilliseconds)
    text.add(text.palette.bold("run \(heading.run) "))
    text.add(verdict(close, text.palette))
    text.add(" in \(elapsed): \(result())\n")
    if namesLogs, model.hasOutput {
      text.add("to see the output of tasks: \(heading.logsCommand())\n")
    }
    if close.state != .succeeded {
      let wantsNodes = !["", StopEntry.clientsGone].contains(model.requests.stopReason)
      ResumeAdvice(plan: model.plan, guarded: guarded).write(
        heading.resumeCommand(), when: wantsNodes ? " when nodes are available" : "",
        isOpen: isOpen, into: &text)
    }
  }

  /// The tasks with `on_interrupted: fail` that were interrupted.
  private var guarded: [TaskID] {
    let failed = failures.first.map(\.transition).filter {
      model.plan.flags($0.task).contains(.failWhenInterrupted)
        && ($0.outcome.reason == .interrupted || $0.outcome.reason == .workerLost)
    }
    return failed.map(\.task) + failures.cutShort
  }

  /// A resume would run the task if its dependencies allow it.
  private func isOpen(_ task: TaskID) -> Bool {
    if model.scope.leftFailed.contains(task) || model.scope.leftOpen.contains(task) { return true }
    guard model.isOpen(task) else { return false }
    switch model.state(task) {
    case .failed, .cancelled, .waiting, .ready, .checking, .prefetched, .running, .suspended:
      return true
    case .succeeded, .upToDate, .failedAllowed, .skipped: return false
    }
  }

  private func downloads(into text: inout TextBuffer) {
    let totals = model.downloads
    if totals.files == 0 { return }
    var parts = ["\(totals.files) \(totals.files == 1 ? "file" : "files")"]
    if totals.fetchedBytes > 0 { parts.append("\(DownloadText.size(totals.fetchedBytes)) fetched") }
    if totals.resumedBytes > 0 { parts.append("\(DownloadText.size(totals.resumedBytes)) resumed") }
    if totals.kept > 0 { parts.append("\(totals.kept) already there") }
    text.add("downloaded: \(parts.joined(separator: ", "))\n")
  }

  private func verdict(_ close: CloseEntry, _ palette: Palette) -> String {
    // The user did not send this signal, so give the reason instead.
    if !model.requests.stopReason.isEmpty, close.state == .interrupted {
      let isClient = model.requests.stopReason == StopEntry.clientsGone
      let why = isClient ? "its client has ended" : "no node was left"
      return palette.yellow("interrupted") + " (\(why))"
    }
    let signal =
      close.exitCode == 74
      ? " by an I/O error" : SignalName.text(close.signal).map { " by SIG\($0)" } ?? ""
    switch close.state {
    case .succeeded: return palette.green("succeeded")
    case .failed: return palette.red("failed")
    case .cancelled: return palette.yellow("cancelled") + signal
    case .interrupted, .running: return palette.yellow("interrupted") + signal
    }
  }

  /// Joined by hand: an array and `joined` would create types on first use, which delays every run.
  private func result() -> String {
    let counts = model.counts
    var text = ""
    func add(_ count: Int, _ detail: String) {
      if count > 0 { text += "\(text.isEmpty ? "" : ", ")\(count) \(detail)" }
    }
    add(
      counts.succeeded,
      model.restored.isEmpty
        ? "succeeded" : "succeeded (\(model.restored.count) from the cache)")
    add(counts.upToDate, "up to date")
    add(counts.failed, "failed")
    add(counts.failedAllowed, "failed (allowed)")
    add(counts.skipped, "skipped")
    add(counts.cancelled, "cancelled")
    add(model.interrupted.count, "interrupted")
    add(model.notStarted, "pending")
    add(model.reused, "already done")
    return text.isEmpty ? "nothing to do" : text
  }

  private func names(_ label: String, _ tasks: [TaskID], count: Int, into text: inout TextBuffer) {
    if count == 0 { return }
    let shown = tasks.prefix(Self.maxNames).map { model.name($0) }.joined(separator: ", ")
    let more = count > Self.maxNames ? " … and \(count - Self.maxNames) more" : ""
    text.add("\(label): \(shown)\(more)\n")
  }
}

struct FailureBlock {
  let heading: ProgressHeading

  /// `build failed after 0.30s: exit 2, log: PATH`, on two lines if wider than `columns`.
  func writeLine(
    _ failure: FailureRecord, _ model: SessionModel, columns: Int, into text: inout TextBuffer
  ) {
    writeTitle(failure, model, into: &text)
    if failure.hasLog {
      let task = failure.transition.task
      let whole =
        Self.words(failure, model).joined() + ", log: "
        + CleanText.string(heading.logPath(task, model.plan))
      if TextWidth.of(whole) <= columns {
        text.add(", ")
      } else {
        text.endLine()
        text.add("  ")
      }
      heading.writeLog(task, plan: model.plan, into: &text)
    }
    text.endLine()
  }

  private func writeTitle(
    _ failure: FailureRecord, _ model: SessionModel, into text: inout TextBuffer
  ) {
    let words = Self.words(failure, model)
    text.add(text.palette.red(words[0]))
    text.addSentence(words[1])
  }

  private static func words(_ failure: FailureRecord, _ model: SessionModel) -> [String] {
    let place =
      failure.transition.attempt > 0
      ? MachineText.place(of: failure.transition.task, model) : ""
    return [
      "\(model.name(failure.transition.task)) failed",
      place + OutcomeText.failure(failure.transition),
    ]
  }

  func write(_ failure: FailureRecord, _ model: SessionModel, into text: inout TextBuffer) {
    let transition = failure.transition
    writeTitle(failure, model, into: &text)
    text.endLine()
    heading.writeSource(of: transition, plan: model.plan, into: &text)
    text.addOutput(lines: failure.tail, after: text.palette.dim("  | "))
    text.addLeft(transition)
    if transition.outcome.reason == .interrupted {
      let name = QuotedWords.quoted(model.name(transition.task))
      text.add("  it stays failed (on_interrupted: fail); to run it again:\n")
      text.add("  \(heading.resumeCommand()) --rerun \(name)\n")
    }
    if failure.hasLog {
      text.add("  ")
      heading.writeLog(transition.task, plan: model.plan, into: &text)
      text.endLine()
    }
  }
}

extension FailureRecord {
  fileprivate var hasLog: Bool { transition.outcome.usage.outputBytes > 0 || !tail.isEmpty }
}

/// The commands that continue a run.
struct ResumeAdvice {
  let plan: Plan
  /// Interrupted tasks with `on_interrupted: fail`. A resume fails them, or leaves them failed,
  /// unless `--rerun` names them.
  let guarded: [TaskID]

  private static let mostNames = 10

  /// `isOpen` tells whether a resume would run a task if its dependencies allow it.
  func write(
    _ command: String, when: String = "", isOpen: (TaskID) -> Bool, into text: inout TextBuffer
  ) {
    if guarded.isEmpty || runsMore(isOpen) { text.add("to continue\(when): \(command)\n") }
    if guarded.isEmpty { return }
    let names = guarded.map { plan.nameString($0) }
    let list = NameList.text(names, limit: Self.mostNames) { $0 }
    text.addCleaned("to continue\(when) and run \(list) again (on_interrupted: fail): ")
    text.add(command)
    for name in names { text.addCleaned(" --rerun \(QuotedWords.quoted(name))") }
    text.endLine()
  }

  /// Returns true if a resume without `--rerun` would run a task.
  private func runsMore(_ isOpen: (TaskID) -> Bool) -> Bool {
    var blocked = TaskSet(taskCount: plan.taskCount)
    for task in guarded { blocked.insert(task) }
    for index in plan.topologicalOrder {
      let task = TaskID(index)
      if blocked.contains(task) || !isOpen(task) { continue }
      let isBlocked = plan.needs(task).contains { edge in
        !plan.needCondition(edge).isMetByFailure
          && blocked.contains(TaskID(plan.needTargets[edge]))
      }
      if !isBlocked { return true }
      blocked.insert(task)
    }
    return false
  }
}

/// The first failures of a session that are not allowed.
struct FailureList {
  private(set) var first: [FailureRecord] = []
  /// Tasks with `on_interrupted: fail` that a stop interrupted.
  private(set) var cutShort: [TaskID] = []

  static let maxDetailed = 20

  /// An earlier crash interrupted these tasks.
  init(stillFailed: TaskSet, plan: Plan) {
    if stillFailed.isEmpty { return }
    for index in plan.tasks where stillFailed.contains(TaskID(index)) {
      add(
        FailureRecord(
          transition: Transition(.failure, TaskID(index), reason: .interrupted), tail: []))
    }
  }

  /// The tasks in `state` when a view joins late, in the order of their ends.
  static func joined(_ history: RunModel, _ model: SessionModel, _ state: TaskState) -> [Transition]
  {
    let failed = model.plan.tasks.lazy.map { TaskID($0) }.filter { model.state($0) == state }
    return failed.sorted { history[$0].settleSequence < history[$1].settleSequence }.map { task in
      let record = history[task]
      var outcome = record.outcome
      outcome.usage.wallMicroseconds = record.wallMicroseconds
      var transition = Transition(.failure, task, attempt: record.attempts)
      transition.outcome = outcome
      if let complaint = history.details.complaints[task] { transition.detail = complaint }
      return transition
    }
  }

  /// Notes the end of an attempt in case that a resume must not repeat it.
  mutating func noteEnd(_ transition: Transition, _ plan: Plan) {
    switch transition.event {
    // The task never began.
    case .interrupt where transition.outcome.reason == .revoked: break
    case .cancel, .interrupt: noteCutShort(transition.task, plan)
    case .start, .failure: cutShort.removeAll { $0 == transition.task }
    case .success, .retry, .skip, .pause, .proceed, .resume, .fresh, .ready, .stopping: break
    }
  }

  mutating func noteCutShort(_ task: TaskID, _ plan: Plan) {
    guard !task.isNone, plan.flags(task).contains(.failWhenInterrupted), !cutShort.contains(task)
    else { return }
    cutShort.append(task)
  }

  mutating func remove(_ tasks: [TaskID]) {
    first.removeAll { tasks.contains($0.transition.task) }
    cutShort.removeAll { tasks.contains($0) }
  }

  mutating func add(_ failure: FailureRecord) {
    if first.count < Self.maxDetailed { first.append(failure) }
  }
}

struct FailureRecord {
  var transition: Transition
  /// The last lines of output, each with its newline.
  var tail: [UInt8]
  /// The number of lines up to this failure, inclusive; nil if it was not printed.
  var toldLines: Int?
}

/// The last lines of a service, which often explain a dependent's failure.
package struct ServiceTail {
  let service: TaskID
  let bytes: [UInt8]

  private static let mostLines = 10
  package static let mostBytes = 8192

  package init(service: TaskID, bytes: [UInt8]) {
    self.service = service
    self.bytes = bytes
  }

  func write(_ model: SessionModel, into text: inout TextBuffer) -> Bool {
    let lines = LastLines.of(bytes, count: Self.mostLines)
    if lines.isEmpty { return false }
    let title = "  last lines of \(model.name(service)), a service that it needs:"
    text.addSentence(text.palette.dim(title))
    text.endLine()
    text.addOutput(lines: lines, after: text.palette.dim("  \(model.name(service)) | "))
    return true
  }

  func writePointer(_ path: String, _ model: SessionModel, into text: inout TextBuffer) {
    text.addSentence(
      text.palette.dim("  log of \(model.name(service)), a service that it needs: \(path)"))
    text.endLine()
  }
}
