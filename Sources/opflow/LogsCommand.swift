internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

enum LogsCommand {
  static func perform(_ arguments: Invocation) throws(CommandError) -> Int32 {
    let console = try Console.enter(arguments.view)
    let (run, words) = try find(arguments)
    let tasks = try tasks(words, run, arguments)
    if arguments.follows, run.isHeld {
      try OwnRun.refuseToAwait(
        run.folder, tasks: words.isEmpty ? nil : tasks, of: run.plan,
        "following its own output")
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
      if !words.isEmpty {
        explain(tasks.filter { !shown.exists($0) }, of: tasks.count, run, arguments)
      }
    }
    return ExitCode.success.rawValue
  }

  /// Prints why the named tasks have no output.
  private static func explain(
    _ silent: [TaskID], of count: Int, _ run: borrowing ReadRun, _ arguments: Invocation
  ) {
    let plan = run.plan
    let interactive = silent.filter { plan.flags($0).contains(.interactive) }
    for task in interactive {
      let name = CleanText.string(plan.nameString(task))
      Console.complain(
        "opflow: \(name) is interactive: its output went to the terminal, not to a log\n")
    }
    guard silent.count == count else { return }
    if let newer = RunLookup.newer(than: run.folder, arguments) {
      Console.complain("opflow: logs: no output (\(newer))\n")
    } else if interactive.isEmpty, let first = silent.first {
      let name = QuotedWords.quoted(CleanText.string(plan.nameString(first)))
      Console.complain(
        "opflow: logs: no output; `opflow why \(name)` shows the state of the task\n")
    }
  }

  /// A word that is not a task may name the run.
  private static func find(
    _ arguments: Invocation
  ) throws(CommandError) -> (run: ReadRun, words: [String]) {
    if arguments.run != nil || arguments.tasks.isEmpty {
      return (try read(RunLookup.run(arguments.run, arguments.view)), arguments.tasks)
    }
    let byDefault: ReadRun?
    var complaint: CommandError?
    do throws(CommandError) {
      byDefault = try read(RunLookup.run(nil, arguments.view))
    } catch {
      (byDefault, complaint) = (nil, error)
    }
    for (index, word) in arguments.tasks.enumerated() {
      if let byDefault, (try? Selector.tasks([word], of: byDefault.plan)) != nil { continue }
      if let folder = try RunLookup.namedRun(word, arguments.view) {
        var others = arguments.tasks
        others.remove(at: index)
        return (try read(folder), others)
      }
    }
    guard let run = byDefault else {
      throw complaint ?? CommandError(.internal, "bug in opflow: it looked for no run")
    }
    return (run, arguments.tasks)
  }

  private static func read(_ folder: RunFolder) throws(CommandError) -> ReadRun {
    try RunLookup.reading(ReadRun(folder))
  }

  private static func tasks(
    _ selectors: [String], _ run: ReadRun, _ arguments: Invocation
  ) throws(CommandError) -> [TaskID] {
    let plan = run.plan
    let all = plan.tasks.map { TaskID($0) }
    if selectors.isEmpty { return all }
    do throws(UnfitSelector) {
      let set = try Selector.tasks(selectors, of: plan)
      return all.filter { set.contains($0) }
    } catch {
      throw RunLookup.complaint(
        "logs: \(error.message("no task or run"))", ofDefault: run.folder, arguments)
    }
  }
}

/// `opflow logs -f`: shows growing logs until the run or the named tasks end; without names, also
/// of added tasks. It checks at most ten times a second, and at least every two seconds for runs
/// that die and file systems without change events.
struct LogFollower: ~Copyable {
  private let folder: RunFolder
  private var journal: FollowedJournal
  private var open: [TaskID]
  private var begun: [TaskID] = []
  private var isFirst = true
  private let endsWithTasks: Bool
  private var taskCount: Int
  private var shown: ShownLogs

  /// nil if the system has no watch left.
  private var watch: FolderWatch?

  private static let pauseNanoseconds: Int64 = 100_000_000
  private static let patienceNanoseconds: Int64 = 2_000_000_000

  init(_ run: consuming ReadRun, _ tasks: [TaskID], endsWithTasks: Bool, color: Bool) {
    folder = run.folder
    journal = run.journal
    open = tasks
    self.endsWithTasks = endsWithTasks
    taskCount = run.plan.taskCount
    shown = ShownLogs(run, labels: tasks.count > 1 ? .prefixes : .none, color: color)
    watch = try? FolderWatch([run.folder.path, run.folder.logs])
  }

  mutating func follow() throws(CommandError) {
    var isLive = true
    while isLive, !(endsWithTasks && open.isEmpty) {
      let began = Clock.monotonicNanoseconds
      isLive = try showMore()
      // A run of a million tasks must not occupy a processor.
      let pause = max(Self.pauseNanoseconds, 9 * (Clock.monotonicNanoseconds - began))
      if isLive { try wait(pause) }
    }
  }

  private mutating func showMore() throws(CommandError) -> Bool {
    let (isLive, isNew) = try look()
    takeAdded()
    defer { isFirst = false }
    if isNew || isFirst {
      try showAll(isLive)
    } else {
      for task in begun { try shown.show(task) }
    }
    return isLive
  }

  private mutating func takeAdded() {
    let plan = journal.plan
    guard plan.taskCount > taskCount, !endsWithTasks else { return }
    open += plan.tasks.dropFirst(taskCount).map { TaskID($0) }
    taskCount = plan.taskCount
    shown.grow(to: plan, labels: .prefixes)
  }

  private mutating func look() throws(CommandError) -> (isLive: Bool, isNew: Bool) {
    do throws(RunFolderError) {
      if try RunFolderLock.isHeld(folder) { return (true, try journal.look()) }
      try journal.lookToEnd()
      return (false, true)
    } catch {
      throw CommandError(error)
    }
  }

  private mutating func showAll(_ isLive: Bool) throws(CommandError) {
    // A task's end is journaled after its last output is written.
    let model = journal.model
    var still: [TaskID] = []
    begun.removeAll(keepingCapacity: true)
    for task in open {
      let record = model[task]
      let hasBegun = record.startedMilliseconds > 0
      if hasBegun { try shown.show(task) }
      if record.state.isTerminal || !isLive {
        try shown.end(task)
      } else {
        still.append(task)
        if hasBegun { begun.append(task) }
      }
    }
    open = still
  }

  private mutating func wait(_ nanoseconds: Int64) throws(CommandError) {
    do throws(Errno) {
      var pause = PollSet(slots: 0)
      _ = try pause.wait(nanoseconds: nanoseconds)
      try watch?.wait(nanoseconds: Self.patienceNanoseconds)
    } catch {
      throw CommandError(.io, "cannot wait", error)
    }
  }
}

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
    let path = logs.path(of: task, in: plan)
    var tail =
      tails[task]
      ?? LogTail(path: path ?? "\(folder.logs)/\(LogName.of(plan.nameBytes(task)))")
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
