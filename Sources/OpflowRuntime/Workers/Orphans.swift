package import OpflowCore
internal import OpflowSystem

/// Processes of a run that outlived their worker and coordinator.
///
/// While a coordinator lives, orphans of a killed worker become its children, since it is the
/// subreaper: `endAdopted`. If both were killed, the next session finds orphans by the run's mark
/// in their environment, by the session of a worker in the journal, or by control groups: `end`.
///
/// Out of reach are processes of other users, those in uninterruptible sleep, and those that shed
/// both mark and session. The first two are reported where they are seen.
package enum Orphans {
  /// A process that could not be ended.
  package struct Survivor: Hashable, Sendable {
    package let mark: ProcessMark
    /// `ProcessStatus.title`, or what is known of a process that cannot be checked from here.
    package let title: String
    /// The machine of a process that cannot be checked from here; nil for this one.
    package var host: String?
  }

  /// How long to wait for SIGKILL to work, or for workers to leave by themselves.
  private static let patienceNanoseconds: Int64 = 5_000_000_000

  /// Waits for workers of an earlier session on other machines, which leave by their agents'
  /// heartbeat timeout.
  ///
  /// - Returns: False if some are still there.
  static func waitForWorkersElsewhere(workersLock: String, leaseMilliseconds: Int64) -> Bool {
    // Each check asks a file server.
    waitForWorkers(
      workersLock, nanoseconds: patienceNanoseconds + leaseMilliseconds * 1_000_000,
      everyNanoseconds: 100_000_000)
    return !isLocked(workersLock)
  }
  private static let intervalNanoseconds: Int64 = 2_000_000

  /// Ends the processes left from an earlier session of `run` and returns those that it could not
  /// end.
  ///
  /// Waits a few seconds for workers, which hold `workersLock`. Then kills every process that
  /// carries the mark of the run or of a nested run, is in the session of one of `workers`, or is
  /// one of `left`; never this process or its ancestors. Call it under the run's lock, before any
  /// worker of this session starts.
  ///
  /// - Parameters:
  ///   - left: Processes that the earlier session could not end. Those on another or an unknown
  ///     host count as alive.
  ///   - freesNumbers: Waits a few seconds until the process numbers are free. A database checks a
  ///     number in a file and takes a zombie for an earlier instance that runs.
  package static func end(
    run: String, workersLock: String, workers: [WorkerEntry], left: [WorkerEntry] = [],
    freesNumbers: Bool = false
  ) -> [Survivor] {
    waitForWorkers(workersLock)
    let groups = RunGroups.left(by: run)
    for group in groups { KillGroup.kill(group) }
    defer { for group in groups { RunGroups.remove(group) } }
    let bootID = Machine.bootID
    let sessions = workers.filter { place(of: $0, bootID) == .here }
    let leftHere = Set(left.filter { place(of: $0, bootID) == .here }.map(mark))
    let family = ancestors(of: ProcessID.own)
    var ended: Set<Int32> = []
    var survivors = endAll(
      find: { processes().filter { !family.contains($0) } },
      isPrey: { status in
        !family.contains(status.pid)
          && (ProcessStatus.environment(of: status.pid).map { RunsAround.isOf(run, $0) } == true
            || isInSession(of: sessions, status)
            || leftHere.contains(ProcessMark(pid: status.pid, startTime: status.startTime)))
      }, &ended)
    survivors += left.filter { place(of: $0, bootID) == .elsewhere }.map {
      let host = $0.host.isEmpty ? "another machine" : $0.host
      return Survivor(mark: mark($0), title: "\($0.pid) on \(host)", host: host)
    }
    if !freesNumbers { return survivors }
    for pid in processes() where !family.contains(pid) {
      if let status = ProcessStatus.read(pid), status.isZombie, isInSession(of: sessions, status) {
        ended.insert(pid)
      }
    }
    waitForNumbers(of: ended)
    return survivors
  }

  /// Returns the sorted machines of workers that `end` cannot check.
  package static func machinesBeyondReach(of workers: [WorkerEntry]) -> [String] {
    Set(workers.lazy.filter { !isHere($0) }.map(\.host)).sorted()
  }

  private static func mark(_ entry: WorkerEntry) -> ProcessMark {
    ProcessMark(pid: entry.pid, startTime: entry.startTime)
  }

  private static func isHere(_ worker: WorkerEntry) -> Bool {
    worker.host.isEmpty || worker.host == Machine.hostName
  }

  private enum Place { case here, ofEarlierBoot, elsewhere }

  /// Where a process of the journal is. Its pid and start time mean something only under the same
  /// boot and host name: a container has its own pids under the same boot.
  private static func place(of entry: WorkerEntry, _ bootID: String) -> Place {
    guard isHere(entry), !entry.bootID.isEmpty, !bootID.isEmpty else { return .elsewhere }
    return entry.bootID == bootID ? .here : .ofEarlierBoot
  }

  /// Kills every descendant of this process that is not one of `workers` or below one. Reaps the
  /// killed processes, but no worker. Returns the survivors.
  package static func endAdopted(sparing workers: Set<Int32>) -> [Survivor] {
    if workers.isEmpty, !hasChildren() { return [] }
    let own = ProcessID.own
    var ended: Set<Int32> = []
    return endAll(
      find: {
        let children = ProcessTree.children(of: own).filter { !workers.contains($0) }
        // Their descendants are reparented to this process as they end. ECHILD: already reaped.
        for child in children { _ = try? EndedProcess.reap(.pid(child), block: false) }
        return children
      },
      isPrey: { $0.parent == own && !workers.contains($0.pid) }, &ended)
  }

  /// Whether this process has a living child; reaps the others. A process whose parent ends becomes
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

  // MARK: Finding

  private static func waitForWorkers(
    _ lock: String, nanoseconds: Int64 = patienceNanoseconds,
    everyNanoseconds interval: Int64 = intervalNanoseconds
  ) {
    let deadline = Clock.monotonicNanoseconds + nanoseconds
    while Clock.monotonicNanoseconds < deadline, isLocked(lock) { pause(nanoseconds: interval) }
  }

  /// Any other error counts as no lock to wait for.
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
    // An error only means a shorter pause.
    try? PollSet.pause(nanoseconds: nanoseconds)
  }

  /// Waits until killed processes are reaped. Their new parent, such as the machine's first
  /// process, may take seconds, or never do it.
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
    var family: Set<Int32> = [1]
    var current = pid
    while family.insert(current).inserted, let status = ProcessStatus.read(current) {
      current = status.parent
    }
    return family
  }

  /// A worker leads its session, and its tasks stay in it. The session's number may be reused
  /// later: then the leader's start time differs, or, without a leader, the scheduling group.
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

  /// Kills what `find` returns and `isPrey` confirms, until nothing is left or time runs out.
  ///
  /// - Parameter ended: Receives the killed process IDs.
  private static func endAll(
    find: () -> [Int32], isPrey: (ProcessStatus) -> Bool, _ ended: inout Set<Int32>
  ) -> [Survivor] {
    let deadline = Clock.monotonicNanoseconds + patienceNanoseconds
    var refused: Set<Survivor> = []
    // Two empty passes, since a process that ends during a pass may have left a child.
    var emptyPasses = 0
    while emptyPasses < 2 {
      let killed = killPass(find(), isPrey, &refused)
      if killed.isEmpty {
        emptyPasses += 1
        continue
      }
      emptyPasses = 0
      ended.formUnion(killed.map(\.mark.pid))
      if Clock.monotonicNanoseconds >= deadline { return Array(refused.union(killed)) }
      pause()
    }
    return Array(refused)
  }

  /// Sends SIGKILL once to each. Returns the processes that got it.
  private static func killPass(
    _ candidates: [Int32], _ isPrey: (ProcessStatus) -> Bool, _ refused: inout Set<Survivor>
  ) -> Set<Survivor> {
    var killed: Set<Survivor> = []
    for pid in candidates {
      // Open the descriptor before the check: it keeps referring to the checked process, even if
      // the number is reused.
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
