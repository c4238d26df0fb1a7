internal import OpflowEngine
package import OpflowJournal
package import OpflowPlan
package import OpflowWire

/// The live part of a progress view: decides when to draw a frame, and with what.
package struct LiveView {
  static let frameMilliseconds: Int64 = 100
  private static let forecastMilliseconds: Int64 = 1000
  private static let saysMilliseconds: Int64 = 500
  private static let lineBytes = 1024
  private static let tailBytes = 4096
  private static let pageBytes = 16_384

  private var screen: LiveScreen
  private let palette: Palette
  private let signals: TerminalSignals
  private var durations: TaskDurations
  private let heading: ProgressHeading
  /// False while another program owns the terminal.
  private var isVisible = true
  /// The time of the last frame or the session's begin: a very short run does not draw a frame.
  private var lastMilliseconds: Int64 = 0
  private var nowMilliseconds: Int64 = 0
  private var isDrawn = false
  private var isDue = false
  private(set) var keys: LiveKeys?
  package var tails: [TaskID: [UInt8]] = [:]
  package var inner: [TaskID: InnerRun] = [:]
  /// Made for the first frame, and again after requests that change the remaining work.
  private var rest: RestForecast?
  private var isStale = false
  private var left = ""
  private var forecastAt: Int64?
  private var told = ""

  init(options: ProgressOptions, heading: ProgressHeading) {
    screen = LiveScreen(size: options.size)
    palette = Palette(isOn: options.color)
    signals = options.signals
    durations = heading.durations
    self.heading = heading
  }

  var size: TerminalSize {
    get { screen.size }
    set { screen.size = newValue }
  }

  // MARK: - Time

  mutating func begin(atMilliseconds now: Int64) {
    lastMilliseconds = now
    nowMilliseconds = now
  }

  mutating func pass(toMilliseconds now: Int64) {
    nowMilliseconds = now
    if !isResting { isDue = true }
  }

  /// The last frame is still recent. A clock that was set back must not stop the view.
  private var isResting: Bool {
    nowMilliseconds >= lastMilliseconds
      && nowMilliseconds - lastMilliseconds < Self.frameMilliseconds
  }

  package mutating func setVisible(_ visible: Bool) {
    if visible != isVisible { isDue = true }
    isVisible = visible
  }

  /// The terminal no longer shows the frame.
  package mutating func forget() {
    screen.forget()
    told = ""
    isDue = isDrawn
  }

  private mutating func hurry() { isDue = isVisible }

  var hasFrame: Bool { isDue }

  var holdsLines: Bool { isDrawn && !isDue && isResting }

  // MARK: - Events

  mutating func move(_ transition: Transition, from old: TaskState, _ model: SessionModel) {
    guard !transition.task.isNone, rest != nil else { return }
    let new = model.state(transition.task)
    if old == new { return }
    let wall = new == .succeeded ? transition.outcome.usage.wallMicroseconds : 0
    rest?.move(transition.task, from: old, to: new, wallMicroseconds: wall)
  }

  /// A request may have changed any number of tasks.
  mutating func noteRequest() { isStale = true }

  mutating func grow() { rest = nil }

  // MARK: - Frames

  /// Returns the bytes of one write: lasting text, and below it the frame if one is due.
  mutating func take(lasting: [UInt8], _ model: SessionModel) -> [UInt8] {
    if lasting.isEmpty, !isDue { return [] }
    var frame: [StyledLine] = []
    if isVisible, isDue || isDrawn {
      forecast(model)
      var plain = LiveFrame(model: model, size: screen.size, nowMilliseconds: nowMilliseconds)
      let rest = rest
      plain.expected = { rest?.expectedMicroseconds($0).map { $0 / 1000 } }
      plain.isEnding = isEnding(model)
      plain.left = plain.isEnding ? "" : left
      plain.tails = tails
      plain.inner = inner
      frame = keys.map { LivePanel(keys: $0, frame: plain, tails: tails).lines } ?? plain.lines
      lastMilliseconds = nowMilliseconds
    }
    let state = frame.isEmpty ? told : signals.progress(model)
    let signal = state == told ? "" : state
    told = state
    return write(lasting, frame, signal)
  }

  mutating func erase(lasting: [UInt8]) -> [UInt8] {
    let signal = told.isEmpty ? "" : signals.noProgress
    told = ""
    return write(lasting, [], signal)
  }

  private mutating func write(
    _ lasting: [UInt8], _ frame: [StyledLine], _ signal: String
  ) -> [UInt8] {
    var text = TextBuffer()
    let lasting = WrappedLines.text(lasting, columns: size.columns)
    screen.write(lasting: lasting, frame: frame, signal: signal, palette: palette, into: &text)
    isDrawn = !frame.isEmpty
    isDue = false
    return text.take()
  }

  // MARK: - Forecast

  private mutating func forecast(_ model: SessionModel) {
    guard durations.areKnown, heading.capacities.count == model.plan.resources.count else { return }
    if let last = forecastAt, nowMilliseconds >= last,
      nowMilliseconds - last < Self.forecastMilliseconds
    {
      return
    }
    forecastAt = nowMilliseconds
    if rest == nil || isStale {
      durations.grow(to: model.plan)
      rest = RestForecast(plan: model.plan, durations: durations, capacities: heading.capacities) {
        model.isOpen($0) ? model.state($0) : nil
      }
      isStale = false
    }
    left = isWaiting(model) ? "" : range(model).map { TimeLeft.text(milliseconds: $0) } ?? ""
  }

  /// A part of the rest will not run, or waits for an unknown time.
  private func isWaiting(_ model: SessionModel) -> Bool {
    model.isStopped || model.requests.pausedBy != nil || isEnding(model)
      || !model.running.isEmpty && model.running.allSatisfy { isHeld($0.task, model) }
  }

  /// Only `finally` tasks still start.
  private func isEnding(_ model: SessionModel) -> Bool {
    model.requests.stoppedBy != nil || model.requests.stopSignal != nil
      || heading.maxFailures > 0 && model.counts.failed >= heading.maxFailures
  }

  private func isHeld(_ task: TaskID, _ model: SessionModel) -> Bool {
    model.isSuspended(task) || model.plan.kind(task) == .approve
  }

  private mutating func range(_ model: SessionModel) -> ClosedRange<Int64>? {
    let running = model.running.filter { !isHeld($0.task, model) }.map {
      RestForecast.Running(
        task: $0.task, elapsedMilliseconds: max(0, nowMilliseconds - $0.startedMilliseconds))
    }
    return rest?.range(running) { resource in
      if resource == Int(ResourceEntry.cpu), model.machines.areThere {
        return max(1, model.machines.coresInUse)
      }
      let name = model.plan.string(model.plan.resources[resource].name)
      return model.requests.capacity(name).map { UInt64(clamping: $0.carried.number ?? 0) }
    }
  }

  // MARK: - Keys

  package mutating func setKeys(_ isOn: Bool) {
    if isOn == (keys != nil) { return }
    keys = isOn ? LiveKeys() : nil
    tails = [:]
    hurry()
  }

  mutating func type(_ typed: [UInt8], _ model: SessionModel) -> [LiveKeys.Action] {
    guard var keys else { return [] }
    defer {
      self.keys = keys
      hurry()
    }
    let mode = keys.mode
    let actions = keys.type(typed, model, parallel: heading.parallel)
    if keys.mode != mode { tails = [:] }
    return actions
  }

  package mutating func ask(_ request: ClientRequest) { keys?.ask(request) }

  package mutating func tell(_ message: String, of request: ClientRequest? = nil) {
    keys?.tell(message, of: request)
    hurry()
  }

  // MARK: - Output

  func wantedTails(_ model: SessionModel, atMilliseconds now: Int64) -> (
    tasks: [TaskID], bytes: Int
  ) {
    let running = model.running.prefix(min(LiveFrame.mostTasks, size.rows / 2))
    switch keys?.mode {
    case .following(let task): return ([task], Self.pageBytes)
    case .tails: return (running.map(\.task), Self.tailBytes)
    case nil, .plain, .choosing, .confirming:
      if size.columns < Self.leastColumns { return ([], 0) }
      let tasks = running.filter {
        let flags = model.plan.flags($0.task)
        return model.plan.kind($0.task) != .approve && $0.download == nil
          && !flags.contains(.interactive) && now - $0.startedMilliseconds >= Self.saysMilliseconds
      }
      return (tasks.map(\.task), Self.lineBytes)
    case .help: return ([], 0)
    }
  }

  private static let leastColumns = 32
}

