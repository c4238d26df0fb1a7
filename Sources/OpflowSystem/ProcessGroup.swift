internal import Glibc

/// The jobs of a terminal (credentials(7)).
package enum ProcessGroup {
  package static var own: Int32 { getpgrp() }

  /// Joins the group of the process that started this one.
  ///
  /// - Throws: EPERM where that is of another session.
  package static func joinParent() throws(Errno) {
    let group = getpgid(getppid())
    try call { setpgid(0, group) }
  }

  /// Whether any process is in it.
  package static func isThere(_ group: Int32) -> Bool {
    group > 0 && (kill(-group, 0) == 0 || errno == EPERM)
  }

  /// Kills a group and all that descends from its leader, which is a child of this process that is not reaped yet: so
  /// the number is not another group's. What left the group when the leader had ended is not found.
  package static func killAll(ledBy leader: Int32) {
    ProcessTree.killAll(from: leader)
    // Nothing is left where this fails, or it is another user's.
    if leader > 0 { _ = kill(-leader, Signal.kill.rawValue) }
  }

  /// Whether no shell would continue this process's group, so that keys stop nobody in it (setpgid(2),
  /// "orphaned"). Looks at this process and those above it: what else is in the group was started beside
  /// them by the same shell, or by them.
  package static var isOrphaned: Bool {
    let group = getpgrp()
    var parent = getppid()
    while let status = ProcessStatus.read(parent), status.session == getsid(0) {
      if status.group != group { return false }
      parent = status.parent
    }
    return true
  }

  /// The processes of this process's group that its children started, and what those started.
  package static func grandchildren() -> [Int32] {
    let own = ProcessID.own
    let children = ProcessTree.children(of: own)
    return ProcessTree.descendants(of: own).filter { pid in
      !children.contains(pid) && ProcessStatus.read(pid)?.group == getpgrp()
    }
  }

  /// Sends it to those.
  package static func signalGrandchildren(_ signal: Signal) {
    for pid in grandchildren() {
      guard let descriptor = (try? ProcessTree.open(pid)) ?? nil else { continue }
      // Nothing where it is gone, or another user's by now.
      try? ProcessTree.send(signal, through: descriptor.rawValue)
    }
  }

  /// What becomes of a process that was sent SIGTSTP.
  package enum Halt: Int {
    /// It stands still, or does not care.
    case none
    /// It may have something to do before it stops, or may go on.
    case perhaps
    /// It stops as soon as it gets a processor, and until then may still read what is typed.
    case certain
  }

  /// What becomes of those of `grandchildren` that stop last.
  package static func halt() -> Halt {
    let all = grandchildren().map { halt(of: $0).rawValue }
    return Halt(rawValue: all.max() ?? 0) ?? .none
  }

  private static func halt(of pid: Int32) -> Halt {
    guard let signals = SignalState(of: pid), !signals.ignores(.terminalStop) else { return .none }
    if signals.catches(.terminalStop) {
      // Its handler is to run, or runs, while the signal is blocked; wherever in the kernel it waits now.
      return isAny(of: pid, in: "RSD") ? .perhaps : .none
    }
    // In state D it waits for nothing that is typed: it sees the signal first, or is the parent of one that stopped on the
    // way to its exec.
    guard isAny(of: pid, in: "RS") else { return .none }
    if signals.blocks(.terminalStop) { return signals.awaits(.terminalStop) ? .perhaps : .none }
    return .certain
  }

  /// Whether any thread of it is in one of those states (proc(5), stat).
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

/// What a process does with signals (proc(5), /proc/PID/status: masks in hexadecimal).
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
