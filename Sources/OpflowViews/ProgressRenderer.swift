internal import OpflowCore

/// A way to print progress as lines that stay.
protocol ProgressRenderer {
  /// Whether it shows the last output of a try when that ends.
  var showsTails: Bool { get }

  /// Whether it shows the whole output of a try when that ends.
  var showsLogs: Bool { get }

  /// Whether it needs `tick` while tasks run, to report a silence.
  var tellsTime: Bool { get }

  /// Whether it prints little but failures, so that these stay close together.
  var tellsFailuresOnly: Bool { get }

  var tellsOrders: Bool { get }

  /// Whether it prints waits for nodes and how they end. All renderers print the loss of a node.
  var tellsWaits: Bool { get }

  mutating func begin(_ model: DriveModel, into text: inout TextBuffer)

  /// Lists the running tasks after a view joined a session, unless a frame shows them.
  mutating func join(
    _ model: DriveModel, atMilliseconds now: Int64, into text: inout TextBuffer)

  /// - Parameter kept: the last bytes of output if the transition ends a try.
  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: DriveModel, into text: inout TextBuffer)

  func outputLine(
    _ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: DriveModel,
    into text: inout TextBuffer)

  func skipped(
    _ task: TaskID, bytes: Int64, lines: Int?, _ model: DriveModel, into text: inout TextBuffer)

  mutating func download(
    _ running: DriveModel.RunningTask, _ progress: DownloadProgress, _ model: DriveModel,
    atMilliseconds now: Int64, into text: inout TextBuffer)

  /// - Parameter toldLines: the number of lines so far.
  mutating func tick(
    _ model: DriveModel, toldLines: Int, atMilliseconds now: Int64, into text: inout TextBuffer)
}

extension ProgressRenderer {
  var showsTails: Bool { false }
  var showsLogs: Bool { false }
  var tellsTime: Bool { false }
  var tellsFailuresOnly: Bool { false }
  var tellsOrders: Bool { true }
  var tellsWaits: Bool { true }

  func join(_ model: DriveModel, atMilliseconds now: Int64, into text: inout TextBuffer) {}

  func outputLine(
    _ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: DriveModel,
    into text: inout TextBuffer
  ) {}

  func skipped(
    _ task: TaskID, bytes: Int64, lines: Int?, _ model: DriveModel, into text: inout TextBuffer
  ) {}

  func download(
    _ running: DriveModel.RunningTask, _ progress: DownloadProgress, _ model: DriveModel,
    atMilliseconds now: Int64, into text: inout TextBuffer
  ) {}

  func tick(
    _ model: DriveModel, toldLines: Int, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {}
}

/// Lists the running tasks after a minute of silence, so that a quiet log does not look like a run
/// that hangs.
struct StillRunning {
  static let tickMilliseconds: Int64 = 1000

  private let palette: Palette
  private var toldLines = 0
  private var toldMilliseconds: Int64?

  private static let silenceMilliseconds: Int64 = 60_000
  private static let maxNames = 5

  init(palette: Palette) { self.palette = palette }

  mutating func tick(
    _ model: DriveModel, toldLines: Int, atMilliseconds now: Int64, into text: inout TextBuffer
  ) {
    let last = toldMilliseconds ?? model.beganMilliseconds
    if toldLines != self.toldLines || now < last {
      self.toldLines = toldLines
      toldMilliseconds = now
      return
    }
    guard now - last >= Self.silenceMilliseconds, !model.running.isEmpty else { return }
    toldMilliseconds = now
    self.toldLines = toldLines + 1
    tell(model, atMilliseconds: now, into: &text)
  }

  func tell(_ model: DriveModel, atMilliseconds now: Int64, into text: inout TextBuffer) {
    if model.running.isEmpty { return }
    let names = model.running.prefix(Self.maxNames).map { running in
      let elapsed = DurationText.text(milliseconds: now - running.startedMilliseconds)
      return "\(model.name(running.task)) (\(elapsed))"
    }
    text.add(palette.dim(TransitionLine.counter(model)))
    text.add(" still running: \(names.joined(separator: ", "))")
    if model.running.count > Self.maxNames {
      text.add(" and \(model.running.count - Self.maxNames) more")
    }
    text.endLine()
  }
}
