internal import OpflowCore
internal import OpflowSystem

/// Hands what the view of progress gives to threads that write it to standard error and standard
/// output, so that nobody who reads there holds the run. A reader that goes away ends the view, not
/// the run; of one that does not read, the view waits in its bounds.
final class ProgressOutput {
  private var view: ProgressView
  private let notice: EventDescriptor
  private let errors = ViewStream(.error)
  private let objects = ViewStream(.output)
  /// Nil where nobody can press any.
  private let keys: ViewKeys?
  private var nextTick: Instant?
  /// A task has the terminal.
  private var isLent = false
  /// The closing words are there, and wait for `end`.
  private var isClosed = false

  /// What has not been read in the end is given so long.
  private static let patienceMilliseconds: Int64 = 1000
  /// A terminal more: its reader may take some 20 KB from it before that is seen here.
  private static let terminalPatienceMilliseconds: Int64 = 3000
  /// Then what tasks printed is left out, for the sake of the rest.
  private static let outputPatienceMilliseconds: Int64 = 500
  /// A reader of `--json` that goes on reading is given more.
  private static let mostPatienceMilliseconds: Int64 = 10_000
  /// Who goes on reading what is told is given more, too: a slow line is no reason to lose the last words.
  private static let mostOutputPatienceMilliseconds: Int64 = 60_000
  /// Of 32 KiB each.
  private static let mostPieces = 32
  /// Where nothing is to wait: what one write takes to somebody who reads.
  private static let leastPatienceMilliseconds: Int64 = 200

  private final class ViewStream {
    let stream: StandardStream
    /// Somebody may still read.
    var isOpen = true
    /// Made when there is something to write for the first time.
    var writer: StreamWriter?
    /// A thread costs more than the one line of a quiet run, so there is none where nothing waits.
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

  /// Readable when more can be written; call `takeNotice` and `flush` then.
  var rawDescriptor: Int32 { notice.rawValue }

  var isLive: Bool { view.isLive }
  /// Somebody may read what it writes.
  var isRead: Bool { errors.isOpen }
  var followsOutput: Bool { view.followsOutput && errors.isOpen }
  var outputRoom: Int { view.outputRoom }
  var nextWake: Instant? { hasMore && !isClosed ? Instant(nanoseconds: 0) : nextTick }

  /// Reads a piece of a log that is shown as a whole.
  var readLog: (LogRange, (UnsafeRawBufferPointer) -> Void) -> Void = {
    $1(UnsafeRawBufferPointer(start: nil, count: 0))
  }
  /// More of one could be written at once.
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
  /// The drive goes on already.
  ///
  /// - Parameter last: gives the last bytes that a task has printed.
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
  func transition(_ transition: Transition, atMilliseconds wall: Int64) {
    view.transition(transition, atMilliseconds: wall)
  }
  func take(_ piece: TaskOutputFiles.Piece, of task: TaskID) {
    switch piece {
    case .bytes(let bytes):
      view.output(task, bytes)
      // Who reads at once makes room for what follows.
      write()
    case .skipped(let bytes, let lines): view.skipped(task, bytes: bytes, lines: lines)
    case .tail(let bytes): view.tail(bytes)
    // Belongs to a transition.
    case .log: break
    }
  }
  func order(_ order: OrderEntry, atMilliseconds wall: Int64) {
    view.order(order, atMilliseconds: wall)
  }

  func extend(
    _ entry: ExtendEntry, plan: Plan, initial: [InitialState], atMilliseconds wall: Int64
  ) {
    view.extend(entry, plan: plan, initial: initial, atMilliseconds: wall)
  }

  func withdraw(_ entry: WithdrawEntry, plan: Plan, atMilliseconds wall: Int64) {
    view.withdraw(entry, plan: plan, atMilliseconds: wall)
  }

  func takeBack(_ order: OrderEntry) { view.takeBack(order) }

  func stop(_ stop: StopEntry, atMilliseconds wall: Int64) {
    view.stop(stop, atMilliseconds: wall)
  }

  func site(_ entry: SiteEntry, atMilliseconds wall: Int64) {
    view.site(entry, atMilliseconds: wall)
  }
  func worker(_ entry: WorkerEntry) { view.worker(entry) }
  func wait(_ place: Int, for what: String?, isNews: Bool, atMilliseconds wall: Int64) {
    view.wait(place, for: what, isNews: isNews, atMilliseconds: wall)
  }
  func endWait(_ place: Int, _ came: String, atMilliseconds wall: Int64) {
    view.endWait(place, came, atMilliseconds: wall)
  }

  // MARK: Keys

  /// Readable when somebody has pressed a key; -1 while that is not to be looked at.
  var keyDescriptor: Int32 { keys?.rawDescriptor ?? -1 }

  /// What is to be done by the keys that were pressed.
  func takeKeys() -> [LiveKeys.Action] {
    guard let typed = keys?.read(), !typed.isEmpty else { return [] }
    return view.type(typed)
  }

