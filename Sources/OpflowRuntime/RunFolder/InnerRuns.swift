internal import OpflowCore
internal import OpflowSystem

/// The runs that tasks of a run have begun, in the same state folder, as far as they are live: looked at again and
/// again, by whoever shows the run around.
///
/// Each is known by its own journal, which costs who drives it nothing and which no task can fill with more than it
/// runs. What began before the run around is none of its.
struct InnerRuns {
  private let around: RunFolder
  private let state: StateFolder
  /// The newest ones.
  private var runs: [RunID] = []
  /// When the folder that has them changed last.
  private var changedNanoseconds: Int64 = -1
  /// The task of the run around that began each; empty for one of somebody else.
  private var tasks: [RunID: String] = [:]
  private var journals: [RunID: FollowedJournal] = [:]

  private static let mostRuns = 200
  /// A second look at a folder within the same tick of its clock sees what came after the first.
  private static let clockNanoseconds: Int64 = 1_000_000_000

  init(within around: RunFolder) {
    self.around = around
    state = StateFolder(holding: around)
  }

  /// The newest live run of each of some tasks.
  mutating func look(at wanted: [TaskID], of plan: Plan) -> [TaskID: InnerRun] {
    list()
    var found: [TaskID: InnerRun] = [:]
    var seen: Set<RunID> = []
    for task in wanted {
      let name = plan.nameString(task)
      guard let run = runs.first(where: { tasks[$0] == name }), let inner = look(at: run) else {
        continue
      }
      seen.insert(run)
      found[task] = inner
    }
    journals = journals.filter { seen.contains($0.key) }
    return found
  }

  /// What cannot be read is not there yet, or no more.
  private mutating func list() {
    let changed = (try? Path.status(state.runsFolder))?.modifiedNanoseconds ?? 0
    let isSettled =
      Clock.wallMilliseconds.multipliedReportingOverflow(by: 1_000_000)
      .partialValue - changed > Self.clockNanoseconds
    if changed == changedNanoseconds, tasks.count == runs.count { return }
    changedNanoseconds = isSettled ? changed : -1
    runs = ((try? state.runs()) ?? []).prefix(Self.mostRuns).filter { $0 > around.id }
    var known: [RunID: String] = [:]
    for run in runs {
      if let task = tasks[run] {
        known[run] = task
      } else if let open = try? state.folder(of: run).readOpen() {
        known[run] = open.around.flatMap { $0.run == around.id ? $0.task : nil } ?? ""
      }
    }
    tasks = known
  }

  private mutating func look(at run: RunID) -> InnerRun? {
    let folder = state.folder(of: run)
    guard (try? RunFolderLock.isHeld(folder)) == true else { return nil }
    var journal: FollowedJournal
    if let known = journals[run] {
      journal = known
    } else if let plan = try? folder.openPlan() {
      journal = FollowedJournal(folder, plan: plan)
    } else {
      return nil
    }
    guard (try? journal.look()) != nil else { return nil }
    journals[run] = journal
    let (plan, history) = (journal.plan, journal.model)
    let status = RunStatus(
      run: run.description, plan: plan, history: history,
      included: RunScope.of(history, plan) ?? .all(taskCount: plan.taskCount), isHeld: true)
    return InnerRun(run: run, counts: status.counts)
  }
}
