internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews

/// Shows a session for the coordinator or `RunViewer`. Threads write the view, so that a slow
/// reader does not block the run. If a reader leaves, the view ends and the run continues; for an
/// idle reader the view buffers a bounded amount.
final class SessionDisplay {
  var view: ProgressView
  private let outputs: TaskOutputFiles
  private var innerRuns: InnerRuns
  private var nextTails = Instant(nanoseconds: 0)
  private var nextInner = Instant(nanoseconds: 0)
  private let notice: EventDescriptor
  private let errors = ViewStream(.error)
  private let objects = ViewStream(.output)
  private let keys: ViewKeys?
  private var nextTick: Instant?
  private var isLent = false
  /// The summary is laid out and waits for `end`.
  private var isClosed = false
  /// Logs have more for the view than one turn may write.
  private var hasMore = false

  private static let tailMilliseconds: Int64 = 100
  private static let innerMilliseconds: Int64 = 500
  /// The longest wait for a reader without progress.
  private static let patienceMilliseconds: Int64 = 1000
  /// A terminal may take some 20 KB before progress is visible here.
  private static let terminalPatienceMilliseconds: Int64 = 3000
  /// The wait until output of tasks is dropped in favor of the rest.
  private static let outputPatienceMilliseconds: Int64 = 500
  /// The longest wait for a `--json` reader that makes progress.
  private static let mostPatienceMilliseconds: Int64 = 10_000
  /// The longest wait for a slow reader, so that a slow line loses nothing.
  private static let mostOutputPatienceMilliseconds: Int64 = 60_000
  /// Pieces have 32 KiB.
  private static let mostPieces = 32
  /// One write to an active reader, for cases that must not wait.
  private static let leastPatienceMilliseconds: Int64 = 200

  private final class ViewStream {
    let stream: StandardStream
    var isOpen = true
    var writer: StreamWriter?
    /// Other streams need no thread, which costs more than the one line of a quiet run.
    let mayStall: Bool
    private(set) lazy var isTerminal = Terminal.isTerminal(stream.rawValue)

    init(_ stream: StandardStream) {
      self.stream = stream
      mayStall = stream.mayStall
    }
  }

  init(
    _ folder: RunFolder, _ plan: Plan, _ options: ProgressOptions, _ heading: ProgressHeading
  ) throws(Errno) {
    view = ProgressView(options: options, plan: plan, heading: heading)
    outputs = TaskOutputFiles(folder: folder, plan: plan)
    innerRuns = InnerRuns(within: folder)
    notice = try EventDescriptor()
    keys = view.isLive ? ViewKeys() : nil
  }

  /// Readable when more can be written: call `takeNotice`, then `flush`.
  var rawDescriptor: Int32 { notice.rawValue }

  var isRead: Bool { errors.isOpen }
  private var followsOutput: Bool { view.followsOutput && errors.isOpen }

  var nextWake: Instant? {
    let own = hasMore && !isClosed ? Instant(nanoseconds: 0) : nextTick
    return [own, followsOutput ? outputs.nextWake : nil].compactMap { $0 }.min()
  }

  func join(_ history: RunModel, _ plan: Plan, atMilliseconds wall: Int64) {
    view.join(history, atMilliseconds: wall) { outputs.last($1, of: $0) }
    for task in plan.tasks.lazy.map({ TaskID($0) }) {
      switch history[task].state {
      case .running, .suspended: outputs.join(task, attempt: history[task].attempts)
      case .prefetched: outputs.begin(task, attempt: history[task].attempts)
      case .waiting, .ready, .checking, .succeeded, .upToDate, .failedAllowed, .failed, .skipped,
        .cancelled:
        break
      }
    }
  }

  func show(_ event: SessionEvent, atMilliseconds wall: Int64) {
    var found = FoundOutput()
    if case .entry(let entry, let plan, _) = event {
      switch entry {
      case .transition(let transition): found = follow(transition)
      case .extend, .retract: outputs.plan = plan
      case .open, .resume, .close, .worker, .request, .stop, .node: break
      }
    }
    view.show(event, found, atMilliseconds: wall)
  }

