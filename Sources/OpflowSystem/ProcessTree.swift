internal import CLinux
internal import Glibc

/// The descendants of this process. After `becomeSubreaper`, orphans become its children, even
/// after double forks and setsid.
package enum ProcessTree {
  package static func becomeSubreaper() throws(Errno) {
    try call { clinux_become_subreaper() }
  }

  /// Does nothing if the process is already reaped.
  package static func send(_ signal: Signal, through pidfd: Int32) throws(Errno) {
    do throws(Errno) {
      try call { clinux_pidfd_signal(pidfd, signal.rawValue) }
    } catch .noSuchProcess {}
  }

  /// `child` is not reaped, so its number stays its own.
  static func send(_ signal: Signal, to child: Int32) throws(Errno) {
    try call { kill(child, signal.rawValue) }
  }

  package static func open(_ pid: Int32) throws(Errno) -> Descriptor? {
    do throws(Errno) {
      return Descriptor(owning: try call { clinux_pidfd_open(pid) })
    } catch .noSuchProcess {
      return nil
    } catch .invalid {
      // A thread's number, or not a valid pid.
      return nil
    }
  }

  /// Includes zombies. May be incomplete while others exit: repeat it to find all.
  package static func children(of pid: Int32) -> [Int32] {
    guard let threads = try? Path.names(in: "/proc/\(pid)/task") else { return [] }
    var children: [Int32] = []
    for thread in threads {
      guard let bytes = try? File.read("/proc/\(pid)/task/\(thread)/children") else { continue }
      for word in bytes.split(separator: UInt8(ascii: " ")) {
        if let child = Int32(String(decoding: word, as: UTF8.self)) { children.append(child) }
      }
    }
    return children
  }

  /// Returns parents before their children.
  package static func descendants(of pid: Int32) -> [Int32] {
    var walk = Walk(from: pid)
    while let next = walk.next() { walk.append(childrenOf: next) }
    return walk.found
  }

  private struct Walk {
    private(set) var found: [Int32] = []
    private var known: Set<Int32> = []
    private var position = 0

    init(from ancestor: Int32) { append(childrenOf: ancestor) }

    mutating func next() -> Int32? {
      guard position < found.count else { return nil }
      position += 1
      return found[position - 1]
    }

    @discardableResult
    mutating func append(childrenOf pid: Int32) -> ArraySlice<Int32> {
      let before = found.count
      for child in ProcessTree.children(of: pid) where known.insert(child).inserted {
        found.append(child)
      }
      return found[before...]
    }
  }

  package struct Delivery: Sendable {
    /// Processes that got the signal in this call or an earlier one.
    package var reached: Set<Int32> = []
    /// Processes of other users.
    package var refused: Set<Int32> = []
    package init() {}
  }

  /// Sends `signal` to every descendant not in `delivery` yet, except `exempt` and their
  /// descendants. Repeats until a pass finds no new process, at most `passes` times (a fork bomb
  /// never ends). Returns true if it signaled any.
  ///
  /// KILL, STOP and CONT go to all these processes. Other signals skip:
  /// - processes that started after the first pass began: a process may start them in response (a
  ///   shell's cleanup trap).
  /// - processes for which `isSpared` is true, with their descendants: they get the signal another
  ///   way.
  @discardableResult
  package static func signalAll(
    _ signal: Signal, exempt: Set<Int32> = [], passes: Int = 8,
    sparing isSpared: (Int32) -> Bool = { _ in false }, _ delivery: inout Delivery
  ) -> Bool {
    let begin = signal.canBeAnswered ? ProcessStatus.ticksSinceBoot : .max
    var sentAny = false
    for pass in 0..<passes {
      var isNew = false
      var walk = Walk(from: ProcessID.own)
      var belowSpared: Set<Int32> = []
      while let pid = walk.next() {
        // Read before the signal: processes started in response do not get it.
        let children = walk.append(childrenOf: pid)
        guard !delivery.reached.contains(pid), !delivery.refused.contains(pid) else { continue }
        // In the middle of an exec nothing may identify a process, so its parent decides.
        if signal.canBeAnswered, belowSpared.contains(pid) || isSpared(pid) {
          belowSpared.formUnion(children)
          continue
        }
        // The descriptor pins one process; then check its descent again.
        guard let descriptor = (try? open(pid)) ?? nil,
          descends(pid, from: ProcessID.own, exempt: exempt)
        else { continue }
        if pass > 0, (ProcessStatus.read(pid)?.startTime ?? 0) >= begin { continue }
        do throws(Errno) {
          try send(signal, through: descriptor.rawValue)
          delivery.reached.insert(pid)
          isNew = true
        } catch {
          delivery.refused.insert(pid)
        }
      }
      if !isNew { break }
      sentAny = true
    }
    return sentAny
  }

  /// `child` must not be reaped.
  package static func killAll(from child: Int32) {
    for pid in [child] + descendants(of: child) {
      guard let descriptor = (try? open(pid)) ?? nil,
        descends(pid, from: child, exempt: [])
      else { continue }
      try? send(.kill, through: descriptor.rawValue)
    }
  }

  /// True if `pid` is a descendant, not at or below one of `exempt`.
  private static func descends(_ pid: Int32, from ancestor: Int32, exempt: Set<Int32>) -> Bool {
    var current = pid
    // The chain may change while it is read.
    for _ in 0..<4096 {
      if current == ancestor { return true }
      if current <= 1 || exempt.contains(current) { return false }
      guard let status = ProcessStatus.read(current) else { return false }
      current = status.parent
    }
    return false
  }
}

