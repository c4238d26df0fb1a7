internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowViews
internal import OpflowWire

/// Writes the progress view in threads, so that a slow reader does not block the run. If a reader
/// goes away, the view ends and the run continues; for one that does not read, the view buffers a
/// bounded amount.
final class ProgressOutput {
  private var view: ProgressView
  private let notice: EventDescriptor
  private let errors = ViewStream(.error)
  private let objects = ViewStream(.output)
  private let keys: ViewKeys?
  private var nextTick: Instant?
  /// To an `interactive` task.
  private var isLent = false
  /// The summary is laid out and waits for `end`.
  private var isClosed = false

  /// How long `end` waits for a reader that makes no progress.
  private static let patienceMilliseconds: Int64 = 1000
  /// A terminal may take some 20 KB before that is visible here.
  private static let terminalPatienceMilliseconds: Int64 = 3000
  /// Then output of tasks is dropped in favour of the rest.
  private static let outputPatienceMilliseconds: Int64 = 500
  /// For a reader of `--json` that makes progress.
  private static let mostPatienceMilliseconds: Int64 = 10_000
  /// For a slow reader that makes progress, so that a slow line loses nothing.
  private static let mostOutputPatienceMilliseconds: Int64 = 60_000
  /// Of 32 KiB each.
  private static let mostPieces = 32
  /// One write to an active reader, for cases that must not wait.
  private static let leastPatienceMilliseconds: Int64 = 200

  private final class ViewStream {
    let stream: StandardStream
    var isOpen = true
    var writer: StreamWriter?
    /// Other streams need no thread, which would cost more than the one line of a quiet run.
    let mayStall: Bool
    private(set) lazy var isTerminal = Terminal.isTerminal(stream.rawValue)

    init(_ stream: StandardStream) {
      self.stream = stream
      mayStall = stream.mayStall
    }
  }

  init(view: consuming ProgressView) throws(Errno) {
    notice = try EventDescriptor()
    keys = view.isLive ? ViewKeys() : nil
    self.view = view
  }

  /// Readable when more can be written: call `takeNotice`, then `flush`.
  var rawDescriptor: Int32 { notice.rawValue }

  var isLive: Bool { view.isLive }
  var isRead: Bool { errors.isOpen }
  var followsOutput: Bool { view.followsOutput && errors.isOpen }
  var outputRoom: Int { view.outputRoom }
  var nextWake: Instant? { hasMore && !isClosed ? Instant(nanoseconds: 0) : nextTick }

  var readLog: (LogRange, (UnsafeRawBufferPointer) -> Void) -> Void = {
    $1(UnsafeRawBufferPointer(start: nil, count: 0))
  }
  private var hasMore = false

  func wantsLog(of transition: Transition) -> Bool {
    errors.isOpen && view.wantsLog(of: transition)
  }

  func log(_ bytes: Range<Int64>, of transition: Transition) { view.log(bytes, of: transition) }

  func tailBytes(for transition: Transition) -> Int {
    errors.isOpen ? view.tailBytes(for: transition) : 0
  }

  func servicesTold(with transition: Transition) -> (services: [TaskID], bytes: Int) {
    errors.isOpen ? view.servicesTold(with: transition) : ([], 0)
  }

  func serviceTail(_ bytes: UnsafeRawBufferPointer, of service: TaskID) {
    view.serviceTail(bytes, of: service)
  }

  func begin(atMilliseconds wall: Int64) { view.begin(atMilliseconds: wall) }
  func join(
    _ history: RunModel, atMilliseconds wall: Int64,
    last: (Int, TaskID, TaskOutputFiles.Sink) -> Void
  ) {
    view.join(history, atMilliseconds: wall)
    for failure in view.joinedFailures(history) {
      last(view.tailBytes(for: failure), failure.task) { task, piece in take(piece, of: task) }
      view.joinFailure(failure)
    }
    view.endJoin(atMilliseconds: wall)
  }
  func show(_ event: SessionEvent, atMilliseconds wall: Int64) {
    view.show(event, atMilliseconds: wall)
  }
  func take(_ piece: TaskOutputFiles.Piece, of task: TaskID) {
    switch piece {
    case .bytes(let bytes):
      view.output(task, bytes)
      // A fast reader makes room for the next piece.
      write()
    case .skipped(let bytes, let lines): view.skipped(task, bytes: bytes, lines: lines)
    case .tail(let bytes): view.tail(bytes)
    case .log: break
    }
  }