  private func follow(_ transition: Transition) -> FoundOutput {
    let task = transition.task
    let wanted = errors.isOpen ? view.wanted(with: transition) : WantedOutput()
    var found = FoundOutput()
    if transition.event == .start {
      outputs.begin(task, attempt: transition.attempt)
    } else if transition.event == .ready {
      outputs.goOn(task, attempt: transition.attempt)
    } else if transition.endsTry {
      found = outputs.end(transition, wanted, followsOutput ? self : nil)
    }
    found.services = wanted.services.compactMap { service in
      let bytes = outputs.last(ServiceTail.mostBytes, of: service)
      return bytes.isEmpty ? nil : ServiceTail(service: service, bytes: bytes)
    }
    return found
  }

  func take(_ piece: TaskOutputFiles.Piece, of task: TaskID) {
    switch piece {
    case .bytes(let bytes):
      view.output(task, bytes)
      // A fast reader makes room for the next piece.
      write()
    case .skipped(let bytes, let lines): view.skipped(task, bytes: bytes, lines: lines)
    }
  }

  /// The next session takes the services over.
  func passOn(at now: Instant) {
    if followsOutput { outputs.catchUp(at: now, self) }
    stop()
  }

  private func stop() {
    giveKeysBack()
    isClosed = true
    nextTick = nil
  }

  func follow(at now: Instant) {
    readTails(at: now)
    if followsOutput { outputs.follow(at: now, self) }
  }

  private func readTails(at now: Instant) {
    guard view.isLive, now >= nextTails else { return }
    nextTails = now.advanced(byMilliseconds: Self.tailMilliseconds)
    let wanted = view.wantedTails(atMilliseconds: Clock.wallMilliseconds)
    var tails: [TaskID: [UInt8]] = [:]
    for task in wanted.tasks {
      let last = outputs.last(wanted.bytes, of: task)
      if !last.isEmpty { tails[task] = last }
    }
    view.live?.tails = tails
    if now < nextInner { return }
    nextInner = now.advanced(byMilliseconds: Self.innerMilliseconds)
    view.live?.inner = innerRuns.look(at: wanted.tasks, of: outputs.plan)
  }

  // MARK: - Keys

  var keyDescriptor: Int32 { keys?.rawDescriptor ?? -1 }

  func takeKeys() -> [LiveKeys.Action] {
    nextTails = Instant(nanoseconds: 0)
    guard let typed = keys?.read(), !typed.isEmpty else { return [] }
    return view.type(typed)
  }

  func giveKeysBack() {
    keys?.giveBack()
    view.live?.setKeys(false)
  }

  // MARK: - The terminal

  func resize() {
    if let (columns, rows) = Terminal.size(Terminal.standardError) {
      view.resize(TerminalSize(columns: columns, rows: rows))
    }
  }

  func leaveTerminal() {
    giveKeysBack()
    if isHeld(errors) { return }
    let deadline = Coordinator.now.advanced(byMilliseconds: Self.leastPatienceMilliseconds)
    repeat {
      if isIdle(errors) {
        let erasure = view.takeErasure()
        if erasure.isEmpty { return }
        put(erasure, to: errors)
      } else {
        _ = wait(until: deadline)
      }
    } while Coordinator.now < deadline
  }

  /// Replaces the live frame by lines: the terminal is for the output of services.
  func showServing() {
    leaveTerminal()
    view.showLines()
    nextTick = nil
    outputs.joinRunning()
  }

  /// Other processes may have used or resized the terminal.
  func returnToTerminal() {
    view.live?.forget()
    resize()
  }

  /// Buffers terminal output until `takeTerminalBack`, as for a blocked reader.
  func lendTerminal() {
    write()
    leaveTerminal()
    isLent = true
  }

  func takeTerminalBack() {
    isLent = false
    if view.isLive { beginLine() }
    returnToTerminal()
  }

  /// Moves to a new line unless the cursor is at column 0. The position cannot be queried, but a
  /// row of spaces wraps only if the cursor is elsewhere.
  private func beginLine() {
    guard let (columns, _) = Terminal.size(Terminal.standardError), isIdle(errors) else { return }
    put(Array(String(repeating: " ", count: columns).utf8) + [Field.carriageReturn], to: errors)
  }

  private func isHeld(_ target: ViewStream) -> Bool { isLent && target.isTerminal }

  func takeNotice() { _ = try? notice.take() }

