import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow logs`: what tasks printed.
enum LogsCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let (run, words) = try find(arguments)
    let tasks = try tasks(words, run.plan)
    if arguments.follows, run.isHeld {
      var follower = LogFollower(
        run, tasks, endsWithTasks: !words.isEmpty, color: console.colorsOutput)
      try follower.follow()
    } else {
      var shown = ShownLogs(
        run, labels: tasks.count > 1 ? .headers : .none, color: console.colorsOutput)
      for task in tasks where shown.exists(task) {
        try shown.show(task)
        try shown.end(task)
      }
    }
    return ExitCode.success.rawValue
  }

  /// The run, and the words that name tasks of it. A word that is no task may name the run, as that
  /// of `status`.
  private static func find(
    _ arguments: Invocation
  ) throws(CommandError) -> (run: ReadRun, words: [String]) {
    if arguments.run != nil || arguments.tasks.isEmpty {
      return (try read(RunLookup.run(arguments.run, arguments.view)), arguments.tasks)
    }
    let newest: ReadRun?
    var complaint: CommandError?
    do throws(CommandError) {
      newest = try read(RunLookup.run(nil, arguments.view))
    } catch {
      (newest, complaint) = (nil, error)
    }
    for (index, word) in arguments.tasks.enumerated() {
      if let newest, (try? Selector.tasks([word], of: newest.plan)) != nil { continue }
      if let folder = try RunLookup.namedRun(word, arguments.view) {
        var others = arguments.tasks
        others.remove(at: index)
        return (try read(folder), others)
      }
    }
    guard let newest else { throw complaint ?? CommandError(.internal, "no run was looked for") }
    return (newest, arguments.tasks)
  }

  private static func read(_ folder: RunFolder) throws(CommandError) -> ReadRun {
    try RunLookup.reading { () throws(RunFolderError) in try ReadRun(folder) }
  }

  private static func tasks(
    _ selectors: [String], _ plan: Plan
  ) throws(CommandError) -> [TaskID] {
    let all = plan.tasks.map { TaskID($0) }
    if selectors.isEmpty { return all }
    do throws(UnfitSelector) {
      let set = try Selector.tasks(selectors, of: plan)
      return all.filter { set.contains($0) }
    } catch {
      throw CommandError(
        .usage, error.message(of: "logs") + (error.nearest == nil ? ", and no run is named so" : "")
      )
    }
  }
}

/// Logs on their way to standard output.
struct ShownLogs {
  private let run: ReadRun
  private let logs: RunLogs
  private var view: LogView
  private var tails: [TaskID: LogTail] = [:]
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ run: ReadRun, labels: LogView.Labels, color: Bool) {
    self.run = run
    logs = RunLogs(run.folder)
    view = LogView(plan: run.plan, labels: labels, color: color)
  }

  /// Whether the task had printed something when this began.
  func exists(_ task: TaskID) -> Bool { logs.path(of: task, in: run.plan) != nil }

  /// Shows what the task printed since the last call, piece by piece: a log may be larger than
  /// memory.
  mutating func show(_ task: TaskID) throws(CommandError) {
    var tail =
      tails[task]
      ?? LogTail(path: "\(run.folder.logs)/\(LogName.of(run.plan.nameBytes(task)))")
    while try read(&tail, of: task) { try Console.write(view.takeText()) }
    tails[task] = tail
  }

  /// Shows a last line that has no line feed.
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
