import OpflowCore
import OpflowRuntime
import OpflowSystem

/// `opflow logs -f`: shows logs as they grow, until the run ended, or the tasks that were named.
///
/// It looks again ten times a second. Nobody has to tell it anything, so it works for any run on any
/// file system, and however the run ends.
struct LogFollower {
  private let folder: RunFolder
  private let plan: Plan
  private var open: [TaskID]
  private let endsWithTasks: Bool
  private var shown: ShownLogs

  private static let pauseNanoseconds: Int64 = 100_000_000

  init(_ run: ReadRun, _ tasks: [TaskID], endsWithTasks: Bool) {
    folder = run.folder
    plan = run.plan
    open = tasks
    self.endsWithTasks = endsWithTasks
    shown = ShownLogs(run, labels: tasks.count > 1 ? .prefixes : .none)
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

  private func wait(_ nanoseconds: Int64) throws(CommandError) {
    var events: [PollEvent] = []
    do throws(Errno) {
      var poller = try Poller()
      try poller.wait(timeout: .nanoseconds(nanoseconds), into: &events)
    } catch {
      throw CommandError(.io, "cannot wait", error)
    }
  }
}
