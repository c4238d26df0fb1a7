package import OpflowCore
internal import OpflowSystem

/// Processes of a run that outlived those who should have ended them.
///
/// While a coordinator lives, what a killed worker leaves becomes the coordinator's child, which is
/// the subreaper above its workers: `endAdopted`. When coordinator and workers were killed in the same
/// instant, the next drive of the run finds what is left by the run's mark in its environment, or by
/// the session of a worker that the journal names: `end`. Where control groups can be killed, it kills
/// those of the dead drive before.
///
/// Beyond reach are processes of another user, such as sleep in the kernel for good, and those that
/// shed both the mark and the session; the first two are named where they are seen.
package enum Orphans {
  /// A process that could not be ended.
  package struct Survivor: Hashable, Sendable {
    package let pid: Int32
    /// `ProcessStatus.title`.
    package let title: String
  }

  /// How long KILL may take to work, and workers to leave by themselves.
  private static let patienceNanoseconds: Int64 = 5_000_000_000

  /// Waits for the workers of an earlier drive on other machines to leave, which they do by the end of their
  /// agents' lease.
  ///
  /// - Returns: false where any is still there.
  static func waitForWorkersElsewhere(workersLock: String, leaseMilliseconds: Int64) -> Bool {
    // Each look asks a file server.
    waitForWorkers(
      workersLock, nanoseconds: patienceNanoseconds + leaseMilliseconds * 1_000_000,
      everyNanoseconds: 100_000_000)
    return !isLocked(workersLock)
  }
  private static let intervalNanoseconds: Int64 = 2_000_000

  /// Ends what is left of an earlier drive of `run`: waits for its workers, which hold `workersLock`, to
  /// leave, for some seconds at most, then kills what carries the mark of the run, or of one within it, or is
  /// in the session of one of `workers`, this process and its ancestors excepted. Call it under the run's lock
  /// and before any worker of this drive is started. Returns what could not be ended.
  ///
  /// - Parameter freesNumbers: waits until the numbers of what is ended are nobody's, for some seconds at most. A
  ///   database looks by a number in a file whether an earlier one of it runs, and takes what has ended for alive
  ///   until whoever it fell to has seen that.
  package static func end(
    run: String, workersLock: String, workers: [WorkerEntry], freesNumbers: Bool = false
  ) -> [Survivor] {
    waitForWorkers(workersLock)
    let groups = RunGroups.left(by: run)
    for group in groups { KillGroup.kill(group) }
    defer { for group in groups { RunGroups.remove(group) } }
    let bootID = Machine.bootID
    // A pid and a start time mean nothing after a reboot, nor on another machine: a container has its own
    // numbers under the same boot.
    let sessions = workers.filter {
      $0.bootID == bootID && !bootID.isEmpty && isHere($0)
    }
    let family = ancestors(of: ProcessID.own)
    var ended: Set<Int32> = []
    let survivors = endAll(
      find: { processes().filter { !family.contains($0) } },
      isPrey: { status in
        !family.contains(status.pid)
          && (ProcessStatus.environment(of: status.pid).map { RunsAround.isOf(run, $0) } == true
            || isInSession(of: sessions, status))
      }, &ended)
    if !freesNumbers { return survivors }
    for pid in processes() where !family.contains(pid) {
      if let status = ProcessStatus.read(pid), status.isZombie, isInSession(of: sessions, status) {
        ended.insert(pid)
      }
    }
    waitForNumbers(of: ended)
    return survivors
  }

  /// The machines of workers that `end` cannot look at, in the order of their names.
  package static func machinesBeyondReach(of workers: [WorkerEntry]) -> [String] {
    Set(workers.lazy.filter { !isHere($0) }.map(\.host)).sorted()
  }

  private static func isHere(_ worker: WorkerEntry) -> Bool {
    worker.host.isEmpty || worker.host == Machine.hostName
  }

  /// Ends every descendant of this process that is not one of `workers` or below one: what a worker
  /// that was killed left behind. Reaps what it ends, and no worker. Returns what could not be ended.
  package static func endAdopted(sparing workers: Set<Int32>) -> [Survivor] {
    if workers.isEmpty, !hasChildren() { return [] }
    let own = ProcessID.own
    var ended: Set<Int32> = []
    return endAll(
      find: {
        let children = ProcessTree.children(of: own).filter { !workers.contains($0) }
        // Their descendants come into reach as they end. ECHILD: somebody else has reaped it.
        for child in children { _ = try? EndedProcess.reap(.pid(child), block: false) }
        return children
      },
      isPrey: { $0.parent == own && !workers.contains($0.pid) }, &ended)
  }

  /// Whether this process has any child that lives; those that have ended are reaped. A process whose
  /// parent ends becomes a child in the same moment, so without children nothing is left.
  private static func hasChildren() -> Bool {
    while true {
      do throws(Errno) {
        guard try EndedProcess.reap(.any, block: false) != nil else { return true }
      } catch {
        return error != .noChild
      }
    }
  }

  // MARK: Who it is

  /// Workers leave by themselves when they see that their coordinator is gone.
  private static func waitForWorkers(
    _ lock: String, nanoseconds: Int64 = patienceNanoseconds,
    everyNanoseconds interval: Int64 = intervalNanoseconds
  ) {
    let deadline = Clock.monotonicNanoseconds + nanoseconds
    while Clock.monotonicNanoseconds < deadline, isLocked(lock) { pause(nanoseconds: interval) }
  }

  /// Where there is no lock to be had for another reason, there is none to wait for.
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
    // Fails for no reason that waiting less would not mend.
    try? PollSet.pause(nanoseconds: nanoseconds)
  }

  /// What has ended keeps its number until whoever it fell to, such as the machine's first process, has seen that.
  /// Some take seconds for it, and some never do.
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

  /// A worker leads its session and its tasks stay in it. When the last of them is gone the number may
  /// be given to another session: its leader began at another time and, where that is gone too, its
  /// scheduling group is another.
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

  // MARK: Ending it

  /// Kills what `find` finds and `isPrey` confirms, until there is nothing more or patience ends.
  ///
  /// - Parameter ended: whom it killed is added.
  private static func endAll(
    find: () -> [Int32], isPrey: (ProcessStatus) -> Bool, _ ended: inout Set<Int32>
  ) -> [Survivor] {
    let deadline = Clock.monotonicNanoseconds + patienceNanoseconds
    var refused: Set<Survivor> = []
    // Twice, since one that ends while it is looked at may have left another behind.
    var emptyPasses = 0
    while emptyPasses < 2 {
      let killed = killPass(find(), isPrey, &refused)
      if killed.isEmpty {
        emptyPasses += 1
        continue
      }
      emptyPasses = 0
      ended.formUnion(killed.map(\.pid))
      if Clock.monotonicNanoseconds >= deadline { return Array(refused.union(killed)) }
      pause()
    }
    return Array(refused)
  }

  /// Sends KILL once to each. Returns whom it was sent to.
  private static func killPass(
    _ candidates: [Int32], _ isPrey: (ProcessStatus) -> Bool, _ refused: inout Set<Survivor>
  ) -> Set<Survivor> {
    var killed: Set<Survivor> = []
    for pid in candidates {
      // First the descriptor, then the look: from here on it means the process looked at, and a
      // number that was given away meanwhile hits nobody.
      guard let descriptor = (try? ProcessTree.open(pid)) ?? nil,
        let status = ProcessStatus.read(pid), !status.isZombie, isPrey(status)
      else { continue }
      let prey = Survivor(pid: pid, title: status.title)
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
