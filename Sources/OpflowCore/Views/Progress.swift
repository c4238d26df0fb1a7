/// The progress of one drive of a run: transitions and output in, bytes for standard error and standard output out. Pure;
/// the caller takes bytes when somebody is there to take them. What waits is bounded, and only the newest frame is made.
///
/// Order of calls: `begin`, or `join` for a drive that goes on already, then `transition`, `output`, `warning` and `tick` as
/// things happen, `end`. What is wanted of a try's output is given before the transition that ends it.
package struct ProgressView: ~Copyable {
  /// Whether `output` is wanted, as tasks print.
  package private(set) var followsOutput: Bool
  /// How often `tick` is wanted for now, in milliseconds; nil for never.
  package var tickMilliseconds: Int64? {
    if live != nil { return LiveView.frameMilliseconds }
    return renderer.tellsTime && !model.running.isEmpty ? StillRunning.tickMilliseconds : nil
  }

  /// Whether what runs is drawn on a terminal.
  package var isLive: Bool { live != nil }

  let heading: ProgressHeading
  var model: DriveModel
  private var failures: FailureList
  private var warnings = WarningList()
  private var outputs = TaskOutputs()
  /// The end of what the try printed that ends next.
  private var tail: [UInt8] = []
  private var serviceTails: [ServiceTail] = []
  /// The services of which the last lines were shown, since their last start: later failures point to the log.
  private var shownServices: Set<TaskID> = []
  /// The same of all that it printed, where that is shown.
  private var log: LogRange?
  /// What was read of a log, cleaned.
  private var logText: [UInt8] = []
  private var logLines = TaskOutputs()
  var renderer: any ProgressRenderer
  var live: LiveView?
  /// The live view is over.
  private var hasEnded = false
  private let isVerbose: Bool
  let json: Bool
  /// Failures and warnings are annotations too.
  private let annotates: Bool
  let palette: Palette
  /// Of the screen that failures are seen on.
  private var size: TerminalSize { didSet { live?.size = size } }
  /// Later tries whose output has not begun yet, by task.
  private var laterTries: [TaskID: Int32] = [:]
  /// What is put together now.
  var text = TextBuffer()
  private var errors = Backlog(outputLimit: 4 << 20, eventLimit: 4 << 20)
  private var objects = Backlog(outputLimit: 0, eventLimit: 16 << 20)
  var nowMilliseconds: Int64 = 0

  /// Lines of output that a failure shows.
  static let failureLines = 20
  static let failureBytes = 16_384
  private static let groupBytes = 1_048_576

  package init(options: ProgressOptions, plan: Plan, heading: ProgressHeading) {
    palette = Palette(isOn: options.color)
    self.heading = heading
    model = DriveModel(plan: plan, scope: heading.scope, orders: heading.orders)
    failures = FailureList(stillFailed: heading.scope.stillFailed, plan: plan)
    json = options.json
    size = options.size
    annotates = options.annotates || options.mode == .gitHub
    text.breaksCommands = !options.passesCommands
    followsOutput = options.mode == .line
    isVerbose = options.verbose
    switch options.mode {
    case .line:
      renderer = LineProgress(palette: palette, heading: heading, isVerbose: options.verbose)
    case .group, .gitHub, .gitLab:
      renderer = GroupProgress(
        palette: palette, heading: heading, isVerbose: options.verbose,
        folding: GroupFolding(options.mode, run: heading.run))
    case .quiet:
      renderer = QuietProgress(palette: palette, heading: heading)
    case .live:
      renderer = LiveProgress(palette: palette, heading: heading)
      live = LiveView(options: options, heading: heading)
    }
  }

  // MARK: What happens

  package mutating func begin(atMilliseconds now: Int64) {
    nowMilliseconds = now
    model.begin(atMilliseconds: now)
    live?.begin(atMilliseconds: now)
    renderer.begin(model, into: &text)
    settle()
    if json {
      ProgressJSON.open(heading, model, atMilliseconds: now, into: &text)
      settleObject(.event)
    }
  }

  /// The drive goes on already: what became of its tasks so far is taken in, and not told. Failures are, by
  /// `joinFailure`.
  package mutating func join(_ history: RunModel, atMilliseconds now: Int64) {
    nowMilliseconds = now
    model = DriveModel(plan: model.plan, scope: model.scope, joining: history)
    // The first frame is due at once.
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

  /// The failures of a drive that goes on already, as far as a summary has room for them, the oldest first.
  package func joinedFailures(_ history: RunModel) -> [Transition] {
    let stillFailed = model.scope.stillFailed
    let own = FailureList.joined(history, model, .failed).filter { !stillFailed.contains($0.task) }
    return Array(own.prefix(FailureList.maxDetailed))
  }

  /// One of those. The end of its output is given before.
  package mutating func joinFailure(_ transition: Transition) {
    var kept = takeTail(transition)
    if transition.attempt > 1 {
      kept = AttemptHeader.dropped(before: kept, attempt: transition.attempt)
    }
    tell(transition, kept: kept)
  }

  /// All failures are told: tells what waits for a person, and, where no frame does, what runs.
  package mutating func endJoin(atMilliseconds now: Int64) {
    if model.plan.hasGates {
      for gate in model.running.map(\.task) where model.plan.kind(gate) == .approve {
        tell(Transition(.start, gate, attempt: 1), kept: [])
      }
    }
    renderer.join(model, atMilliseconds: now, into: &text)
    settle()
  }

  package mutating func transition(_ transition: Transition, atMilliseconds now: Int64) {
    // Told for all of them together (`withdraw`).
    if transition.event == .skip(.withdrawn) { return }
    nowMilliseconds = now
    let comesBack = transition.event == .interrupt && model.isHanded(transition.task)
    if live == nil || transition.task.isNone {
      model.apply(transition, atMilliseconds: now)
    } else {
      let old = model.state(transition.task)
      model.apply(transition, atMilliseconds: now)
      live?.move(transition, from: old, model)
    }
    // Nothing has happened to it that a person would see.
    if transition.isAhead || comesBack { return }
    if json {
      ProgressJSON.transition(
        transition, host: model.machines.machine(of: transition.task)?.host, plan: model.plan,
        atMilliseconds: now, into: &text)
      settleObject(.event)
    }
    if transition.event == .start, transition.attempt > 1, followsOutput {
      laterTries[transition.task] = transition.attempt
    }
    if transition.endsTry {
      laterTries[transition.task] = nil
      endLine(of: transition.task)
    }
    tell(transition, kept: transition.endsTry ? takeTail(transition) : [])
    live?.pass(toMilliseconds: now)
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

  /// How far a running download is.
  package mutating func download(
    _ task: TaskID, _ progress: DownloadProgress, atMilliseconds now: Int64
  ) {
    nowMilliseconds = now
    guard let running = model.note(task, progress) else { return }
    renderer.download(running, progress, model, atMilliseconds: now, into: &text)
    settle()
    live?.pass(toMilliseconds: now)
  }

  /// Somebody asked for something, and it was done.
  package mutating func order(_ order: OrderEntry, atMilliseconds now: Int64) {
    nowMilliseconds = now
    model.apply(order, atMilliseconds: now)
    live?.order()
    if order.verb.row.effect == .retries {
      failures.remove(order.tasks)
      warnings.remove(order.tasks)
    }
    if json {
      ProgressJSON.order(order, plan: model.plan, atMilliseconds: now, into: &text)
      settleObject(.event)
    }
    tellOrder(OrderText.text(order, plan: model.plan))
    live?.pass(toMilliseconds: now)
  }

  /// What was told of an order is not so: it could not be written down, and who asked was told that.
  package mutating func takeBack(_ order: OrderEntry) {
    warning("not done after all: \(OrderText.text(order, plan: model.plan))")
  }

  /// A signal begins to end the run. Who was sent it says so; where nobody was, the reason is told here.
  package mutating func stop(_ stop: StopEntry, atMilliseconds now: Int64) {
    nowMilliseconds = now
    model.apply(stop)
    if json {
      ProgressJSON.stop(stop, atMilliseconds: now, into: &text)
      settleObject(.event)
    }
    if !stop.what.isEmpty { warning("the run is being stopped: \(stop.what)") }
    live?.pass(toMilliseconds: now)
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

  /// Lines of this program's own, with their colours.
  package mutating func passage(_ lines: String) {
    var rows = Array(lines.utf8).split(separator: Field.lineFeed, omittingEmptySubsequences: false)
    if rows.last?.isEmpty == true { rows.removeLast() }
    for line in rows {
      text.addOutput(line, palette)
      text.endLine()
    }
    settle()
  }

  /// Time has passed: a live view draws anew, others tell what runs when they said nothing for long.
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
    if json {
      ProgressJSON.close(close, heading, atMilliseconds: now, into: &text)
      settleObject(.closing)
    }
  }

  // MARK: What tasks print

  /// How many bytes of output a reader has room for now. With none, none is to be given.
  package var outputRoom: Int { errors.outputRoom }

  /// Output of a task's running try, in the order it was written, cut anywhere.
  package mutating func output(_ task: TaskID, _ bytes: UnsafeRawBufferPointer) {
    var bytes = bytes
    if !laterTries.isEmpty, let attempt = laterTries.removeValue(forKey: task) {
      bytes = AttemptHeader.dropped(from: bytes, attempt: attempt)
    }
    outputs.append(task, bytes) { line, _ in
      renderer.outputLine(task, line, model, into: &text)
    }
    settle(.output)
  }

  /// Output of a running try was left out, for want of a reader.
  ///
  /// - Parameter lines: nil where nobody counted them.
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

  /// How many of the last bytes of a try are wanted (`tail`) before the transition that ends it.
  package func tailBytes(for transition: Transition) -> Int {
    guard transition.endsTry else { return 0 }
    let fails = transition.event == .failure && (!transition.allowed || annotates)
    let least = fails ? Self.failureBytes : 0
    return renderer.showsTails ? max(least, min(Self.groupBytes, outputRoom)) : least
  }

  /// Whether all that a try printed is shown, so that its place is wanted (`log`) before the transition that ends
  /// it.
  package func wantsLog(of transition: Transition) -> Bool {
    renderer.showsLogs && transition.endsTry && transition.outcome.usage.outputBytes > 0
  }

  /// Where in its log stands what a try printed.
  package mutating func log(_ bytes: Range<Int64>, of transition: Transition) {
    if bytes.isEmpty { return }
    log = LogRange(
      task: transition.task, attempt: transition.attempt, bytes: bytes,
      path: heading.logPath(transition.task, model.plan))
  }

  /// What of a log is to be read now; nil while there is none, or other things are to be shown first.
  package var wantedLog: LogRange? { logText.isEmpty ? errors.wanted : nil }

  /// What was read there; nothing where nothing can be.
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

  /// The last bytes of a try, in the order it wrote them.
  package mutating func tail(_ bytes: UnsafeRawBufferPointer) { tail.append(contentsOf: bytes) }

  /// The services of which the last bytes are told with a failure (`serviceTail`), before that.
  package func servicesTold(with transition: Transition) -> (services: [TaskID], bytes: Int) {
    // Where lines are shown as they come, these were.
    guard !followsOutput, transition.event == .failure, !transition.allowed,
      model.plan.hasServices
    else { return ([], 0) }
    let services = model.plan.services(neededBy: transition.task)
    // Of one that failed itself that is told with its failure.
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

  /// The terminal has another size.
  package mutating func resize(_ size: TerminalSize) { self.size = size }

  /// Whether the terminal is this program's to draw on.
  package mutating func setVisible(_ visible: Bool) { live?.setVisible(visible) }

  /// Others have written to the terminal.
  package mutating func forgetScreen() { live?.forget() }

  /// Gives the terminal back, with what is still to be said; the next frame begins anew.
  package mutating func takeErasure() -> [UInt8] {
    let lasting = takeErrors()
    return live?.erase(lasting: lasting) ?? lasting
  }

  /// Draws no more: what happens and what tasks print is told in lines from here on, in the place of the
  /// frame, which the caller has erased.
  package mutating func showLines() {
    live = nil
    followsOutput = true
    renderer = LineProgress(palette: palette, heading: heading, isVerbose: isVerbose)
  }

  // MARK: Bytes

  package var hasStandardError: Bool {
    if !hasEnded, live?.holdsLines ?? false { return false }
    return !logText.isEmpty || !errors.isEmpty || live?.hasFrame ?? false
  }
  package var hasStandardOutput: Bool { !objects.isEmpty }

  /// What is to be written to standard error next. There may be more.
  package mutating func takeStandardError() -> [UInt8] {
    if live == nil || hasEnded { return takeErasure() }
    let isHeld = live?.holdsLines ?? false
    let lasting = isHeld ? [] : takeErrors()
    return live?.take(lasting: lasting, model) ?? []
  }

  /// What is to be written to standard output next. There may be more.
  package mutating func takeStandardOutput() -> [UInt8] {
    let now = nowMilliseconds
    return objects.take { lines, _ in ProgressJSON.missing(lines, atMilliseconds: now) }
  }

  /// The reader is slow, and there is little time left: what waits of the output of tasks is left out.
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
      let what = lines == 1 ? "line" : "lines"
      let hint = isOutput ? ", see the log" : ""
      return Array(
        (palette.dim("… \(CountText.grouped(lines)) \(what) not shown\(hint)") + "\n").utf8)
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

  mutating func settleObject(_ kind: Backlog.Kind) { objects.add(text.take(), kind) }
}
