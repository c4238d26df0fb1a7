internal import OpflowBase
package import OpflowJournal
package import OpflowPlan
internal import OpflowWire

package enum SessionEvent {
  /// A journal line, with the plan that has its added tasks or the new names of retracted ones, and
  /// the states of added tasks.
  case entry(JournalEntry, Plan, added: [InitialState] = [])
  case began(TaskID, attempt: Int32)
  case download(TaskID, DownloadProgress)
  /// opflow could not record the request; its requester got an error.
  case requestFailed(RequestEntry)
  /// A nil message ends the wait, which the number identifies. News get a line unless a frame shows
  /// them.
  case wait(Int, for: String?, isNews: Bool)
  case waitEnded(Int, String)
  case warning(String)
  case note(String)
  /// Lines that a program printed.
  case passage(String)
}

/// The parts of logs that a view needs before it shows a transition.
package struct WantedOutput {
  /// The number of last bytes of the ending attempt.
  package var tailBytes = 0
  package var log = false
  /// Services whose last `ServiceTail.mostBytes` bytes may explain a failure.
  package var services: [TaskID] = []

  package init() {}
}

package struct FoundOutput {
  package var tail: [UInt8] = []
  package var log: Range<Int64>?
  package var services: [ServiceTail] = []

  package init() {}
}

