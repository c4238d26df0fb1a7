internal import OpflowBase
package import OpflowJournal
package import OpflowPlan
package import OpflowWire

/// What happens in a session, as its views show it.
package enum SessionEvent {
  case transition(Transition)
  case download(TaskID, DownloadProgress)
  case order(RequestEntry)
  /// The request could not be recorded, and its requester got an error.
  case orderFailed(RequestEntry)
  /// The plan includes the added tasks; the states are those of tasks that the view does not know.
  case extend(ExtendEntry, Plan, [InitialState])
  /// The plan has new names for the retracted tasks.
  case retract(RetractEntry, Plan)
  case stop(StopEntry)
  case node(NodeEntry)
  case worker(WorkerEntry)
  /// The run waits for nodes, or no longer if the message is nil. News get a line if no frame shows
  /// them. The number identifies the wait.
  case wait(Int, for: String?, isNews: Bool)
  case waitEnded(Int, String)
}

/// The progress of one session: turns transitions and output into bytes for standard error and
/// standard output. Pure: the caller takes bytes when a reader is ready. What is queued is bounded,
/// and only the newest frame is drawn.
///
/// Order of calls: `begin`, or `join` for a session that already runs; then `show`, `output`,
/// `warning` and `tick` as things happen; then `end`. Output that belongs to the end of a try is
/// passed before that transition.
package struct ProgressView: ~Copyable {
  package private(set) var followsOutput: Bool
  package var tickMilliseconds: Int64? {
    if live != nil { return LiveView.frameMilliseconds }
    return !renderer.tellsFailuresOnly && !model.running.isEmpty
      ? StillRunning.tickMilliseconds : nil
  }

  package var isLive: Bool { live != nil }

  let heading: ProgressHeading
  var model: SessionModel
  private var failures: FailureList
  private var warnings = WarningList()
  private var outputs = TaskOutputs()
  private var tail: [UInt8] = []
  private var serviceTails: [ServiceTail] = []
  /// Services whose last lines were shown since their last start; later failures only name the log.
  private var shownServices: Set<TaskID> = []
  private var log: LogRange?
  private var logText: [UInt8] = []
  private var logLines = TaskOutputs()
  var renderer: ProgressLines
  var live: LiveView?
  private var hasEnded = false
  private let isVerbose: Bool
  let json: Bool
  private let annotates: Bool
  let palette: Palette
  private var size: TerminalSize { didSet { live?.size = size } }
  /// Tries after the first without output so far, by task.
  private var laterTries: [TaskID: Int32] = [:]
  var text = TextBuffer()
  private var errors = Backlog(outputLimit: 4 << 20, eventLimit: 4 << 20)
  private var objects = Backlog(outputLimit: 0, eventLimit: 16 << 20)
  var nowMilliseconds: Int64 = 0

  package static let failureLines = 20
  static let failureBytes = 16_384
  private static let groupBytes = 1_048_576

  package init(options: ProgressOptions, plan: Plan, heading: ProgressHeading) {
    palette = Palette(isOn: options.color)
    self.heading = heading
    model = SessionModel(plan: plan, scope: heading.scope, orders: heading.orders)
    failures = FailureList(stillFailed: heading.scope.stillFailed, plan: plan)
    json = options.json
    size = options.size
    annotates = options.annotates || options.mode == .gitHub
    text.breaksCommands = !options.passesCommands
    followsOutput = options.mode == .line
    isVerbose = options.verbose
    let style: ProgressLines.Style =
      switch options.mode {
      case .line: .lines
      case .group, .gitHub, .gitLab: .groups(GroupFolding(options.mode, run: heading.run))
      case .quiet: .quiet
      case .live: .live
      }
    renderer = ProgressLines(style, palette: palette, heading: heading, isVerbose: options.verbose)
    if options.mode == .live { live = LiveView(options: options, heading: heading) }
  }

  // MARK: Events

  package mutating func begin(atMilliseconds now: Int64) {
    nowMilliseconds = now
    model.begin(atMilliseconds: now)
    live?.begin(atMilliseconds: now)
    renderer.begin(model, into: &text)
    settle()
    if json { objects.add(ProgressJSON.open(heading, model, atMilliseconds: now), .event) }
  }

  /// Joins a session that already runs: takes over its state without printing it. Failures are
  /// printed by `joinFailure`.
  package mutating func join(_ history: RunModel, atMilliseconds now: Int64) {
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
    renderer.begin(model, into: &text)
    settle()
  }

  package func joinedFailures(_ history: RunModel) -> [Transition] {
    let stillFailed = model.scope.stillFailed
    let own = FailureList.joined(history, model, .failed).filter { !stillFailed.contains($0.task) }
    return Array(own.prefix(FailureList.maxDetailed))
  }

  /// The end of its output must be passed before.
  package mutating func joinFailure(_ transition: Transition) {
    var kept = takeTail(transition)
    if transition.attempt > 1 {
      kept = AttemptHeader.dropped(before: kept, attempt: transition.attempt)
    }
    tell(transition, kept: kept)
  }

  package mutating func endJoin(atMilliseconds now: Int64) {
    if model.plan.hasApprovals {
      for gate in model.running.map(\.task) where model.plan.kind(gate) == .approve {
        tell(Transition(.start, gate, attempt: 1), kept: [])
      }
    }
    renderer.join(model, atMilliseconds: now, into: &text)
    settle()
  }

  package mutating func show(_ event: SessionEvent, atMilliseconds now: Int64) {
    if case .transition(let transition) = event, transition.event == .skip(.retracted) { return }
    if case .worker(let entry) = event { return model.machines.apply(entry) }
    nowMilliseconds = now
    if apply(event) { live?.pass(toMilliseconds: now) }
  }

  /// Returns whether users see a difference.
  private mutating func apply(_ event: SessionEvent) -> Bool {
    switch event {
    case .transition(let transition): return apply(transition)
    case .download(let task, let progress): return apply(task, progress)
    case .order(let order): apply(order)
    case .orderFailed(let order):
      warning("not done after all: \(RequestText.text(order, plan: model.plan))")
      return false
    case .extend(let entry, let plan, let initial): extend(entry, plan, initial)
    case .retract(let entry, let plan): retract(entry, plan)
    case .stop(let stop): apply(stop)
    case .node(let entry): apply(entry)
    case .worker: return false
    case .wait(let place, let detail, let isNews): return wait(place, for: detail, isNews: isNews)
    case .waitEnded(let place, let came):
      let wasKnown = wait(place, for: nil, isNews: false)
      if live == nil, !renderer.isQuiet { tell(CleanText.string(came)) }
      return wasKnown
    }
    return true
  }

  private mutating func apply(_ transition: Transition) -> Bool {
    let now = nowMilliseconds
    let comesBack = transition.event == .interrupt && model.isPrefetched(transition.task)
    if live == nil || transition.task.isNone {
      model.apply(transition, atMilliseconds: now)
    } else {
      let old = model.state(transition.task)
      model.apply(transition, atMilliseconds: now)
      live?.move(transition, from: old, model)
    }
    // Users do not see that a task is prefetched, or taken back before it began.
    if transition.isPrefetched || comesBack { return false }
    if json {
      objects.add(
        ProgressJSON.transition(
          transition, host: model.machines.machine(of: transition.task)?.host, plan: model.plan,
          atMilliseconds: now), .event)
    }
    if transition.event == .start, transition.attempt > 1, followsOutput {
      laterTries[transition.task] = transition.attempt
    }
    if transition.endsTry {
      laterTries[transition.task] = nil
      endLine(of: transition.task)
    }
    tell(transition, kept: transition.endsTry ? takeTail(transition) : [])
    return true
  }

  private mutating func tell(_ transition: Transition, kept: [UInt8]) {
    text.log = log
    log = nil
    renderer.transition(transition, kept: kept, model, into: &text)
    if transition.event == .start { shownServices.remove(transition.task) }
    for tail in serviceTails {
      if !shownServices.insert(tail.service).inserted {
        tail.writePointer(heading.logPath(tail.service, model.plan), model, palette, into: &text)
      } else if !tail.write(model, palette, into: &text) {
        shownServices.remove(tail.service)
      }
    }
    serviceTails.removeAll()
    settle()
    if annotates { warnings.note(transition, tail: kept) }
    if transition.event == .failure, !transition.allowed {
      failures.add(
        FailureRecord(
          transition: transition, tail: LastLines.of(kept, count: Self.failureLines),
          toldLines: errors.lineCount))
    }
  }

  private mutating func apply(_ task: TaskID, _ progress: DownloadProgress) -> Bool {
    guard let running = model.note(task, progress) else { return false }
    renderer.download(running, progress, model, atMilliseconds: nowMilliseconds, into: &text)
    settle()
    return true
  }

  private mutating func apply(_ order: RequestEntry) {
    let now = nowMilliseconds
    model.apply(order, atMilliseconds: now)
    live?.order()
    if order.verb.row.effect == .retries {
      failures.remove(order.tasks)
      warnings.remove(order.tasks)
    }
    if json {
      objects.add(ProgressJSON.order(order, plan: model.plan, atMilliseconds: now), .event)
    }
    tellOrder(RequestText.text(order, plan: model.plan))
  }

  private mutating func apply(_ stop: StopEntry) {
    model.apply(stop)
    if json { objects.add(ProgressJSON.stop(stop, atMilliseconds: nowMilliseconds), .event) }
    if !stop.detail.isEmpty { warning("the run is being stopped: \(stop.detail)") }
  }

  package mutating func warning(_ warning: String) {
    text.add(palette.yellow("warning: "))
    note(warning)
  }

  package mutating func note(_ line: String) {
    text.addCleaned(line)
    text.endLine()
    settle()
  }

  package mutating func passage(_ lines: String) {
    var rows = Array(lines.utf8).split(separator: Field.lineFeed, omittingEmptySubsequences: false)
    if rows.last?.isEmpty == true { rows.removeLast() }
    for line in rows {
      text.addOutput(line, palette)
      text.endLine()
    }
    settle()
  }

  package mutating func tick(nowMilliseconds now: Int64) {
    nowMilliseconds = now
    live?.pass(toMilliseconds: now)
    renderer.tick(model, toldLines: errors.lineCount, atMilliseconds: now, into: &text)
    settle()
  }

  package mutating func end(_ close: CloseEntry, atMilliseconds now: Int64) {
    hasEnded = true
    nowMilliseconds = now
    if annotates {
      WorkflowAnnotations(
        heading: heading, model: model, failures: failures.first, warnings: warnings
      ).write(into: &text)
    }
    ClosingSummary(
      heading: heading, model: model, failures: failures, palette: palette, namesLogs: live != nil,
      toldLines: errors.lineCount, size: size, toldFailuresOnly: renderer.tellsFailuresOnly
    ).write(close, atMilliseconds: now, into: &text)
    settle(.closing)
    if json { objects.add(ProgressJSON.close(close, heading, atMilliseconds: now), .closing) }
  }

  // MARK: Output

  /// If it is 0, no output may be passed.
  package var outputRoom: Int { errors.outputRoom }

  /// - Parameter bytes: in order, cut anywhere.
  package mutating func output(_ task: TaskID, _ bytes: UnsafeRawBufferPointer) {
    var bytes = bytes
    if !laterTries.isEmpty, let attempt = laterTries.removeValue(forKey: task) {
      bytes = AttemptHeader.dropped(from: bytes, attempt: attempt)
    }
    outputs.append(task, bytes) { line, _ in renderer.outputLine(task, line, model, into: &text) }
    settle(.output)
  }

  /// Output was left out for a slow reader; `lines` is nil if unknown.
  package mutating func skipped(_ task: TaskID, bytes: Int64, lines: Int?) {
    laterTries[task] = nil
    endLine(of: task)
    renderer.skipped(task, bytes: bytes, lines: lines, model, into: &text)
    settle()
  }

  private mutating func endLine(of task: TaskID) {
    outputs.flush(task) { line, _ in renderer.outputLine(task, line, model, into: &text) }
    settle(.output)
  }

  /// Returns how many last bytes `tail` needs before a try's end.
  package func tailBytes(for transition: Transition) -> Int {
    guard transition.endsTry else { return 0 }
    let fails = transition.event == .failure && (!transition.allowed || annotates)
    let least = fails ? Self.failureBytes : 0
    return renderer.showsTails ? max(least, min(Self.groupBytes, outputRoom)) : least
  }

  package func wantsLog(of transition: Transition) -> Bool {
    renderer.showsLogs && transition.endsTry && transition.outcome.usage.outputBytes > 0
  }

  package mutating func log(_ bytes: Range<Int64>, of transition: Transition) {
    if bytes.isEmpty { return }
    log = LogRange(
      task: transition.task, attempt: transition.attempt, bytes: bytes,
      path: heading.logPath(transition.task, model.plan))
  }

  /// The part of a log to read now; nil if there is none, or other text comes first.
  package var wantedLog: LogRange? { logText.isEmpty ? errors.wanted : nil }

  /// Takes bytes of `wantedLog`; empty if they cannot be read.
  package mutating func readLog(_ bytes: UnsafeRawBufferPointer) {
    guard let wanted = wantedLog else { return }
    let end = bytes.isEmpty ? wanted.bytes.upperBound : wanted.bytes.lowerBound + Int64(bytes.count)
    let own =
      wanted.isNew && wanted.attempt > 1
      ? AttemptHeader.dropped(from: bytes, attempt: wanted.attempt) : bytes
    var splitter = logLines
    logLines = TaskOutputs()
    var lines = 0
    splitter.append(wanted.task, own) { line, _ in
      text.addOutput(line, palette)
      text.endLine()
      lines += 1
    }
    if end >= wanted.bytes.upperBound {
      splitter.flush(wanted.task) { line, _ in
        text.addOutput(line, palette)
        text.endLine()
        lines += 1
      }
    }
    logLines = splitter
    logText = text.take()
    errors.advance(to: end, lines: lines)
  }

  package mutating func tail(_ bytes: UnsafeRawBufferPointer) { tail.append(contentsOf: bytes) }

  /// Returns the services whose last bytes `serviceTail` needs before a failure.
  package func servicesTold(with transition: Transition) -> (services: [TaskID], bytes: Int) {
    // The lines of services were already shown as they came.
    guard !followsOutput, transition.event == .failure, !transition.allowed, model.plan.hasServices
    else { return ([], 0) }
    let services = model.plan.services(neededBy: transition.task)
    // The failure of a service shows its own last lines.
    return (services.filter { model.state($0) != .failed }, ServiceTail.mostBytes)
  }

  package mutating func serviceTail(_ bytes: UnsafeRawBufferPointer, of service: TaskID) {
    let before = serviceTails.last?.service == service ? serviceTails.removeLast().bytes : []
    serviceTails.append(ServiceTail(service: service, bytes: before + bytes))
  }

  private mutating func takeTail(_ transition: Transition) -> [UInt8] {
    defer { tail = [] }
    if transition.attempt > 1 {
      tail = AttemptHeader.dropped(atBeginningOf: tail, attempt: transition.attempt)
    }
    let limit = tailBytes(for: transition)
    return tail.count > limit ? Array(tail.suffix(limit)) : tail
  }

  // MARK: The terminal

  package mutating func resize(_ size: TerminalSize) { self.size = size }

  package mutating func setVisible(_ visible: Bool) { live?.setVisible(visible) }

  package mutating func forgetScreen() { live?.forget() }

  /// Erases the frame and returns what is left to print; the next frame starts from scratch.
  package mutating func takeErasure() -> [UInt8] {
    let lasting = takeErrors()
    return live?.erase(lasting: lasting) ?? lasting
  }

  /// The caller has erased the frame.
  package mutating func showLines() {
    live = nil
    followsOutput = true
    renderer = ProgressLines(.lines, palette: palette, heading: heading, isVerbose: isVerbose)
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
    let palette = palette
    return errors.take { lines, isOutput in
      let detail = lines == 1 ? "line" : "lines"
      let hint = isOutput ? ", see the log" : ""
      return Array(
        (palette.dim("… \(CountText.grouped(lines)) \(detail) not shown\(hint)") + "\n").utf8)
    }
  }

  mutating func settle(_ kind: Backlog.Kind = .event) {
    if text.isEmpty {
      text.log = nil
      return
    }
    if let log = text.log, let place = text.logPlace {
      let bytes = text.take()
      errors.add(Array(bytes[..<place]), kind)
      errors.add(log)
      return errors.add(Array(bytes[place...]), kind)
    }
    guard let output = text.output else { return errors.add(text.take(), kind) }
    let bytes = text.take()
    errors.add(Array(bytes[..<output.lowerBound]), kind)
    errors.add(Array(bytes[output]), .output)
    errors.add(Array(bytes[output.upperBound...]), kind)
  }
}