package enum ProcessGroup {
  package static var own: Int32 { getpgrp() }

  /// Throws EPERM if the parent is in another session.
  package static func joinParent() throws(Errno) {
    let group = getpgid(getppid())
    try call { setpgid(0, group) }
  }

  package static func isThere(_ group: Int32) -> Bool {
    group > 0 && (kill(-group, 0) == 0 || errno == EPERM)
  }

  /// Kills a group and all descendants of its leader, an unreaped child, whose number therefore
  /// stays its own. Misses processes that left the group after the leader ended.
  package static func killAll(ledBy leader: Int32) {
    ProcessTree.killAll(from: leader)
    // Fails for an empty group or another user's processes.
    if leader > 0 { _ = kill(-leader, Signal.kill.rawValue) }
  }

  /// True if this process's group is orphaned (setpgid(2)): no shell continues it and stop keys
  /// have no effect. Checks the ancestors, which started the rest of the group.
  package static var isOrphaned: Bool {
    let group = getpgrp()
    var parent = getppid()
    while let status = ProcessStatus.read(parent), status.session == getsid(0) {
      if status.group != group { return false }
      parent = status.parent
    }
    return true
  }

  /// The descendants of this process's children in its process group.
  package static func grandchildren() -> [Int32] {
    let own = ProcessID.own
    let children = ProcessTree.children(of: own)
    return ProcessTree.descendants(of: own).filter { pid in
      !children.contains(pid) && ProcessStatus.read(pid)?.group == getpgrp()
    }
  }

  package static func signalGrandchildren(_ signal: Signal) {
    for pid in grandchildren() {
      guard let descriptor = (try? ProcessTree.open(pid)) ?? nil else { continue }
      // Fails if the process is gone or another user's.
      try? ProcessTree.send(signal, through: descriptor.rawValue)
    }
  }

  /// How a process reacts to a pending SIGTSTP.
  package enum Halt: Int {
    /// Stopped, or ignores the signal.
    case none
    /// May work on before it stops, or not stop.
    case perhaps
    /// Stops once scheduled; may read input until then.
    case certain
  }

  /// The slowest reaction among `grandchildren`.
  package static func halt() -> Halt {
    let all = grandchildren().map { halt(of: $0).rawValue }
    return Halt(rawValue: all.max() ?? 0) ?? .none
  }

  private static func halt(of pid: Int32) -> Halt {
    guard let signals = SignalState(of: pid), !signals.ignores(.terminalStop) else { return .none }
    if signals.catches(.terminalStop) {
      // The handler is pending or runs with the signal blocked, wherever it sleeps in the kernel.
      return isAny(of: pid, in: "RSD") ? .perhaps : .none
    }
    // State D does not wait for input: the process handles the signal first, or is a vfork parent
    // whose child stopped before its exec.
    guard isAny(of: pid, in: "RS") else { return .none }
    if signals.blocks(.terminalStop) { return signals.awaits(.terminalStop) ? .perhaps : .none }
    return .certain
  }

  /// True if a thread is in one of these states (proc(5), stat).
  private static func isAny(of pid: Int32, in states: String) -> Bool {
    let threads = (try? Path.names(in: "/proc/\(pid)/task")) ?? []
    return threads.contains { thread in
      guard let bytes = try? File.read("/proc/\(pid)/task/\(thread)/stat"),
        let status = ProcessStatus(stat: bytes)
      else { return false }
      return states.utf8.contains(status.state)
    }
  }
}

