/// A way to show progress in lines that stay.
protocol ProgressRenderer {
  /// Whether it shows what a try printed when that has ended.
  var showsTails: Bool { get }

  /// Whether it shows all that a try printed when that has ended.
  var showsLogs: Bool { get }

  /// Whether it tells of what does not happen while tasks run.
  var tellsTime: Bool { get }

  /// Whether little else stays that it tells, so that each failure stands by the next.
  var tellsFailuresOnly: Bool { get }

  /// Whether orders that were obeyed are told.
  var tellsOrders: Bool { get }

  /// Whether it is told what further machines are waited for, and that they are there. What is lost is told by all.
  var tellsWaits: Bool { get }

  mutating func begin(_ model: DriveModel, into text: inout TextBuffer)

  /// A drive that goes on already was begun with: tells what runs, unless a frame does.
  mutating func join(
    _ model: DriveModel, atMilliseconds now: Int64, into text: inout TextBuffer)

  /// `kept`: the last bytes of output, where the transition ends a try.
  mutating func transition(
    _ transition: Transition, kept: [UInt8], _ model: DriveModel, into text: inout TextBuffer)

  /// A whole line of a running task.
  func outputLine(
    _ task: TaskID, _ line: UnsafeRawBufferPointer, _ model: DriveModel,
    into text: inout TextBuffer)

  /// Lines of a running task that are not shown.
  func skipped(
    _ task: TaskID, bytes: Int64, lines: Int?, _ model: DriveModel, into text: inout TextBuffer)

  /// A download has come further.
  mutating func download(
    _ running: DriveModel.RunningTask, _ progress: DownloadProgress, _ model: DriveModel,
    atMilliseconds now: Int64, into text: inout TextBuffer)

  /// Time has passed.
  ///
  /// - Parameter toldLines: all lines so far.
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

/// Tells what runs when nothing was told for a minute, so that a log that stands still is not taken for
/// a run that does.
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

  /// What runs, in a line.
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
