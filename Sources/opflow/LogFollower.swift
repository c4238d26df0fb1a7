internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowViews

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
