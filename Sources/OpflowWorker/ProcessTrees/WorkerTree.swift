internal import OpflowPlan
internal import OpflowSystem

/// The processes of the running task: all descendants of this worker, their subreaper.
struct WorkerTree {
  let run: String
  private var mainPID: Int32 = 0
  /// The readiness command; 0 for none.
  var probePID: Int32 = 0
  private(set) var usage = Usage()
  /// Unkillable processes, ignored from then on.
  private var abandoned: Set<Int32> = []
  /// Names of processes alive when the task's main process ended.
  private var leftAlive: [Int32: String] = [:]
  private var leftKilled: [String] = []
  /// The task's unkillable processes.
  private var survivors: [(title: String, mark: ProcessMark)] = []

  struct Reaped {
    /// The main process's, if just reaped.
    var status: ExitStatus?
    var isGone = false
    var count = 0
    var probeStatus: ExitStatus?
  }

  init(run: String) { self.run = run }

  mutating func begin(mainPID: Int32) {
    self.mainPID = mainPID
    probePID = 0
    usage = Usage()
    leftAlive = [:]
    leftKilled = []
    survivors = []
  }

  /// Notes living processes, except the readiness command's.
  mutating func noteLeft() {
    var others = abandoned
    if probePID != 0 { others.formUnion([probePID] + ProcessTree.descendants(of: probePID)) }
    for pid in ProcessTree.descendants(of: ProcessID.own) where !others.contains(pid) {
      guard let status = ProcessStatus.read(pid), !status.isZombie else { continue }
      leftAlive[pid] = status.name
    }
  }

  /// Processes that may still run; else those that ended only when killed.
  var left: LeftBehind? { LeftBehind(alive: survivors) ?? LeftBehind(leftKilled) }

  /// Adds up the usage of ended processes.
  mutating func reap() throws(Errno) -> Reaped {
    var reaped = Reaped()
    while true {
      do throws(Errno) {
        guard let ended = try EndedProcess.reap(.any, block: false) else {
          if !abandoned.isEmpty {
            reaped.isGone = abandoned.isSuperset(of: ProcessTree.children(of: ProcessID.own))
          }
          return reaped
        }
        note(ended, &reaped)
      } catch .noChild {
        abandoned.removeAll()
        reaped.isGone = true
        return reaped
      }
    }
  }

  private mutating func note(_ ended: EndedProcess, _ reaped: inout Reaped) {
    reaped.count += 1
    // The process belongs to an earlier task.
    if abandoned.remove(ended.pid) != nil { return }
    if let name = leftAlive.removeValue(forKey: ended.pid),
      ended.status == .signal(Signal.kill.rawValue)
    {
      leftKilled.append(name)
    }
    usage.userMicroseconds += ended.userMicroseconds
    usage.systemMicroseconds += ended.systemMicroseconds
    usage.peakKibibytes = max(usage.peakKibibytes, ended.peakKibibytes)
    let status: ExitStatus =
      switch ended.status {
      case .exit(let code): .exit(code)
      case .signal(let signal): .signal(signal)
      }
    if ended.pid == mainPID { reaped.status = status }
    if probePID != 0, ended.pid == probePID {
      reaped.probeStatus = status
      probePID = 0
    }
  }

  /// Leaves the processes of a nested opflow run to that run, unless the signal cannot be handled:
  /// it gets the signal and stops its tasks by its own rules.
  func signal(_ signal: Signal) {
    var delivery = ProcessTree.Delivery()
    ProcessTree.signalAll(signal, exempt: abandoned, sparing: isOfRunWithin, &delivery)
  }

  private func isOfRunWithin(_ pid: Int32) -> Bool {
    ProcessStatus.environment(of: pid).map { RunsAround.isWithin(run, $0) } == true
  }

  /// Processes of other users, or stuck in the kernel.
  mutating func abandon() {
    let left = ProcessTree.descendants(of: ProcessID.own).filter { !abandoned.contains($0) }
    abandoned.formUnion(left)
    survivors = left.compactMap { pid in
      guard let status = ProcessStatus.read(pid), !status.isZombie else { return nil }
      return (status.title, ProcessMark(pid: pid, startTime: status.startTime))
    }
  }
}