/// Turns transitions and output of a session into bytes for standard error and standard output.
/// Pure: the caller takes bytes when a reader is ready. The queue is bounded, and only the newest
/// frame is drawn. Order of calls: `begin`, or `join` for a session that already runs; then `show`,
/// `output` and `tick`; then `end`.
package struct ProgressView: ~Copyable {
  package private(set) var followsOutput: Bool
  package var tickMilliseconds: Int64? {
    if live != nil { return LiveView.frameMilliseconds }
    return !lines.tellsFailuresOnly && !model.running.isEmpty
      ? StillRunning.tickMilliseconds : nil
  }

  package var isLive: Bool { live != nil }

  private let heading: ProgressHeading
  private var model: SessionModel
  private var failures: FailureList
  private var warnings = WarningList()
  private var outputs = TaskOutputs()
  /// Services whose last lines were shown since their last start; later failures only name the log.
  private var shownServices: Set<TaskID> = []
  private var logText: [UInt8] = []
  private var logLines = TaskOutputs()
  private var lines: ProgressLines
  /// nil unless the view draws frames.
  package var live: LiveView?
  private var hasEnded = false
  private let options: ProgressOptions
  private let annotates: Bool
  private var size: TerminalSize { didSet { live?.size = size } }
  /// Later attempts without output so far.
  private var laterTries: [TaskID: Int32] = [:]
  private var errors = Backlog(outputLimit: 4 << 20, eventLimit: 4 << 20)
  private var objects = Backlog(outputLimit: 0, eventLimit: 16 << 20)
  private var nowMilliseconds: Int64 = 0

  package static let failureLines = 20
  static let failureBytes = 16_384
  private static let groupBytes = 1_048_576

  package init(options: ProgressOptions, plan: Plan, heading: ProgressHeading) {
    self.heading = heading
    model = SessionModel(plan: plan, scope: heading.scope, requests: heading.requests)
    failures = FailureList(stillFailed: heading.scope.stillFailed, plan: plan)
    self.options = options
    size = options.size
    annotates = options.annotates || options.mode == .gitHub
    followsOutput = options.mode == .line
    lines = ProgressLines(options.mode, options, heading)
    if options.mode == .live { live = LiveView(options: options, heading: heading) }
  }

  // MARK: Events

  package mutating func begin(atMilliseconds now: Int64) {
    nowMilliseconds = now
    model.begin(atMilliseconds: now)
    live?.begin(atMilliseconds: now)
    lines.begin(model)
    settle()
    if options.json { objects.add(ProgressJSON.open(heading, model, atMilliseconds: now), .event) }
  }

  /// Prints only failures and the running tasks of a running session. `tail` returns the last bytes
  /// of a task's log.
  package mutating func join(
    _ history: RunModel, atMilliseconds now: Int64, tail: (TaskID, _ count: Int) -> [UInt8]
  ) {
    nowMilliseconds = now
    model = SessionModel(plan: model.plan, scope: model.scope, joining: history)
    live?.begin(atMilliseconds: 0)
    live?.pass(toMilliseconds: now)
    if followsOutput {
      for task in model.running.map(\.task) where history[task].attempts > 1 {
        laterTries[task] = history[task].attempts
      }
    }
    if annotates { warnings.join(history, model) }
    lines.begin(model)
    settle()
    let failed = FailureList.joined(history, model, .failed).filter {
      !model.scope.stillFailed.contains($0.task)
    }
    for failure in failed.prefix(FailureList.maxDetailed) {
      var kept = kept(tail(failure.task, tailBytes(for: failure)), of: failure)
      if failure.attempt > 1 {
        kept = AttemptHeader.dropped(before: kept, attempt: failure.attempt)
      }
      tell(failure, kept: kept)
    }
    if model.counts.cancelled > 0 || !model.interrupted.isEmpty {
      for task in model.plan.tasks.lazy.map({ TaskID($0) }) where model.isOpen(task) {
        let state = model.state(task)
        if state == .cancelled || state == .waiting, history[task].isInterrupted {
          failures.noteCutShort(task, model.plan)
        }
      }
    }
    if model.plan.hasApprovals {
      for approval in model.running.map(\.task) where model.plan.kind(approval) == .approve {
        tell(Transition(.start, approval, attempt: 1), kept: [])
      }
    }
    lines.join(model, atMilliseconds: now)
    settle()
  }

  package mutating func show(
    _ event: SessionEvent, _ found: FoundOutput = FoundOutput(), atMilliseconds now: Int64
  ) {
    nowMilliseconds = now
    let known = model.plan
    guard apply(event, found) else { return }
    live?.pass(toMilliseconds: now)
    if options.json, let line = ProgressJSON.line(event, model, known, atMilliseconds: now) {
      objects.add(line, .event)
    }
  }

  /// Returns true if the run's state changes for users.
  private mutating func apply(_ event: SessionEvent, _ found: FoundOutput) -> Bool {
    switch event {
    case .entry(let entry, let plan, let added): return apply(entry, plan, added, found)
    case .began(let task, let attempt):
      return apply(Transition(.start, task, attempt: attempt), found)
    case .download(let task, let progress):
      guard let running = model.note(task, progress) else { return false }
      lines.download(running, progress, model, atMilliseconds: nowMilliseconds)
      settle()
      return true
    case .wait(let place, let detail, let isNews):
      guard model.machines.wait(place, for: detail) else { return false }
      if isNews, let detail { tellWait(detail) }
      return true
    case .waitEnded(let place, let came):
      tellWait(came)
      return model.machines.wait(place, for: nil)
    case .requestFailed(let request):
      let lost = RequestText.text(request, plan: model.plan)
      warn("opflow could not record this request and discards it: \(lost)")
    case .warning(let detail): warn(detail)
    case .note(let detail): addLine(detail)
    case .passage(let passage): addPassage(passage)
    }
    return false
  }

  private mutating func apply(
    _ entry: JournalEntry, _ plan: Plan, _ added: [InitialState], _ found: FoundOutput
  ) -> Bool {
    switch entry {
    case .transition(let transition): return apply(transition, found)
    case .request(let request):
      model.apply(request, atMilliseconds: nowMilliseconds)
      live?.noteRequest()
      if request.verb.row.effect == .retries {
        failures.remove(request.tasks)
        warnings.remove(request.tasks)
      }
      tellRequest(RequestText.text(request, plan: model.plan))
    case .stop(let stop):
      model.apply(stop)
      if !stop.detail.isEmpty { warn("stopping the run: \(stop.detail)") }
    case .node(let node):
      let before = model.machines[node.node]?.state
      model.machines.apply(node)
      if let change = MachineText.change(node, from: before, model) {
        tell(lines.text.palette.yellow(change))
      }
    case .extend(let extend):
      if !added.isEmpty {
        model.grow(to: plan, added)
        live?.grow()
      }
      model.apply(extend)
      tellRequest(RequestText.text(extend))
    case .retract(let retract):
      model.retract(plan.tasks(renamedSince: model.plan), plan)
      tellRequest(RequestText.text(retract, plan: plan))
    case .worker(let worker):
      model.machines.apply(worker)
      return false
    case .open, .resume, .close: return false
    }
    return true
  }

  private mutating func apply(_ transition: Transition, _ found: FoundOutput) -> Bool {
    if transition.event == .skip(.retracted) { return false }
    let task = transition.task
    let comesBack = transition.event == .interrupt && model.isPrefetched(task)
    let old = live == nil || task.isNone ? nil : model.state(task)
    model.apply(transition, atMilliseconds: nowMilliseconds)
    if let old { live?.move(transition, from: old, model) }
    // Users do not see that a task is prefetched, or taken back before it began.
    if transition.isPrefetched || comesBack { return false }
    if transition.event == .start, transition.attempt > 1, followsOutput {
      laterTries[task] = transition.attempt
    }
    if transition.endsTry {
      laterTries[task] = nil
      endLine(of: task)
    }
    tell(transition, kept: kept(found.tail, of: transition), found)
    return true
  }

  private mutating func tell(
    _ transition: Transition, kept: [UInt8], _ found: FoundOutput = FoundOutput()
  ) {
    lines.text.log = found.log.map { bytes in
      LogRange(
        task: transition.task, attempt: transition.attempt, bytes: bytes,
        path: heading.logPath(transition.task, model.plan))
    }
    lines.transition(transition, kept: kept, model)
    if transition.event == .start { shownServices.remove(transition.task) }
    for tail in found.services {
      if !shownServices.insert(tail.service).inserted {
        tail.writePointer(heading.logPath(tail.service, model.plan), model, into: &lines.text)
      } else if !tail.write(model, into: &lines.text) {
        shownServices.remove(tail.service)
      }
    }
    settle()
    if annotates { warnings.note(transition, tail: kept) }
    failures.noteEnd(transition, model.plan)
    if transition.event == .failure, !transition.allowed {
      failures.add(
        FailureRecord(
          transition: transition, tail: LastLines.of(kept, count: Self.failureLines),
          toldLines: errors.lineCount))
    }
  }

  private mutating func tellWait(_ detail: String) {
    if live == nil, !lines.isQuiet { tell(CleanText.string(detail)) }
  }

  private mutating func tell(_ clean: String) {
    lines.text.addLine(model, clean)
    settle()
  }

  private mutating func tellRequest(_ detail: String) {
    if lines.isQuiet { return }
    lines.text.addSentence(lines.text.palette.yellow(CleanText.string(detail)))
    lines.text.endLine()
    settle()
  }

  private mutating func warn(_ detail: String) {
    lines.text.add(lines.text.palette.yellow("warning: "))
    addLine(detail)
  }

  private mutating func addLine(_ detail: String) {
    lines.text.addCleaned(detail)
    lines.text.endLine()
    settle()
  }

  private mutating func addPassage(_ passage: String) {
    lines.text.addOutput(lines: Array(passage.utf8))
    settle()
  }

  package mutating func tick(nowMilliseconds now: Int64) {
    nowMilliseconds = now
    live?.pass(toMilliseconds: now)
    lines.tick(model, toldLines: errors.lineCount, atMilliseconds: now)
    settle()
  }

  package mutating func end(_ close: CloseEntry, atMilliseconds now: Int64) {
    hasEnded = true
    nowMilliseconds = now
    if annotates {
      WorkflowAnnotations(
        heading: heading, model: model, failures: failures.first, warnings: warnings
      ).write(into: &lines.text)
    }
    ClosingSummary(
      heading: heading, model: model, failures: failures, namesLogs: live != nil,
      toldLines: errors.lineCount, size: size, toldFailuresOnly: lines.tellsFailuresOnly
    ).write(close, atMilliseconds: now, into: &lines.text)
    settle(.closing)
    if options.json {
      objects.add(ProgressJSON.close(close, heading, atMilliseconds: now), .closing)
    }
  }

  // MARK: Output

  /// If 0, the caller must not pass output.
  package var outputRoom: Int { errors.outputRoom }

  /// `bytes` are in order, cut anywhere.
  package mutating func output(_ task: TaskID, _ bytes: UnsafeRawBufferPointer) {
    var bytes = bytes
    if !laterTries.isEmpty, let attempt = laterTries.removeValue(forKey: task) {
      bytes = AttemptHeader.dropped(from: bytes, attempt: attempt)
    }
    outputs.append(task, bytes) { line, _ in lines.outputLine(task, line, model) }
    settle(.output)
  }

  /// Output was dropped for a slow reader; `lines` is nil if unknown.
  package mutating func skipped(_ task: TaskID, bytes: Int64, lines: Int?) {
    laterTries[task] = nil
    endLine(of: task)
    self.lines.skipped(task, bytes: bytes, lines: lines, model)
    settle()
  }

  private mutating func endLine(of task: TaskID) {
    outputs.flush(task) { line, _ in lines.outputLine(task, line, model) }
    settle(.output)
  }

  package func wanted(with transition: Transition) -> WantedOutput {
    var wanted = WantedOutput()
    guard transition.endsTry else { return wanted }
    wanted.tailBytes = tailBytes(for: transition)
    wanted.log = lines.showsLogs && transition.outcome.usage.outputBytes > 0
    // If output is followed, services' lines are already shown. A failed service shows its own last
    // lines.
    if !followsOutput, transition.event == .failure, !transition.allowed, model.plan.hasServices {
      wanted.services = model.plan.services(neededBy: transition.task).filter {
        model.state($0) != .failed
      }
    }
    return wanted
  }

  private func tailBytes(for transition: Transition) -> Int {
    guard transition.endsTry else { return 0 }
    let fails = transition.event == .failure && (!transition.allowed || annotates)
    let least = fails ? Self.failureBytes : 0
    return lines.showsTails ? max(least, min(Self.groupBytes, outputRoom)) : least
  }

  /// Drops the header of a later attempt, and bytes beyond the view's limit.
  private func kept(_ tail: [UInt8], of transition: Transition) -> [UInt8] {
    let own =
      transition.attempt > 1
      ? AttemptHeader.dropped(atBeginningOf: tail, attempt: transition.attempt) : tail
    let limit = tailBytes(for: transition)
    return own.count > limit ? Array(own.suffix(limit)) : own
  }

  /// The part of a log to read now; nil if other text comes first.
  package var wantedLog: LogRange? { logText.isEmpty ? errors.wanted : nil }

  /// nil if unreadable.
  package mutating func readLog(_ bytes: UnsafeRawBufferPointer?) {
    guard let wanted = wantedLog else { return }
    let bytes = bytes ?? UnsafeRawBufferPointer(start: nil, count: 0)
    let end = bytes.isEmpty ? wanted.bytes.upperBound : wanted.bytes.lowerBound + Int64(bytes.count)
    let own =
      wanted.isNew && wanted.attempt > 1
      ? AttemptHeader.dropped(from: bytes, attempt: wanted.attempt) : bytes
    var count = 0
    func add(_ line: UnsafeRawBufferPointer, _: Bool) {
      lines.text.addOutput(line)
      lines.text.endLine()
      count += 1
    }
    // A copy, since `add` changes the view.
    var splitter = logLines
    logLines = TaskOutputs()
    splitter.append(wanted.task, own, add)
    if end >= wanted.bytes.upperBound { splitter.flush(wanted.task, add) }
    logLines = splitter
    logText = lines.text.take()
    errors.advance(to: end, lines: count)
  }

  // MARK: The terminal

  package mutating func resize(_ size: TerminalSize) { self.size = size }

  /// Erases the frame and returns the rest to print; the next frame starts from scratch.
  package mutating func takeErasure() -> [UInt8] {
    let lasting = takeErrors()
    return live?.erase(lasting: lasting) ?? lasting
  }

  package mutating func showLines() {
    live = nil
    followsOutput = true
    lines = ProgressLines(.line, options, heading)
  }

  // MARK: Bytes

  package var hasStandardError: Bool {
    if !hasEnded, live?.holdsLines ?? false { return false }
    return !logText.isEmpty || !errors.isEmpty || live?.hasFrame ?? false
  }
  package var hasStandardOutput: Bool { !objects.isEmpty }

  package mutating func takeStandardError() -> [UInt8] {
    if live == nil || hasEnded { return takeErasure() }
    let isHeld = live?.holdsLines ?? false
    let lasting = isHeld ? [] : takeErrors()
    return live?.take(lasting: lasting, model) ?? []
  }

  package mutating func takeStandardOutput() -> [UInt8] {
    let now = nowMilliseconds
    return objects.take { lines, _ in ProgressJSON.missing(lines, atMilliseconds: now) }
  }

  package mutating func leaveOutOutput() {
    errors.leaveOutOutput()
    logLines = TaskOutputs()
  }

  private mutating func takeErrors() -> [UInt8] {
    if !logText.isEmpty {
      defer { logText = [] }
      return logText
    }
    let palette = lines.text.palette
    return errors.take { lines, isOutput in
      let detail = lines == 1 ? "line" : "lines"
      let hint = isOutput ? "; the log has them" : ""
      return Array(
        (palette.dim("… \(CountText.grouped(lines)) \(detail) not shown\(hint)") + "\n").utf8)
    }
  }

  private mutating func settle(_ kind: Backlog.Kind = .event) {
    if lines.text.isEmpty {
      lines.text.log = nil
      return
    }
    if let log = lines.text.log, let place = lines.text.logPlace {
      let bytes = lines.text.take()
      errors.add(Array(bytes[..<place]), kind)
      errors.add(log)
      return errors.add(Array(bytes[place...]), kind)
    }
    guard let output = lines.text.output else { return errors.add(lines.text.take(), kind) }
    let bytes = lines.text.take()
    errors.add(Array(bytes[..<output.lowerBound]), kind)
    errors.add(Array(bytes[output]), .output)
    errors.add(Array(bytes[output.upperBound...]), kind)
  }

  // MARK: Keys

  package mutating func type(_ typed: [UInt8]) -> [LiveKeys.Action] {
    live?.type(typed, model) ?? []
  }

  package func wantedTails(atMilliseconds now: Int64) -> (tasks: [TaskID], bytes: Int) {
    live?.wantedTails(model, atMilliseconds: now) ?? ([], 0)
  }
}

extension Plan {
  func tasks(renamedSince known: Plan) -> [TaskID] {
    known.tasks.map { TaskID($0) }.filter { !known.nameBytes($0).equals(nameBytes($0)) }
  }
}
