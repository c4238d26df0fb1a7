/// The progress of one drive of a run: transitions and output in, bytes for standard error and
/// standard output out. Pure; the caller writes `takeStandardError()` and `takeStandardOutput()`
/// whenever it likes, at least once a turn.
///
/// Order of calls: `begin`, then `transition`, `output`, `warning` and `tick` as things happen, `end`.
/// The output of a try is given before the transition that ends it.
package struct ProgressView {
  /// What is wanted of the tasks' output; fixed from the start.
  package let outputWish: OutputWish
  /// How often `tick` is wanted, in milliseconds; nil for never.
  package var tickMilliseconds: Int64? {
    if live != nil { return LiveView.frameMilliseconds }
    return renderer.ticks(model) ? Self.tickMilliseconds : nil
  }

  private var model: ProgressModel
  private var outputs: TaskOutputs
  private var renderer: any ProgressRenderer
  private var live: LiveView?
  /// The live view is over.
  private var hasEnded = false
  private let json: Bool
  private let palette: Palette
  /// Later tries whose output has not begun yet, by task.
  private var laterTries: [TaskID: Int32] = [:]
  private var standardError = TextBuffer()
  private var standardOutput = TextBuffer()

  /// Lines of output that a failure shows.
  static let failureLines = 20
  private static let tickMilliseconds: Int64 = 1000
  private static let failureBytes = 16_384
  private static let groupBytes = 1_048_576

  package init(options: ProgressOptions, plan: Plan, heading: ProgressHeading) {
    palette = Palette(isOn: options.color)
    model = ProgressModel(plan: plan, heading: heading)
    json = options.json
    var keptBytes = Self.failureBytes
    switch options.mode {
    case .line:
      renderer = LineProgress(palette: palette, isVerbose: options.verbose)
      outputWish = .whileRunning
    case .group:
      keptBytes = Self.groupBytes
      renderer = GroupProgress(palette: palette, isFolded: options.gitHubActions)
      outputWish = .atEnd(maxBytes: keptBytes)
    case .quiet:
      renderer = QuietProgress(palette: palette)
      outputWish = .onFailure(maxBytes: keptBytes)
    case .live:
      renderer = LiveProgress(palette: palette)
      live = LiveView(size: options.size, palette: palette)
      outputWish = .onFailure(maxBytes: keptBytes)
    }
    outputs = TaskOutputs(limit: keptBytes)
  }

  package mutating func begin(atMilliseconds now: Int64) {
    model.begin(atMilliseconds: now)
    live?.begin(atMilliseconds: now)
    renderer.begin(model, into: &standardError)
    if json { ProgressJSON.open(model, atMilliseconds: now, into: &standardOutput) }
  }

  package mutating func transition(_ transition: Transition, atMilliseconds now: Int64) {
    model.apply(transition, atMilliseconds: now)
    if json {
      ProgressJSON.transition(
        transition, plan: model.plan, atMilliseconds: now, into: &standardOutput)
    }
    if transition.event == .start, transition.attempt > 1 {
      laterTries[transition.task] = transition.attempt
    }
    let isEnd = transition.endsTry
    if isEnd {
      laterTries[transition.task] = nil
      outputs.flush(transition.task) { line in
        renderer.outputLine(transition.task, line, model, into: &standardError)
      }
    }
    let kept = isEnd ? outputs.take(transition.task) : []
    if transition.event == .failure, !transition.allowed {
      let tail = LastLines.of(kept, count: Self.failureLines)
      model.record(FailureRecord(transition: transition, tail: tail))
    }
    renderer.transition(transition, kept: kept, model, into: &standardError)
    live?.pass(toMilliseconds: now)
  }

  /// How far a running download is.
  package mutating func download(
    _ task: TaskID, _ progress: DownloadProgress, atMilliseconds now: Int64
  ) {
    guard let running = model.note(task, progress) else { return }
    renderer.download(running, progress, model, atMilliseconds: now, into: &standardError)
    live?.pass(toMilliseconds: now)
  }

  /// Output of a task's running try, in the order it was written, cut anywhere.
  package mutating func output(_ task: TaskID, _ bytes: UnsafeRawBufferPointer) {
    var bytes = bytes
    if !laterTries.isEmpty, let attempt = laterTries.removeValue(forKey: task) {
      bytes = AttemptHeader.dropped(from: bytes, attempt: attempt)
    }
    if outputWish == .whileRunning {
      outputs.appendLines(task, bytes) { line in
        renderer.outputLine(task, line, model, into: &standardError)
      }
    } else {
      outputs.append(task, bytes)
    }
  }

  package mutating func warning(_ text: String) {
    standardError.add(palette.yellow("warning: "))
    standardError.addCleaned(text)
    standardError.endLine()
  }

  /// Time has passed: a live view draws anew, and what did not happen is told.
  package mutating func tick(nowMilliseconds now: Int64) {
    renderer.tick(model, atMilliseconds: now, into: &standardError)
    live?.pass(toMilliseconds: now)
  }

  /// The terminal has another size.
  package mutating func resize(_ size: TerminalSize) { live?.size = size }

  /// Whether the terminal is this program's to draw on.
  package mutating func setVisible(_ visible: Bool) { live?.setVisible(visible) }

  /// Others have written to the terminal.
  package mutating func forgetScreen() { live?.forget() }

  /// Gives the terminal back, with what is still to be said; the next frame begins anew.
  package mutating func takeErasure() -> [UInt8] {
    let lasting = standardError.take()
    return live?.erase(lasting: lasting) ?? lasting
  }

  package mutating func end(_ close: CloseEntry, atMilliseconds now: Int64) {
    hasEnded = true
    ClosingSummary(model: model, palette: palette, namesLogs: live != nil)
      .write(close, atMilliseconds: now, into: &standardError)
    if json {
      ProgressJSON.close(close, model, atMilliseconds: now, into: &standardOutput)
    }
  }

  package mutating func takeStandardError() -> [UInt8] {
    if live == nil || hasEnded { return takeErasure() }
    return live?.take(lasting: standardError.take(), model) ?? []
  }

  package mutating func takeStandardOutput() -> [UInt8] { standardOutput.take() }
}

