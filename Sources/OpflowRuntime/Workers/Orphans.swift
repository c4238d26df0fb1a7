internal import OpflowJournal
package import OpflowPlan
internal import OpflowSystem
package import OpflowWire

/// Processes of a run that outlived their worker and coordinator.
///
/// - While a coordinator lives, orphans of a killed worker become its children, since it is the
///   subreaper (`endAdopted`).
/// - If an agent on the coordinator's machine was killed, `end(_:_:_:)` also finds orphans that
///   another process adopted.
/// - If the coordinator was killed, the next session finds orphans by the run's mark in their
///   environment, by the session of a worker in the journal, by control groups, or by the notes of
///   workers that left (`end`).
///
/// Out of reach are processes of other users, processes in uninterruptible sleep, and processes
/// that shed both mark and session while no process lived to note them. The first two kinds are
/// reported where they are seen.
package enum Orphans {
  package struct Survivor: Hashable, Sendable {
    package let mark: ProcessMark
    /// `ProcessStatus.title`, or the known facts about a process that cannot be checked from here.
    package let title: String
    /// The machine of a process that cannot be checked from here; nil for this machine.
    package var host: String?

    /// True if the process may still run, or cannot be checked.
    package var isAlive: Bool {
      guard host == nil else { return true }
      guard let status = ProcessStatus.read(mark.pid) else { return false }
      return status.startTime == mark.startTime && !status.isZombie
    }
  }

  /// The wait for SIGKILL to work, or for workers to leave by themselves.
  fileprivate static let patienceNanoseconds: Int64 = 5_000_000_000

  /// Waits for workers of an earlier session on other machines, which leave by the heartbeat
  /// timeout. Returns false if some remain.
  static func waitForWorkersElsewhere(workersLock: String, leaseMilliseconds: Int64) -> Bool {
    // Each check asks a file server.
    waitForWorkers(
      workersLock, nanoseconds: patienceNanoseconds + leaseMilliseconds * 1_000_000,
      everyNanoseconds: 100_000_000)
    return !isLocked(workersLock)
  }
  private static let intervalNanoseconds: Int64 = 2_000_000

  /// Ends the processes that an earlier session of `run` left, and returns the survivors.
  ///
  /// Waits a few seconds for workers, which hold `workersLock`. Then kills every process that
  /// carries the mark of the run or of a nested run, is in the session of one of `workers`, or is
  /// one of `left`; never this process or its ancestors. Call it under the run's lock, before any
  /// worker of this session starts.
  ///
  /// - Parameters:
  ///   - left: Processes that the earlier session could not end; evaluated after its workers have
  ///     left. A process on another or an unknown host is taken for alive.
  ///   - freesNumbers: Waits a few seconds until the process numbers are free. A database checks a
  ///     number in a file and takes a zombie for a live earlier instance.
  package static func end(
    run: String, workersLock: String, workers: [WorkerEntry],
    left findLeft: @autoclosure () -> [WorkerEntry] = [], freesNumbers: Bool = false
  ) -> [Survivor] {
    waitForWorkers(workersLock)
    let left = findLeft()
    let groups = WorkerCgroups.left(by: run)
    for group in groups { KillGroup.kill(group) }
    defer { for group in groups { WorkerCgroups.remove(group) } }
    let bootID = Machine.bootID
    let sessions = workers.filter { place(of: $0, bootID) == .here }
    let leftHere = Set(left.filter { place(of: $0, bootID) == .here }.map(mark))
    let ancestors = Self.ancestors(of: ProcessID.own)
    var ended: Set<Int32> = []
    var survivors = endAll(
      find: { processes().filter { !ancestors.contains($0) } },
      isPrey: { status in
        !ancestors.contains(status.pid)
          && (ProcessStatus.environment(of: status.pid).map { RunsAround.isOf(run, $0) } == true
            || isInSession(of: sessions, status)
            || leftHere.contains(ProcessMark(pid: status.pid, startTime: status.startTime)))
      }, &ended)
    for survivor in alive(left) where !survivors.contains(survivor) { survivors.append(survivor) }
    if !freesNumbers { return survivors }
    for pid in processes() where !ancestors.contains(pid) {
      if let status = ProcessStatus.read(pid), status.isZombie, isInSession(of: sessions, status) {
        ended.insert(pid)
      }
    }
    waitForNumbers(of: ended)
    return survivors
  }

  /// Returns the processes of `left` that may still run, including all on another or an unknown
  /// host.
  package static func alive(_ left: [WorkerEntry]) -> [Survivor] {
    let bootID = Machine.bootID
    let found = left.compactMap { entry -> Survivor? in
      switch place(of: entry, bootID) {
      case .ofEarlierBoot: return nil
      case .here:
        guard let status = ProcessStatus.read(entry.pid) else { return nil }
        return Survivor(mark: mark(entry), title: status.title)
      case .elsewhere:
        let host = entry.host.isEmpty ? "another machine" : entry.host
        return Survivor(mark: mark(entry), title: "\(entry.pid) on \(host)", host: host)
      }
    }
    return Set(found).filter(\.isAlive).sorted { $0.mark.pid < $1.mark.pid }
  }

  /// Returns the sorted machines of workers that `end` cannot check.
  package static func machinesBeyondReach(of workers: [WorkerEntry]) -> [String] {
    Set(workers.lazy.filter { !isOfThisHost($0) }.map(\.host)).sorted()
  }

  private static func mark(_ entry: WorkerEntry) -> ProcessMark {
    ProcessMark(pid: entry.pid, startTime: entry.startTime)
  }

  private static func isOfThisHost(_ worker: WorkerEntry) -> Bool {
    worker.host.isEmpty || worker.host == Machine.hostName
  }

  private enum Place { case here, ofEarlierBoot, elsewhere }

  /// Locates a journaled process. Its pid and start time are valid only under the same boot and
  /// host name: a container has its own pids under the same boot.
  private static func place(of entry: WorkerEntry, _ bootID: String) -> Place {
    guard isOfThisHost(entry), !entry.bootID.isEmpty, !bootID.isEmpty else { return .elsewhere }
    return entry.bootID == bootID ? .here : .ofEarlierBoot
  }

  /// Kills and reaps every descendant of this process except `workers` and their descendants.
  /// Returns the survivors.
  package static func endAdopted(sparing workers: Set<Int32>) -> [Survivor] {
    if workers.isEmpty, !hasChildren() { return [] }
    let own = ProcessID.own
    var ended: Set<Int32> = []
    return endAll(
      find: { reapAdopted(but: workers) },
      isPrey: { $0.parent == own && !workers.contains($0.pid) }, &ended)
  }

  /// True if this process has a living child; reaps the others. A process whose parent ends becomes
  /// a child at the same moment, so without children no descendant is left.
  private static func hasChildren() -> Bool {
    while true {
      do throws(Errno) {
        guard try EndedProcess.reap(.any, block: false) != nil else { return true }
      } catch {
        return error != .noChild
      }
    }
  }

  // MARK: Behind a lost stream

  struct Lost {
    let entry: WorkerEntry
    /// nil if the worker ran no attempt.
    let attempt: AttemptAround?
    /// Processes that the worker or its agent could not end.
    let noted: [WorkerEntry]

    fileprivate func owns(_ status: ProcessStatus, _ bootID: String) -> Bool {
      if place(of: entry, bootID) == .here, isInSession(of: [entry], status) { return true }
      let mark = ProcessMark(pid: status.pid, startTime: status.startTime)
      if noted.contains(where: { place(of: $0, bootID) == .here && Orphans.mark($0) == mark }) {
        return true
      }
      guard let attempt, let environment = ProcessStatus.environment(of: status.pid) else {
        return false
      }
      return attempt.isNamed(in: environment)
    }
  }

  /// True if pid and start time mean a process of this machine.
  static func isHere(_ entry: WorkerEntry) -> Bool {
    place(of: entry, Machine.bootID) == .here
  }

  static func children(of workers: [WorkerEntry]) -> [Int32] {
    let bootID = Machine.bootID
    let here = workers.filter { place(of: $0, bootID) == .here }
    return ProcessTree.children(of: ProcessID.own).filter { child in
      ProcessStatus.read(child).map { isInSession(of: here, $0) } == true
    }
  }

  /// True if any of the workers is on this machine and has not left.
  static func areAlive(_ workers: [WorkerEntry]) -> Bool {
    let bootID = Machine.bootID
    return workers.contains { entry in
      guard place(of: entry, bootID) == .here, let status = ProcessStatus.read(entry.pid) else {
        return false
      }
      return status.startTime == entry.startTime && !status.isZombie
    }
  }

  /// Ends processes that a lost agent's workers left on this machine, or that this process adopted.
  /// Never blocks: call it until it returns true.
  ///
  /// - Parameter children: Children of this process to spare; nil if it adopted nothing.
  static func end(
    _ lost: [Lost], sparing children: Set<Int32>?, _ search: inout OrphanSearch
  ) -> Bool {
    let (own, bootID) = (ProcessID.own, Machine.bootID)
    if let children { reapAdopted(but: children) }
    return search.isOver(find: processes) { status in
      if status.pid == own { return false }
      if let children, status.parent == own { return !children.contains(status.pid) }
      return lost.contains { $0.owns(status, bootID) }
    }
  }

  /// Returns the `survivors` that belong to a lost worker, or that no worker in `all` owns.
  static func survivors(
    _ survivors: Set<Survivor>, of worker: Lost, among all: [Lost]
  ) -> [(title: String, mark: ProcessMark)] {
    let bootID = Machine.bootID
    return survivors.compactMap { survivor in
      guard let status = ProcessStatus.read(survivor.mark.pid),
        status.startTime == survivor.mark.startTime, !status.isZombie
      else { return nil }
      guard worker.owns(status, bootID) || !all.contains(where: { $0.owns(status, bootID) }) else {
        return nil
      }
      return (survivor.title, survivor.mark)
    }
  }

  /// Returns the adopted children that are left after zombies were reaped.
  @discardableResult
  private static func reapAdopted(but children: Set<Int32>) -> [Int32] {
    let adopted = ProcessTree.children(of: ProcessID.own).filter { !children.contains($0) }
    // Descendants are reparented to this process as their parents end. ECHILD: already reaped.
    for child in adopted { _ = try? EndedProcess.reap(.pid(child), block: false) }
    return adopted
  }

  // MARK: Finding

  private static func waitForWorkers(
    _ lock: String, nanoseconds: Int64 = patienceNanoseconds,
    everyNanoseconds interval: Int64 = intervalNanoseconds
  ) {
    let deadline = Clock.monotonicNanoseconds + nanoseconds
    while Clock.monotonicNanoseconds < deadline, isLocked(lock) { pause(nanoseconds: interval) }
  }

  /// An error counts as unlocked.
  private static func isLocked(_ path: String) -> Bool {
    do throws(Errno) {
      guard let lock = try FileLock.tryLock(path, .exclusive) else { return true }
      _ = consume lock
      return false
    } catch {
      return false
    }
  }

  private static func pause(nanoseconds: Int64 = intervalNanoseconds) {
    // An error only shortens the pause.
    try? PollSet.pause(nanoseconds: nanoseconds)
  }

  /// Waits until killed processes are reaped. Their new parent, such as the machine's first
  /// process, may never do it.
  private static func waitForNumbers(of ended: Set<Int32>) {
    let deadline = Clock.monotonicNanoseconds + patienceNanoseconds
    var left = ended
    while true {
      left = left.filter { ProcessStatus.read($0)?.isZombie == true }
      if left.isEmpty || Clock.monotonicNanoseconds >= deadline { return }
      pause()
    }
  }

  private static func processes() -> [Int32] {
    ((try? Path.names(in: "/proc")) ?? []).compactMap { Int32($0) }
  }

  private static func ancestors(of pid: Int32) -> Set<Int32> {
    var ancestors: Set<Int32> = [1]
    var current = pid
    while ancestors.insert(current).inserted, let status = ProcessStatus.read(current) {
      current = status.parent
    }
    return ancestors
  }

  /// A worker leads its session, and its tasks stay in it. The session's number may be used
  /// again later: then the leader's start time differs, or, without a leader, the scheduling group.
  private static func isInSession(of workers: [WorkerEntry], _ status: ProcessStatus) -> Bool {
    for worker in workers where worker.pid == status.session && worker.startTime > 0 {
      if status.startTime < worker.startTime { continue }
      if let leader = ProcessStatus.read(worker.pid) {
        if leader.startTime == worker.startTime { return true }
      } else if worker.autogroup == 0
        || ProcessStatus.autogroup(of: status.pid) == worker.autogroup
      {
        return true
      }
    }
    return false
  }

  // MARK: Killing

  /// Kills processes that `find` returns and `isPrey` confirms, until none is left or time runs
  /// out. `ended` receives the killed process IDs.
  private static func endAll(
    find: () -> [Int32], isPrey: (ProcessStatus) -> Bool, _ ended: inout Set<Int32>
  ) -> [Survivor] {
    var search = OrphanSearch()
    while !search.isOver(find: find, isPrey: isPrey) { pause() }
    ended.formUnion(search.ended)
    return Array(search.survivors)
  }

  /// Sends SIGKILL once to each process. Returns the processes that got it.
  fileprivate static func killPass(
    _ candidates: [Int32], _ isPrey: (ProcessStatus) -> Bool, _ refused: inout Set<Survivor>
  ) -> Set<Survivor> {
    var killed: Set<Survivor> = []
    for pid in candidates {
      // Opened before the check: the descriptor refers to the checked process even if its number is
      // used again.
      guard let descriptor = (try? ProcessTree.open(pid)) ?? nil,
        let status = ProcessStatus.read(pid), !status.isZombie, isPrey(status)
      else { continue }
      let prey = Survivor(
        mark: ProcessMark(pid: pid, startTime: status.startTime), title: status.title)
      do throws(Errno) {
        try ProcessTree.send(.kill, through: descriptor.rawValue)
        killed.insert(prey)
      } catch {
        refused.insert(prey)
      }
    }
    return killed
  }
}

/// A search for processes to kill, in passes with short waits between.
struct OrphanSearch {
  private let deadline = Clock.monotonicNanoseconds + Orphans.patienceNanoseconds
  private var refused: Set<Orphans.Survivor> = []
  private var killed: Set<Orphans.Survivor> = []
  private(set) var ended: Set<Int32> = []

  var survivors: Set<Orphans.Survivor> { refused.union(killed) }

  /// Returns true if no process is left to kill, or time has run out.
  mutating func isOver(find: () -> [Int32], isPrey: (ProcessStatus) -> Bool) -> Bool {
    // Two empty passes, since a process that ends during a pass may leave a child.
    for _ in 0..<2 {
      killed = Orphans.killPass(find(), isPrey, &refused)
      guard killed.isEmpty else {
        ended.formUnion(killed.map(\.mark.pid))
        return Clock.monotonicNanoseconds >= deadline
      }
    }
    return true
  }
}