  func flush(at now: Instant) {
    if isClosed { return }
    if let interval = view.tickMilliseconds, !isHeld(errors) {
      if view.isLive {
        let isForeground = Terminal.isForeground(Terminal.standardError)
        view.live?.setVisible(isForeground)
        // Not at the first tick: a very short run must not take the keyboard.
        if isForeground, nextTick.map({ $0 <= now }) ?? false { keys?.take() }
        if !isForeground { keys?.giveBack() }
        view.live?.setKeys(keys?.isTaken ?? false)
      }
      if let due = nextTick, due <= now {
        // After the window has shrunk, a frame of the old height would leave rows above it.
        if view.isLive { resize() }
        view.tick(nowMilliseconds: Clock.wallMilliseconds)
      }
      if nextTick.map({ $0 <= now }) ?? true {
        nextTick = now.advanced(byMilliseconds: interval)
      }
    } else {
      nextTick = nil
    }
    write()
  }

  func close(_ close: CloseEntry, atMilliseconds wall: Int64) {
    stop()
    view.end(close, atMilliseconds: wall)
  }

  /// Writes the rest while it is read. `atOnce`: the user wants to leave. `isStopped` reads
  /// `signals`, which is readable after a signal.
  func end(atOnce: Bool, signals: Int32, isStopped: () -> Bool) {
    let began = Coordinator.now
    let patience =
      atOnce
      ? Self.leastPatienceMilliseconds
      : errors.isTerminal ? Self.terminalPatienceMilliseconds : Self.patienceMilliseconds
    var deadline = began.advanced(byMilliseconds: patience)
    var outputDeadline: Instant? = began.advanced(
      byMilliseconds: atOnce ? 0 : Self.outputPatienceMilliseconds)
    var read = objects.writer?.writtenBytes ?? 0
    var shown = errors.writer?.writtenBytes ?? 0
    var told = shown
    while !isWritten() {
      let now = Coordinator.now
      if let due = outputDeadline, due <= now {
        let written = errors.writer?.writtenBytes ?? 0
        if view.wantedLog != nil, written > shown, !atOnce,
          now < began.advanced(byMilliseconds: Self.mostOutputPatienceMilliseconds)
        {
          shown = written
          outputDeadline = now.advanced(byMilliseconds: Self.outputPatienceMilliseconds)
          deadline = now.advanced(byMilliseconds: patience)
        } else {
          view.leaveOutOutput()
          outputDeadline = nil
        }
      }
      if deadline <= now {
        let written = objects.writer?.writtenBytes ?? 0
        let toldNow = errors.writer?.writtenBytes ?? 0
        let goesOn =
          view.hasStandardOutput && written > read
          && now < began.advanced(byMilliseconds: Self.mostPatienceMilliseconds)
          || toldNow > told
            && now < began.advanced(byMilliseconds: Self.mostOutputPatienceMilliseconds)
        if !goesOn || atOnce { return }
        (read, told) = (written, toldNow)
        deadline = now.advanced(byMilliseconds: patience)
      }
      if wait(until: outputDeadline ?? deadline, signals), isStopped() { return }
    }
  }

  /// Called if the run cannot continue.
  func giveUp() {
    isClosed = true
    leaveTerminal()
  }

  // MARK: - Writing

  private func isWritten() -> Bool {
    write()
    return !view.hasStandardError && !view.hasStandardOutput && isIdle(errors) && isIdle(objects)
  }

  private func write() {
    // Reads logs in limited pieces, so that the caller is not held up.
    var pieces = 0
    hasMore = false
    while view.hasStandardError, !isHeld(errors), isIdle(errors) {
      if let log = view.wantedLog {
        hasMore = pieces == Self.mostPieces && !isClosed
        if hasMore { break }
        pieces += 1
        view.readLog(errors.isOpen ? outputs.read(log) : nil)
      }
      put(view.takeStandardError(), to: errors)
    }
    while view.hasStandardOutput, !isHeld(objects), isIdle(objects) {
      put(view.takeStandardOutput(), to: objects)
    }
  }

  /// If false, the notice fires when more can be written.
  private func isIdle(_ target: ViewStream) -> Bool {
    guard target.isOpen, let writer = target.writer else { return true }
    guard writer.isIdle else { return false }
    while let (stream, error) = writer.takeFailure() {
      end(stream == .error ? errors : objects, error)
    }
    return true
  }