  /// What a key asked for is on its way.
  func askByKey(_ request: OrderRequest) { view.ask(request) }
  func tellKey(_ message: String, of request: OrderRequest? = nil) {
    view.tellKey(message, of: request)
  }
  func wantedTails(atMilliseconds wall: Int64) -> (tasks: [TaskID], bytes: Int) {
    view.wantedTails(atMilliseconds: wall)
  }
  func setTails(_ tails: [TaskID: [UInt8]]) { view.setTails(tails) }
  func setInner(_ inner: [TaskID: InnerRun]) { view.setInner(inner) }

  /// The keyboard is for others from here on.
  func giveKeysBack() {
    keys?.giveBack()
    view.setKeys(false)
  }

  // MARK: -

  func warning(_ text: String) { view.warning(text) }
  func note(_ text: String) { view.note(text) }
  func passage(_ text: String) { view.passage(text) }

  func download(
    _ task: TaskID, _ progress: DownloadProgress, atMilliseconds wall: Int64
  ) {
    view.download(task, progress, atMilliseconds: wall)
  }

  func resize() {
    if let (columns, rows) = Terminal.size(Terminal.standardError) {
      view.resize(TerminalSize(columns: columns, rows: rows))
    }
  }

  /// Gives the terminal back before this process stops. One that is held stays as it is.
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

  /// Tells in lines from here on what a live view drew.
  func showLines() {
    leaveTerminal()
    view.showLines()
    nextTick = nil
  }

  /// Others may have written to the terminal, or changed its size.
  func returnToTerminal() {
    view.forgetScreen()
    resize()
  }

  /// Says what there is to say. From then on what comes waits, in the bounds of what nobody reads, as
  /// far as the terminal would show it.
  func lendTerminal() {
    write()
    leaveTerminal()
    isLent = true
  }

  /// The terminal is this process's again.
  func takeTerminalBack() {
    isLent = false
    if view.isLive { beginLine() }
    returnToTerminal()
  }

  /// Goes on to the next line, unless the cursor is at the beginning of one: nobody can ask where it is,
  /// but so many blanks wrap just if it is not.
  private func beginLine() {
    guard let (columns, _) = Terminal.size(Terminal.standardError), isIdle(errors) else { return }
    put(Array(String(repeating: " ", count: columns).utf8) + [Field.carriageReturn], to: errors)
  }

  private func isHeld(_ target: ViewStream) -> Bool { isLent && target.isTerminal }

  func takeNotice() {
    // Nothing is lost with it: it only says that it is time to look.
    _ = try? notice.take()
  }

  /// Draws anew where that is due, and hands on what has come together.
  func flush(at now: Instant) {
    if isClosed { return }
    if let interval = view.tickMilliseconds, !isHeld(errors) {
      if view.isLive {
        let isForeground = Terminal.isForeground(Terminal.standardError)
        view.setVisible(isForeground)
        // Not of a run that is over at once.
        if isForeground, nextTick.map({ $0 <= now }) ?? false { keys?.take() }
        if !isForeground { keys?.giveBack() }
        view.setKeys(keys?.isTaken ?? false)
      }
      if let due = nextTick, due <= now {
        // A frame that is higher than the window by now would leave rows behind, above it.
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

  /// Lays out the closing words, which `end` writes.
  func close(_ close: CloseEntry, atMilliseconds wall: Int64) {
    giveKeysBack()
    view.end(close, atMilliseconds: wall)
    isClosed = true
    nextTick = nil
  }

  /// Another drive follows, which tells how all ends. No frame is drawn of one that only serves.
  func passOn() {
    giveKeysBack()
    isClosed = true
    nextTick = nil
  }

  /// Writes what is left, as far as somebody reads it.
  ///
  /// - Parameters:
  ///   - atOnce: a person wants an end of it.
  ///   - signals: readable when a person may want that now; then `isStopped` tells.
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

  /// The run cannot go on: clears the terminal and says what is left to say.
  func giveUp() {
    isClosed = true
    leaveTerminal()
  }

  // MARK: Writing

  /// Hands on what can be; whether all is written.
  private func isWritten() -> Bool {
    write()
    return !view.hasStandardError && !view.hasStandardOutput && isIdle(errors) && isIdle(objects)
  }

  private func write() {
    // Until nothing is left, or the notice was asked for; and of logs no more than holds nobody.
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

  /// Whether more can be handed on; where not, the notice comes when it can.
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

  /// Nil where no thread can be had.
  private func writer(of target: ViewStream) throws(Errno) -> StreamWriter? {
    if let writer = target.writer { return writer }
    let other = target === errors ? objects : errors
    // One for both streams where they are one file, so that their lines are not mixed.
    if let writer = other.writer, target.stream.isSameFile(as: other.stream) {
      target.writer = writer
    } else {
      target.writer = try? StreamWriter(notifying: notice)
    }
    return target.writer
  }

  /// Nothing more can be written there.
  private func end(_ target: ViewStream, _ error: Errno) {
    target.isOpen = false
    // A reader that went away wanted no more. Who reads a file is not there to see that it is cut.
    if target === objects, error != .brokenPipe {
      view.warning("standard output cannot be written, --json ends here: \(error)")
    }
  }

  /// Waits for the notice, or for `signals`; whether those came.
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