/// Draws a frame at the bottom of a terminal over the last one, below text that stays.
///
/// The cursor rests at the start of the frame's first line. It stays there when the window's width
/// changes, whether or not the terminal rewraps the lines, so erasing from the cursor (ECMA-48, ED)
/// removes exactly the frame.
///
/// Each write is one update for terminals with DEC mode 2026; others ignore it. If the last frame
/// has not moved, its lines are overwritten in place, and only the excess is erased (EL, ED). The
/// cursor is hidden (DECTCEM) while it moves. Lines do not wrap (DECAWM) while a frame is drawn:
/// the window may already be narrower than its last known size.
struct LiveScreen {
  var size: TerminalSize {
    didSet { if size != oldValue { isMoved = true } }
  }
  private var shown: [StyledLine] = []
  private var isMoved = false

  init(size: TerminalSize) { self.size = size }

  /// `lasting` has whole lines. `signal` is a sequence that neither moves the cursor nor prints.
  mutating func write(
    lasting: [UInt8], frame: [StyledLine], signal: String = "", palette: Palette,
    into text: inout TextBuffer
  ) {
    text.add(signal)
    if shown.isEmpty, frame.isEmpty {
      text.add(lasting)
      return
    }
    if lasting.isEmpty, !isMoved, frame == shown { return }
    text.add("\u{1b}[?2026h\u{1b}[?25l")
    // The echo of a key may have moved the cursor.
    if !shown.isEmpty { text.add("\r") }
    let isErased = !lasting.isEmpty || frame.isEmpty || isMoved
    if isErased { text.add(Self.eraseBelow) }
    text.add(lasting)
    if !frame.isEmpty { draw(frame, palette, isErased: isErased, into: &text) }
    text.add("\u{1b}[?25h\u{1b}[?2026l")
    shown = frame
    isMoved = false
  }

  /// Erases from the start of a line to the end of the screen (ED). ED starts in the second column:
  /// in the first column of the top line, tmux clears the screen instead and moves the frame into
  /// the scrollback.
  private static let eraseBelow = "\u{1b}[K\u{1b}[C\u{1b}[J\r"

  private func draw(
    _ frame: [StyledLine], _ palette: Palette, isErased: Bool, into text: inout TextBuffer
  ) {
    text.add("\u{1b}[?7l")
    for (index, line) in frame.enumerated() {
      if index > 0 { text.endLine() }
      text.add(line.text(palette))
      if !isErased { text.add("\u{1b}[K") }
    }
    if !isErased, frame.count < shown.count { text.add("\u{1b}[J") }
    text.add("\u{1b}[?7h\r")
    if frame.count > 1 { text.add("\u{1b}[\(frame.count - 1)A") }
  }

  mutating func forget() { shown = [] }
}
