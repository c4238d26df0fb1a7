internal import CLinux
internal import Glibc

/// The descendants of this process. After `becomeSubreaper`, orphans among them become its
/// children, even after double forks and setsid.
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

  /// `child` is not reaped, so its number is not reused.
  static func send(_ signal: Signal, to child: Int32) throws(Errno) {
    try call { kill(child, signal.rawValue) }
  }

  /// nil if no process has the pid.
  package static func open(_ pid: Int32) throws(Errno) -> Descriptor? {
    do throws(Errno) {
      return Descriptor(owning: try call { clinux_pidfd_open(pid) })
    } catch .noSuchProcess {
      return nil
    } catch .invalid {
      // The number of a thread, or not a valid pid.
      return nil
    }
  }

  /// Includes zombies. May be incomplete while others exit: callers that need all must repeat it.
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

  /// Parents come before children.
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
    /// In this call or an earlier one.
    package var reached: Set<Int32> = []
    /// Processes of other users.
    package var refused: Set<Int32> = []
    package init() {}
  }

  /// Sends `signal` to every descendant not in `delivery` yet, except `exempt` and their
  /// descendants. Repeats until a pass finds no new process, at most `passes` times (a fork bomb
  /// never ends). Returns whether any was new.
  ///
  /// A process may start others in response (a shell's cleanup trap), which must not get the
  /// signal: later passes skip processes that started after the first pass began, except for KILL,
  /// STOP and CONT.
  ///
  /// - Parameter isSpared: processes that get the signal another way, skipped with their
  ///   descendants, except for KILL, STOP and CONT.
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
        // Existing children get the signal too, those started in response do not.
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

  /// Kills an unreaped child and all its descendants.
  package static func killAll(from child: Int32) {
    for pid in [child] + descendants(of: child) {
      // The descriptor pins one process.
      guard let descriptor = (try? open(pid)) ?? nil,
        descends(pid, from: child, exempt: [])
      else { continue }
      try? send(.kill, through: descriptor.rawValue)
    }
  }

  /// Not at or below one of `exempt`.
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
