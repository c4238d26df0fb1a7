internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem

/// The live nested runs in the same state folder, for viewers, read from their own journals. Older
/// runs are not nested.
struct InnerRuns {
  private let around: RunFolder
  private let state: StateFolder
  private var runs: [RunID] = []
  private var changedNanoseconds: Int64 = -1
  /// Empty for runs that the outer run did not start.
  private var tasks: [RunID: String] = [:]
  private var journals: [RunID: FollowedJournal] = [:]

  private static let mostRuns = 200
  /// A change within the clock tick of the last check would go unnoticed.
  private static let clockNanoseconds: Int64 = 1_000_000_000

  init(within around: RunFolder) {
    self.around = around
    state = StateFolder(holding: around)
  }

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

  /// Unreadable runs are not ready yet, or removed.
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