/// The masks of /proc/PID/status, hexadecimal.
private struct SignalState {
  private var pending: UInt64 = 0
  private var blocked: UInt64 = 0
  private var ignored: UInt64 = 0
  private var caught: UInt64 = 0

  init?(of pid: Int32) {
    guard let bytes = try? File.read("/proc/\(pid)/status") else { return nil }
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: "\t"))
      guard words.count == 2,
        let mask = UInt64(String(decoding: words[1], as: UTF8.self), radix: 16)
      else { continue }
      switch String(decoding: words[0], as: UTF8.self) {
      case "SigPnd:", "ShdPnd:": pending |= mask
      case "SigBlk:": blocked = mask
      case "SigIgn:": ignored = mask
      case "SigCgt:": caught = mask
      default: break
      }
    }
  }

  func awaits(_ signal: Signal) -> Bool { Self.holds(pending, signal) }
  func blocks(_ signal: Signal) -> Bool { Self.holds(blocked, signal) }
  func ignores(_ signal: Signal) -> Bool { Self.holds(ignored, signal) }
  func catches(_ signal: Signal) -> Bool { Self.holds(caught, signal) }

  private static func holds(_ mask: UInt64, _ signal: Signal) -> Bool {
    mask >> UInt64(signal.rawValue - 1) & 1 == 1
  }
}

package struct EndedProcess: Sendable, Equatable {
  package enum Which: Sendable {
    case any
    case pid(Int32)
    /// A pidfd.
    case descriptor(Int32)
  }

  package enum Status: Sendable, Equatable {
    case exit(Int32)
    case signal(Int32)
  }
  package let pid: Int32
  package let status: Status
  /// Includes children that the process waited for.
  package let userMicroseconds: Int64
  package let systemMicroseconds: Int64
  package let peakKibibytes: Int64

  /// nil while the child runs; throws `noChild` if it does not exist.
  package static func reap(_ which: Which, block: Bool) throws(Errno) -> EndedProcess? {
    var ended = clinux_ended()
    let (kind, id): (Int, Int32) =
      switch which {
      case .any: (CLINUX_WAIT_ANY, 0)
      case .pid(let pid): (CLINUX_WAIT_PID, pid)
      case .descriptor(let descriptor): (CLINUX_WAIT_PIDFD, descriptor)
      }
    try call { clinux_reap(Int32(truncatingIfNeeded: kind), id, block ? 1 : 0, &ended) }
    if ended.pid == 0 { return nil }
    return EndedProcess(
      pid: ended.pid, status: ended.by_signal != 0 ? .signal(ended.status) : .exit(ended.status),
      userMicroseconds: ended.user_microseconds, systemMicroseconds: ended.system_microseconds,
      peakKibibytes: ended.peak_kibibytes)
  }
}
