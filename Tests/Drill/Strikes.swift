import Glibc

/// Random kills of the coordinator, its process group, workers and tasks.
struct Strikes {
  private let mark: String
  /// The program of nested coordinators; nil without nested runs.
  private let program: String?
  /// A worker or task was killed in this session, so a task may have failed.
  private(set) var killedOthers = false
  /// All processes were killed at the same time, so orphans may survive until a resume.
  private(set) var mayHaveOrphans = false

  /// - Parameter program: the `opflow` that tasks of the run call, if they do.
  init(mark: String, program: String? = nil) {
    self.mark = mark
    self.program = program
  }

  /// Resets the state for a new session.
  mutating func begin() {
    killedOthers = false
    mayHaveOrphans = false
  }

  /// Kills a process. Returns the signal if it will end the coordinator, else 0.
  mutating func strike(_ victim: Victim, _ random: inout DrillNumbers) -> Int32 {
    switch random.below(100) {
    case 0..<40: return send(SIGKILL, to: victim.pid)
    case 40..<48: return send(SIGTERM, to: victim.pid)
    case 48..<56: return send(SIGINT, to: victim.pid)
    case 56..<60: return send(SIGHUP, to: victim.pid)
    case 60..<66: return send(SIGKILL, to: -victim.pid)
    case 66..<70: return send(SIGINT, to: -victim.pid)
    case 70..<76:
      // All of opflow at the same time: the workers are stopped first, so that none notices.
      let workers = MarkedProcess.all(mark: mark).filter { process in
        process.isWorker
          || process.pid != victim.pid && program.map { $0 == process.program } == true
      }
      kill(victim.pid, SIGSTOP)
      for worker in workers { kill(worker.pid, SIGSTOP) }
      for worker in workers { kill(worker.pid, SIGKILL) }
      mayHaveOrphans = true
      return send(SIGKILL, to: victim.pid)
    case 76..<88: killOne(&random) { $0.isWorker && $0.pid != victim.pid }
    default: killOne(&random) { $0.isTask }
    }
    return 0
  }

  // MARK: - Checks

  /// Returns the error in a session's exit status, or nil.
  ///
  /// - Parameters:
  ///   - signal: the signal that was to end it; 0 for none.
  ///   - mayFail: a process that tasks need was killed.
  func fault(ofStatus status: Int32, after signal: Int32, mayFail: Bool = false) -> String? {
    switch status {
    case 0: nil
    case 1 where killedOthers || mayFail: nil
    case 128 + signal where signal != 0 && signal != SIGKILL: nil
    case -SIGKILL where signal == SIGKILL: nil
    // Signals end it like any program before it catches them.
    case -signal where signal != 0: nil
    default: "it ended with \(status) after signal \(signal)"
    }
  }

  /// Returns processes that survived the session, or nil. Ignores orphans, which the next session
  /// ends.
  ///
  /// - Parameter folder: also counts processes in this folder.
  func survivors(in folder: String? = nil) -> String? {
    if mayHaveOrphans { return nil }
    let left = MarkedProcess.waitForNone(mark: mark, in: folder, milliseconds: 15_000)
    if left.isEmpty { return nil }
    return "left alive: " + left.map { "\($0.pid) \($0.command)" }.joined(separator: "; ")
  }

  private func send(_ signal: Int32, to pid: pid_t) -> Int32 {
    kill(pid, signal)
    return signal
  }

  private mutating func killOne(
    _ random: inout DrillNumbers, _ isMeant: (MarkedProcess) -> Bool
  ) {
    let all = MarkedProcess.all(mark: mark).filter(isMeant)
    guard !all.isEmpty else { return }
    kill(all[random.below(all.count)].pid, SIGKILL)
    killedOthers = true
  }
}