  private func put(_ bytes: [UInt8], to target: ViewStream) {
    guard target.isOpen, !bytes.isEmpty else { return }
    do throws(Errno) {
      if !target.mayStall {
        try target.stream.writeAll(bytes)
      } else if let writer = try writer(of: target) {
        try writer.put(bytes, to: target.stream)
      } else {
        try target.stream.writeAll(bytes, patienceMilliseconds: Self.leastPatienceMilliseconds)
      }
    } catch {
      end(target, error)
    }
  }

  private func writer(of target: ViewStream) throws(Errno) -> StreamWriter? {
    if let writer = target.writer { return writer }
    let other = target === errors ? objects : errors
    // Two streams to the same file share a writer, so that their lines do not mix.
    if let writer = other.writer, target.stream.isSameFile(as: other.stream) {
      target.writer = writer
    } else {
      target.writer = try? StreamWriter(notifying: notice)
    }
    return target.writer
  }

  private func end(_ target: ViewStream, _ error: Errno) {
    target.isOpen = false
    // A reader that left wants no more. A file has no reader who would see the cut.
    if target === objects, error != .brokenPipe {
      let warning = "cannot write to standard output, so --json ends here: \(error)"
      show(.warning(warning), atMilliseconds: Clock.wallMilliseconds)
    }
  }

  private func wait(until deadline: Instant, _ signals: Int32 = -1) -> Bool {
    var poll = PollSet(slots: 2)
    poll.set(0, notice.rawValue)
    poll.set(1, signals)
    let left = deadline.nanoseconds - Coordinator.now.nanoseconds
    guard let isReady = try? poll.wait(nanoseconds: max(0, left)), isReady else { return false }
    if poll.isReady(0) { takeNotice() }
    return poll.isReady(1)
  }
}

/// The keyboard while a live view in the foreground owns it: input is unbuffered and not echoed.
/// Every way out restores the earlier modes. All standard streams must be the terminal. A process
/// in the background, stopped, or without the terminal (`TerminalLoan`) reads no keys.
final class ViewKeys {
  private let terminal: ControllingTerminal
  private var before: ControllingTerminal.Modes?
  private var isGone = false

  init?() {
    let streams = [Terminal.standardInput, Terminal.standardOutput, Terminal.standardError]
    guard streams.allSatisfy(Terminal.isTerminal), let terminal = try? ControllingTerminal() else {
      return nil
    }
    self.terminal = terminal
  }

  deinit { giveBack() }

  var isTaken: Bool { before != nil }

  var rawDescriptor: Int32 { isTaken ? terminal.rawValue : -1 }

  func take() {
    if isTaken || isGone { return }
    guard let foreground = try? terminal.foreground, foreground == ProcessGroup.own else { return }
    before = try? terminal.takeKeys()
  }

  func giveBack() {
    guard let modes = before else { return }
    before = nil
    // Another process in the foreground has set its own modes.
    guard let foreground = try? terminal.foreground, foreground == ProcessGroup.own else { return }
    try? terminal.restore(modes)
  }

  func read() -> [UInt8] {
    guard isTaken else { return [] }
    do throws(Errno) {
      let typed = try terminal.readKeys()
      // The terminal was closed.
      if typed.isEmpty { end() }
      return typed
    } catch .wouldBlock {
      return []
    } catch {
      if (try? terminal.foreground) == nil { end() } else { before = nil }
      return []
    }
  }

  private func end() {
    giveBack()
    isGone = true
  }
}

/// Maintains the file `progress`, from which other processes show downloads. Errors are ignored,
/// and nothing is synced.
struct DownloadNotes {
  var running = RunningDownloads()

  private let path: String
  var plan: Plan
  private var nextWrite = Instant(nanoseconds: 0)
  private var written: [UInt8] = []
  private var isBroken = false

  private static let pauseMilliseconds: Int64 = 1000

  init(folder: RunFolder, plan: Plan) {
    path = folder.progress
    self.plan = plan
  }

  mutating func write(at now: Instant) {
    guard !isBroken, !running.entries.isEmpty, now >= nextWrite else { return }
    nextWrite = now.advanced(byMilliseconds: Self.pauseMilliseconds)
    let notes = ProgressNotes.encoded(running, plan: plan)
    guard notes != written else { return }
    written = notes
    do throws(Errno) {
      try File.put(notes, at: path)
    } catch {
      isBroken = true
    }
  }

  func remove() {
    if !written.isEmpty { try? Path.remove(path) }
  }
}
