internal import OpflowCore
internal import OpflowSystem

/// Writes what the view of progress gives to standard error and standard output. A reader that
/// goes away ends the view, not the run.
struct ProgressOutput {
  private var view: ProgressView
  private var isErrorOpen = true
  private var isOutputOpen = true
  private var nextTick: Instant?
  /// The closing words are there, and wait for `end`.
  private var isClosed = false

  init(view: ProgressView) { self.view = view }

  var outputWish: OutputWish { view.outputWish }
  var nextWake: Instant? { nextTick }

  mutating func begin(atMilliseconds wall: Int64) { view.begin(atMilliseconds: wall) }
  mutating func transition(_ transition: Transition, atMilliseconds wall: Int64) {
    view.transition(transition, atMilliseconds: wall)
  }
  mutating func output(_ task: TaskID, _ bytes: UnsafeRawBufferPointer) {
    view.output(task, bytes)
  }
  mutating func warning(_ text: String) { view.warning(text) }

  mutating func download(
    _ task: TaskID, _ progress: DownloadProgress, atMilliseconds wall: Int64
  ) {
    view.download(task, progress, atMilliseconds: wall)
  }

  mutating func resize() {
    if let (columns, rows) = Terminal.size(Terminal.standardError) {
      view.resize(TerminalSize(columns: columns, rows: rows))
    }
  }

  /// Gives the terminal back before this process stops, or ends out of turn.
  mutating func leaveTerminal() {
    isErrorOpen = Self.write(view.takeErasure(), to: .error, isOpen: isErrorOpen)
  }

  /// Others may have written to the terminal, or changed its size.
  mutating func returnToTerminal() {
    view.forgetScreen()
    resize()
  }

  /// Draws anew where that is due, and writes all that has come together.
  mutating func flush(at now: Instant) {
    if isClosed { return }
    if let interval = view.tickMilliseconds {
      view.setVisible(Terminal.isForeground(Terminal.standardError))
      if let due = nextTick, due <= now { view.tick(nowMilliseconds: Clock.wallMilliseconds) }
      if nextTick.map({ $0 <= now }) ?? true {
        nextTick = now.advanced(byMilliseconds: interval)
      }
    } else {
      nextTick = nil
    }
    write()
  }

  /// Lays out the closing words, which `end` writes.
  mutating func close(_ close: CloseEntry, atMilliseconds wall: Int64) {
    view.end(close, atMilliseconds: wall)
    isClosed = true
    nextTick = nil
  }

  mutating func end() { write() }

  private mutating func write() {
    isErrorOpen = Self.write(
      view.takeStandardError(), to: .error, isOpen: isErrorOpen)
    isOutputOpen = Self.write(
      view.takeStandardOutput(), to: .output, isOpen: isOutputOpen)
  }

  /// Whether the reader is still there.
  private static func write(_ bytes: [UInt8], to stream: StandardStream, isOpen: Bool) -> Bool {
    guard isOpen, !bytes.isEmpty else { return isOpen }
    do throws(Errno) {
      try stream.writeAll(bytes)
      return true
    } catch {
      return false
    }
  }
}
