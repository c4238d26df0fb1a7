import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow logs -f`: shows logs as they grow, until the run ended, or the tasks that were named.
///
/// It looks again when something in the run's folder changes, at most ten times a second, and every two
/// seconds in any case: so it works on file systems that do not tell of changes, and however the run
/// ends.
struct LogFollower: ~Copyable {
  private let folder: RunFolder
  private let plan: Plan
  private var open: [TaskID]
  private let endsWithTasks: Bool
  private var shown: ShownLogs

  /// Nil where the system has no watch left: then it looks after each pause.
  private var watch: FolderWatch?

  private static let pauseNanoseconds: Int64 = 100_000_000
  private static let patienceNanoseconds: Int64 = 2_000_000_000

  init(_ run: ReadRun, _ tasks: [TaskID], endsWithTasks: Bool, color: Bool) {
    folder = run.folder
    plan = run.plan
    open = tasks
    self.endsWithTasks = endsWithTasks
    shown = ShownLogs(run, labels: tasks.count > 1 ? .prefixes : .none, color: color)
    watch = try? FolderWatch([run.folder.path, run.folder.logs])
  }

  mutating func follow() throws(CommandError) {
    var isLive = true
    while isLive, !(endsWithTasks && open.isEmpty) {
      let began = Clock.monotonicNanoseconds
      isLive = try showMore()
      // Reading a long journal again and again must not take a whole processor.
      let pause = max(Self.pauseNanoseconds, 9 * (Clock.monotonicNanoseconds - began))
      if isLive { try wait(pause) }
    }
  }

  /// Whether the run lived before this looked at it, so that more may come.
  private mutating func showMore() throws(CommandError) -> Bool {
    let (folder, plan) = (folder, plan)
    let (isHeld, history) = try RunLookup.reading { () throws(RunFolderError) in
      (try RunFolderLock.isHeld(folder), try folder.readHistory(plan: plan).history)
    }
    // A task's end is journaled after its last output is written.
    var still: [TaskID] = []
    for task in open {
      let record = history[task]
      if record.startedMilliseconds > 0 { try shown.show(task) }
      if record.state.isTerminal || !isHeld { try shown.end(task) } else { still.append(task) }
    }
    open = still
    return isHeld
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