// MARK: - Nodes, added and retracted tasks, keys

extension ProgressView {
  private mutating func apply(_ entry: NodeEntry) {
    let before = model.machines[entry.node]?.state
    model.machines.apply(entry)
    if json { objects.add(ProgressJSON.machine(entry, atMilliseconds: nowMilliseconds), .event) }
    if let change = MachineText.change(entry, from: before, model) {
      tell(palette.yellow(change))
    }
  }

  private mutating func wait(_ place: Int, for detail: String?, isNews: Bool) -> Bool {
    guard model.machines.wait(place, for: detail) else { return false }
    if json, let detail {
      objects.add(ProgressJSON.wait(detail, atMilliseconds: nowMilliseconds), .event)
    }
    if live == nil, isNews, !renderer.isQuiet, let detail { tell(CleanText.string(detail)) }
    return true
  }

  private mutating func tell(_ clean: String) {
    text.add(palette.dim(TransitionLine.counter(model)))
    text.add(" ")
    text.addSentence(clean)
    text.endLine()
    settle()
  }

  private mutating func extend(_ entry: ExtendEntry, _ plan: Plan, _ initial: [InitialState]) {
    if !initial.isEmpty {
      model.grow(to: plan, initial)
      live?.grow()
    }
    model.apply(entry)
    if json {
      objects.add(ProgressJSON.extend(entry, model, atMilliseconds: nowMilliseconds), .event)
    }
    tellOrder(RequestText.text(entry))
  }

