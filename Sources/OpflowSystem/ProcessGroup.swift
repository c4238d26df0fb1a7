internal import Glibc

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

  /// Kills a group and all descendants of its leader, an unreaped child, whose number is therefore
  /// not reused. Misses processes that left the group after the leader ended.
  package static func killAll(ledBy leader: Int32) {
    ProcessTree.killAll(from: leader)
    // Fails if none is left, or for another user's.
    if leader > 0 { _ = kill(-leader, Signal.kill.rawValue) }
  }

  /// Whether this process's group is orphaned (setpgid(2)): no shell continues it and stop keys
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
      // Fails if the process is gone or became another user's.
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
      // Its handler is pending or runs, with the signal blocked, wherever it sleeps in the kernel.
      return isAny(of: pid, in: "RSD") ? .perhaps : .none
    }
    // State D does not wait for input: it handles the signal first, or is a vfork parent whose
    // child stopped before its exec.
    guard isAny(of: pid, in: "RS") else { return .none }
    if signals.blocks(.terminalStop) { return signals.awaits(.terminalStop) ? .perhaps : .none }
    return .certain
  }

  /// Whether a thread is in one of these states (proc(5), stat).
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