  // MARK: Keys

  /// -1 while keys are not read.
  var keyDescriptor: Int32 { keys?.rawDescriptor ?? -1 }

  func takeKeys() -> [LiveKeys.Action] {
    guard let typed = keys?.read(), !typed.isEmpty else { return [] }
    return view.type(typed)
  }

  func askByKey(_ request: ClientRequest) { view.ask(request) }
  func tellKey(_ message: String, of request: ClientRequest? = nil) {
    view.tellKey(message, of: request)
  }
  func wantedTails(atMilliseconds wall: Int64) -> (tasks: [TaskID], bytes: Int) {
    view.wantedTails(atMilliseconds: wall)
  }
  func setTails(_ tails: [TaskID: [UInt8]]) { view.setTails(tails) }
  func setInner(_ inner: [TaskID: InnerRun]) { view.setInner(inner) }

  func giveKeysBack() {
    keys?.giveBack()
    view.setKeys(false)
  }

  // MARK: -

  func warning(_ text: String) { view.warning(text) }
  func note(_ text: String) { view.note(text) }
  func passage(_ text: String) { view.passage(text) }

  func resize() {
    if let (columns, rows) = Terminal.size(Terminal.standardError) {
      view.resize(TerminalSize(columns: columns, rows: rows))
    }
  }

  /// Does nothing while a task has the terminal.
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

  /// Lines from here on, instead of a live frame.
  func showLines() {
    leaveTerminal()
    view.showLines()
    nextTick = nil
  }

  /// Other processes may have used or resized the terminal.
  func returnToTerminal() {
    view.forgetScreen()
    resize()
  }

  /// Until `takeTerminalBack`, output for the terminal is buffered as for a blocked reader.
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
        view.setVisible(isForeground)
        // Not at the first tick, so that a very short run never takes the keyboard.
        if isForeground, nextTick.map({ $0 <= now }) ?? false { keys?.take() }
        if !isForeground { keys?.giveBack() }
        view.setKeys(keys?.isTaken ?? false)
      }
      if let due = nextTick, due <= now {
        // If the window has shrunk, a frame of the old height would leave rows above it.
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
    giveKeysBack()
    view.end(close, atMilliseconds: wall)
    isClosed = true
    nextTick = nil
  }

  /// Closes the view without a summary: another session follows.
  func passOn() {
    giveKeysBack()
    isClosed = true
    nextTick = nil
  }

  /// Writes the rest, as long as it is read. `atOnce`: the user wants to leave now. `isStopped`
  /// reads `signals`, which is readable after a signal.
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

  /// The run cannot continue.
  func giveUp() {
    isClosed = true
    leaveTerminal()
  }

  // MARK: Writing

  private func isWritten() -> Bool {
    write()
    return !view.hasStandardError && !view.hasStandardOutput && isIdle(errors) && isIdle(objects)
  }

  private func write() {
    // Logs in limited pieces, so that the caller is not held up.
    var pieces = 0
    hasMore = false
    while view.hasStandardError, !isHeld(errors), isIdle(errors) {
      if let log = view.wantedLog {
        hasMore = pieces == Self.mostPieces && !isClosed
        if hasMore { break }
        pieces += 1
        if errors.isOpen {
          readLog(log) { view.readLog($0) }
        } else {
          view.readLog(UnsafeRawBufferPointer(start: nil, count: 0))
        }
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

  /// nil if no thread can be started.
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
    // A reader that left wants no more. A file has no reader who would see that it is cut.
    if target === objects, error != .brokenPipe {
      view.warning("standard output cannot be written, --json ends here: \(error)")
    }
  }

  /// Returns whether `signals` became readable.
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

/// The keyboard, while a live view in the foreground owns it: input is unbuffered and not echoed.
/// The earlier modes are restored on every way out. All standard streams must be the terminal, and
/// a process in the background, stopped, or without the terminal (`TerminalLoan`) reads no keys.
final class ViewKeys {
  private let terminal: ControllingTerminal
  /// nil while the view does not own the keyboard.
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

  /// -1 while the view does not own the keyboard.
  var rawDescriptor: Int32 { isTaken ? terminal.rawValue : -1 }

  func take() {
    if isTaken || isGone { return }
    guard let foreground = try? terminal.foreground, foreground == ProcessGroup.own else { return }
    before = try? terminal.takeKeys()
  }

  func giveBack() {
    guard let modes = before else { return }
    before = nil
    // Another process in the foreground has set the modes itself.
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