/// A way to show progress in lines that stay.
protocol ProgressRenderer {
  mutating func begin(_ model: ProgressModel, into text: inout TextBuffer)
  /// `kept`: the last bytes of output, where the transition ends a try.
  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: ProgressModel, into text: inout TextBuffer)
  /// A whole line of a running task.
  func outputLine(
    _ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: ProgressModel,
    into text: inout TextBuffer)
  /// A download has come further.
  mutating func download(
    _ running: ProgressModel.RunningTask, _ progress: DownloadProgress, _ model: ProgressModel,
    atMilliseconds now: Int64, into text: inout TextBuffer)
  /// Whether `tick` is wanted once a second.
  func ticks(_ model: ProgressModel) -> Bool
  mutating func tick(
    _ model: ProgressModel, atMilliseconds now: Int64, into text: inout TextBuffer)
}

extension ProgressRenderer {
  func ticks(_ model: ProgressModel) -> Bool { false }

  func tick(_ model: ProgressModel, atMilliseconds now: Int64, into text: inout TextBuffer) {}

  func outputLine(
    _ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: ProgressModel,
    into text: inout TextBuffer
  ) {}

  func download(
    _ running: ProgressModel.RunningTask, _ progress: DownloadProgress, _ model: ProgressModel,
    atMilliseconds now: Int64, into text: inout TextBuffer
  ) {}
}

extension Transition {
  /// Whether a try of the task is over with it.
  var endsTry: Bool {
    switch event {
    case .success, .failure, .retry, .cancel, .interrupt: true
    case .start, .skip, .pause, .proceed, .resume: false
    }
  }
}
