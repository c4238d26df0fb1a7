internal import OpflowPlan
internal import OpflowSystem

/// The processes of the running task: all descendants of this worker, which is their subreaper.
struct WorkerTree {
  let run: String
  private var mainPID: Int32 = 0
  /// The readiness command; 0 for none.
  var probePID: Int32 = 0
  private(set) var usage = Usage()
  /// Processes that could not be killed; ignored from then on.
  private var abandoned: Set<Int32> = []
  /// The names of processes alive when the task's main process ended.
  private var leftAlive: [Int32: String] = [:]
  private var leftKilled: [String] = []
  /// The processes of the task that could not be ended.
  private var survivors: [(title: String, mark: ProcessMark)] = []

  struct Reaped {
    /// The status of the task's main process, if just reaped.
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

  /// Notes the living processes, except the readiness command's.
  mutating func noteLeft() {
    var others = abandoned
    if probePID != 0 { others.formUnion([probePID] + ProcessTree.descendants(of: probePID)) }
    for pid in ProcessTree.descendants(of: ProcessID.own) where !others.contains(pid) {
      guard let status = ProcessStatus.read(pid), !status.isZombie else { continue }
      leftAlive[pid] = status.name
    }
  }

  /// The processes that may still run; else those that ended only when killed.
  var left: LeftBehind? { LeftBehind(alive: survivors) ?? LeftBehind(leftKilled) }

  /// Reaps ended processes and adds up their usage.
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
    // An abandoned process of an earlier task does not count for this one.
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

  /// Signals the task's processes. Processes of a nested opflow run are left to that run, unless
  /// the signal cannot be handled: it gets the signal and stops its tasks by its own rules.
  func signal(_ signal: Signal) {
    var delivery = ProcessTree.Delivery()
    ProcessTree.signalAll(signal, exempt: abandoned, sparing: isOfRunWithin, &delivery)
  }

  private func isOfRunWithin(_ pid: Int32) -> Bool {
    ProcessStatus.environment(of: pid).map { RunsAround.isWithin(run, $0) } == true
  }

  /// Gives up the remaining processes: of other users, or stuck in the kernel.
  mutating func abandon() {
    let left = ProcessTree.descendants(of: ProcessID.own).filter { !abandoned.contains($0) }
    abandoned.formUnion(left)
    survivors = left.compactMap { pid in
      guard let status = ProcessStatus.read(pid), !status.isZombie else { return nil }
      return (status.title, ProcessMark(pid: pid, startTime: status.startTime))
    }
  }
}