  private mutating func retract(_ entry: RetractEntry, _ plan: Plan) {
    let known = model.plan
    let retracted = known.tasks.map { TaskID($0) }.filter {
      !known.nameBytes($0).equals(plan.nameBytes($0))
    }
    model.retract(retracted, plan)
    if json {
      let ids = retracted.map { known.nameString($0) }
      objects.add(ProgressJSON.retract(entry, ids, model, atMilliseconds: nowMilliseconds), .event)
    }
    tellOrder(RequestText.text(entry, plan: plan))
  }

  mutating func tellOrder(_ detail: String) {
    if !renderer.isQuiet {
      text.add(palette.yellow("order: "))
      text.addCleaned(detail)
      text.endLine()
    }
    settle()
  }

  package mutating func setKeys(_ isOn: Bool) { live?.setKeys(isOn) }

  package mutating func type(_ typed: [UInt8]) -> [LiveKeys.Action] {
    let parallel = heading.parallel
    return live?.type(typed, model, parallel: parallel) ?? []
  }

  package mutating func ask(_ request: ClientRequest) { live?.ask(request) }

  package mutating func tellKey(_ message: String, of request: ClientRequest? = nil) {
    live?.tell(message, of: request)
  }

  package func wantedTails(atMilliseconds now: Int64) -> (tasks: [TaskID], bytes: Int) {
    live?.wantedTails(model, atMilliseconds: now) ?? ([], 0)
  }

  package mutating func setTails(_ tails: [TaskID: [UInt8]]) { live?.setTails(tails) }

  package mutating func setInner(_ inner: [TaskID: InnerRun]) { live?.setInner(inner) }
}
