internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

struct ShownLogs {
  private let folder: RunFolder
  private var plan: Plan
  private let logs: RunLogs
  private var view: LogView
  private var tails: [TaskID: LogTail] = [:]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ run: borrowing ReadRun, labels: LogView.Labels, color: Bool) {
    folder = run.folder
    plan = run.plan
    logs = RunLogs(run.folder)
    view = LogView(plan: run.plan, labels: labels, color: color)
  }

  mutating func grow(to plan: Plan, labels: LogView.Labels) {
    self.plan = plan
    view.grow(to: plan, labels: labels)
  }

  /// Whether the task had printed something at the start.
  func exists(_ task: TaskID) -> Bool { logs.path(of: task, in: plan) != nil }

  /// In pieces: a log may exceed memory.
  mutating func show(_ task: TaskID) throws(CommandError) {
    var tail =
      tails[task]
      ?? LogTail(path: "\(folder.logs)/\(LogName.of(plan.nameBytes(task)))")
    while try read(&tail, of: task) { try Console.write(view.takeText()) }
    tails[task] = tail
  }

  /// Ends a last line without newline.
  mutating func end(_ task: TaskID) throws(CommandError) {
    view.end(task)
    tails[task] = nil
    try Console.write(view.takeText())
  }

  private mutating func read(_ tail: inout LogTail, of task: TaskID) throws(CommandError) -> Bool {
    do throws(Errno) {
      return try buffer.withUnsafeMutableBufferPointer { buffer throws(Errno) -> Bool in
        try tail.read(into: UnsafeMutableRawBufferPointer(buffer), limit: 1) {
          view.append(task, $0)
        }
      }
    } catch {
      throw CommandError(.io, "cannot read \(tail.path)", error)
    }
  }
}
