internal import OpflowCore
internal import OpflowSystem

/// The processes of the task that runs: everything below this worker, which is their subreaper.
struct WorkerTree {
  /// Whose task it is.
  let run: String
  private var mainPID: Int32 = 0
  /// A process that looks whether the task is ready; 0 for none.
  var probePID: Int32 = 0
  private(set) var usage = Usage()
  /// What could not be ended is left behind and counts no more.
  private var abandoned: Set<Int32> = []
  /// The names of processes that the task's own left alive when it ended.
  private var leftAlive: [Int32: String] = [:]
  /// Those of them that were killed.
  private var leftKilled: [String] = []
  /// Those of the task that could not be ended.
  private var survivors: [String] = []

  struct Reaped {
    /// How the task's own process ended, when it is among those that were reaped now.
    var status: ExitStatus?
    /// Nothing of the tree is left.
    var isGone = false
    /// Processes that were reaped.
    var count = 0
    /// How the process ended that looks whether the task is ready.
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

  /// The task's own process has ended: notes what it has left behind, which a readiness probe is not.
  mutating func noteLeft() {
    var others = abandoned
    if probePID != 0 { others.formUnion([probePID] + ProcessTree.descendants(of: probePID)) }
    for pid in ProcessTree.descendants(of: ProcessID.own) where !others.contains(pid) {
      guard let status = ProcessStatus.read(pid), !status.isZombie else { continue }
      leftAlive[pid] = status.name
    }
  }

  /// What was left behind and may still run; else what did not end by itself before it was killed.
  var left: LeftBehind? { LeftBehind(survivors, areAlive: true) ?? LeftBehind(leftKilled) }

  /// Reaps what has ended, and sums what it used.
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
    // A straggler of an earlier task is not this one's to pay.
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

  /// Sends a signal to every process of the tree. What is of a run that the task runs is that run's to tell, where
  /// it can be told at all: it has rules of its own for how its tasks end, and is told itself.
  func signal(_ signal: Signal) {
    var delivery = ProcessTree.Delivery()
    ProcessTree.signalAll(signal, exempt: abandoned, sparing: isOfRunWithin, &delivery)
  }

  private func isOfRunWithin(_ pid: Int32) -> Bool {
    ProcessStatus.environment(of: pid).map { RunsAround.isWithin(run, $0) } == true
  }

  /// Gives up what cannot be ended: processes of another user, and those that the kernel does not let go.
  mutating func abandon() {
    let left = ProcessTree.descendants(of: ProcessID.own).filter { !abandoned.contains($0) }
    abandoned.formUnion(left)
    survivors = left.compactMap { pid in
      ProcessStatus.read(pid).flatMap { $0.isZombie ? nil : $0.title }
    }
  }
}
