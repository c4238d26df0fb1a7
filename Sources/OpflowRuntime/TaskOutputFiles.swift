internal import OpflowCore
internal import OpflowSystem

/// Reads the logs of running tasks for the view of progress. Workers write them; a silent task has
/// none.
struct TaskOutputFiles {
  private let folder: RunFolder
  private let plan: Plan
  private var running: [TaskID: OpenLog] = [:]
  private var nextLook: Instant?
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 65_536, alignment: 16)

  /// Between two looks at the logs of running tasks.
  private static let lookMilliseconds: Int64 = 100

  private final class OpenLog {
    var file: Descriptor?
    /// Read so far.
    var offset: Int64
    init(offset: Int64) { self.offset = offset }
  }

  init(folder: RunFolder, plan: Plan) {
    self.folder = folder
    self.plan = plan
  }

  typealias Sink = (TaskID, UnsafeRawBufferPointer) -> Void

  /// A try starts: what is in the log already belongs to others.
  mutating func begin(_ task: TaskID, attempt: Int32) {
    var offset: Int64 = 0
    if attempt > 1, let status = try? Path.status(path(task)) { offset = status.sizeBytes }
    running[task] = OpenLog(offset: offset)
  }

  /// A try ended: gives what the view wants of it and has not had.
  mutating func end(_ transition: Transition, _ wish: OutputWish, _ sink: Sink) {
    guard let log = running.removeValue(forKey: transition.task),
      transition.outcome.usage.outputBytes > 0
    else { return }
    switch wish {
    case .whileRunning: break
    case .atEnd(let maxBytes): skip(log, transition.task, toLast: maxBytes)
    case .onFailure(let maxBytes):
      guard transition.event == .failure || transition.event == .retry else { return }
      skip(log, transition.task, toLast: maxBytes)
    }
    read(log, transition.task, sink)
  }

  /// Gives what came since the last look, at most every tenth of a second.
  mutating func follow(_ wish: OutputWish, at now: Instant, _ sink: Sink) {
    guard wish == .whileRunning, !running.isEmpty else {
      nextLook = nil
      return
    }
    if let due = nextLook {
      guard due <= now else { return }
      for (task, log) in running { read(log, task, sink) }
    }
    nextLook = now.advanced(byMilliseconds: Self.lookMilliseconds)
  }

  func nextWake(_ wish: OutputWish) -> Instant? { nextLook }

  private func path(_ task: TaskID) -> String { folder.log(of: task, in: plan) }

  private func open(_ log: OpenLog, _ task: TaskID) {
    guard log.file == nil else { return }
    // A log that is not there yet, or cannot be read, shows nothing; the task itself is unharmed.
    log.file = try? File.open(path(task), [.readOnly, .noFollow])
  }

  private func skip(_ log: OpenLog, _ task: TaskID, toLast maxBytes: Int) {
    open(log, task)
    guard let size = try? log.file?.status().sizeBytes else { return }
    log.offset = max(log.offset, size - Int64(maxBytes))
  }

  private func read(_ log: OpenLog, _ task: TaskID, _ sink: Sink) {
    open(log, task)
    guard log.file != nil else { return }
    while let count = try? log.file?.read(into: buffer, at: log.offset), count > 0 {
      log.offset += Int64(count)
      sink(task, UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
  }
}
