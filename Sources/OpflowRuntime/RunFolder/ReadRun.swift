package import OpflowJournal
package import OpflowPlan
package import OpflowSystem

/// Reads a run for a view, without changing it.
package struct ReadRun {
  package let folder: RunFolder
  package var plan: Plan { journal.plan }
  /// Can continue where this reading stopped.
  package let journal: FollowedJournal
  package let recovery: JournalRecovery
  package let isHeld: Bool

  package init(
    _ folder: RunFolder, keepingDetails: Bool = false, keepingAttempts: Bool = false
  ) throws(RunFolderError) {
    self.folder = folder
    // The lock is read first: a run that ends in between shows as running, never as interrupted.
    isHeld = try RunFolderLock.isHeld(folder)
    var journal = FollowedJournal(
      folder, plan: try folder.openPlan(), keepingDetails: keepingDetails,
      keepingAttempts: keepingAttempts)
    recovery = try journal.lookToEnd()
    self.journal = journal
  }

  package var history: RunModel { journal.model }

  package var status: RunStatus {
    var status = RunStatus(
      run: folder.id.description, plan: plan, history: history,
      included: RunScope.of(history, plan) ?? .all(taskCount: plan.taskCount), isHeld: isHeld)
    if isHeld {
      status.told = folder.readProgress(plan: plan)
      status.awaited = folder.readAwaited()
      let running = plan.tasks.lazy.map { TaskID($0) }.filter { history[$0].state.isRunning }
      if !running.isEmpty {
        var inner = InnerRuns(within: folder)
        status.inner = inner.look(at: Array(running), of: plan)
      }
    }
    return status
  }

  /// Damage of the journal, unless it is just being written.
  package var warnings: [String] {
    recovery.isIntact || isHeld && recovery.isOnlyTorn
      ? [] : recovery.warnings(path: folder.journal)
  }
}

extension JournalRecovery {
  func warnings(path: String) -> [String] {
    var warnings = damage.prefix(5).map { "\(path): \($0.message)" }
    if damage.count > 5 {
      warnings.append("\(path): … and \(damage.count - 5) more damaged places")
    }
    return warnings
  }
}

/// The live nested runs in the same state folder, from their own journals. Older runs are not
/// nested.
struct InnerRuns {
  private let around: RunFolder
  private let state: StateFolder
  private var runs: [RunID] = []
  private var changedNanoseconds: Int64 = -1
  /// Empty for runs that the outer run did not start.
  private var tasks: [RunID: String] = [:]
  private var journals: [RunID: FollowedJournal] = [:]

  private static let mostRuns = 200
  /// A change within the clock tick of the last check would be missed.
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

/// Waits for changes, or the end, of another process's run. Remote file systems report neither, so
/// a wait also ends after a while.
package struct RunPoller: ~Copyable {
  private let folder: RunFolder
  private var files: FolderWatch?
  private var owner: Descriptor?
  private var poll = PollSet(slots: Self.slots)

  private static let slots = 6
  /// A tolerable delay at a prompt.
  private static let patienceNanoseconds: Int64 = 2_000_000_000
  /// The interval if the end of the run's process is not reported.
  private static let pauseNanoseconds: Int64 = 250_000_000

  package init(_ folder: RunFolder, watching folders: [String]) {
    self.folder = folder
    files = folders.isEmpty ? nil : try? FolderWatch(folders)
    poll.set(0, files?.rawDescriptor ?? -1)
  }

  /// Returns when something may be new, one of at most four `others` is readable, or after a time
  /// limit.
  package mutating func wait(
    _ others: [Int32] = [], atMostNanoseconds most: Int64 = .max
  ) throws(RunFolderError) {
    if owner == nil { owner = Self.owner(of: folder) }
    poll.set(1, owner?.rawValue ?? -1)
    for (slot, other) in others.enumerated() { poll.set(2 + slot, other) }
    let patience = owner == nil ? Self.pauseNanoseconds : Self.patienceNanoseconds
    let isAny = try doing("watch", folder.path, poll.wait(nanoseconds: min(most, patience)))
    guard isAny else { return }
    if poll.isReady(0) { try doing("watch", folder.path, files?.takeChanges()) }
    if poll.isReady(1) { owner = nil }
  }

  /// The process ID may be another process's before it is opened, so the holder is checked again.
  private static func owner(of folder: RunFolder) -> Descriptor? {
    guard let holder = RunFolderLock.holder(folder), let pid = holder.localPID,
      let found = try? ProcessTree.open(pid),
      (try? RunFolderLock.isHeld(folder)) == true, RunFolderLock.holder(folder) == holder
    else { return nil }
    return found
  }
}

package struct RunLogs {
  private let folder: String
  private let names: Set<String>

  package init(_ run: RunFolder) {
    folder = run.logs
    names = Set((try? Path.names(in: run.logs)) ?? [])
  }

  package func path(of task: TaskID, in plan: Plan) -> String? {
    let id = plan.nameBytes(task)
    let name = [LogName.of(id), LogName.older(id)].compactMap { $0 }.first(where: names.contains)
    return name.map { "\(folder)/\($0)" }
  }
}

/// Reads a task's log as it grows; silent tasks have no log. Keeps no descriptor open, so that a
/// view can follow any number of logs.
package struct LogTail: Sendable {
  package let path: String
  private var offset: Int64 = 0

  package init(path: String) { self.path = path }

  /// Reads pieces of at most `buffer`'s size. Returns true if there was new output.
  @discardableResult
  package mutating func read(
    into buffer: UnsafeMutableRawBufferPointer, limit: Int = .max,
    _ body: (UnsafeRawBufferPointer) -> Void
  ) throws(Errno) -> Bool {
    let file: Descriptor
    do throws(Errno) {
      file = try File.openRegular(path, .readOnly)
    } catch .noSuchFile {
      return false
    }
    var pieces = 0
    while pieces < limit {
      let count = try file.read(into: buffer, at: offset)
      if count == 0 { break }
      offset += Int64(count)
      pieces += 1
      body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }
    return pieces > 0
  }
}
