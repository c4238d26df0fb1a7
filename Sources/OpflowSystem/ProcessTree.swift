internal import CLinux
internal import Glibc

/// The processes below this one.
///
/// A process that calls `becomeSubreaper` is the new parent of every descendant whose own parent
/// ends, double forks and new sessions included, so nothing below it gets out of its reach.
package enum ProcessTree {
  package static func becomeSubreaper() throws(Errno) {
    try call { clinux_become_subreaper() }
  }

  /// Sends a signal through a pidfd; nothing when the process has ended and been reaped.
  package static func send(_ signal: Signal, through pidfd: Int32) throws(Errno) {
    do throws(Errno) {
      try call { clinux_pidfd_signal(pidfd, signal.rawValue) }
    } catch .noSuchProcess {}
  }

  /// Sends a signal to a child that is not reaped yet, and so still has its number.
  static func send(_ signal: Signal, to child: Int32) throws(Errno) {
    try call { kill(child, signal.rawValue) }
  }

  /// A descriptor that stands for the process which has this pid now; nil when there is none.
  package static func open(_ pid: Int32) throws(Errno) -> Descriptor? {
    do throws(Errno) {
      return Descriptor(owning: try call { clinux_pidfd_open(pid) })
    } catch .noSuchProcess {
      return nil
    } catch .invalid {
      // A thread's number, or none that a process can have.
      return nil
    }
  }

  /// The children of a process, zombies included (proc(5), /proc/PID/task/TID/children). The kernel
  /// may leave some out while others end: whoever must have them all asks again.
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

  /// All that descends from a process, parents before their children.
  package static func descendants(of pid: Int32) -> [Int32] {
    var walk = Walk(from: pid)
    while let next = walk.next() { walk.append(childrenOf: next) }
    return walk.found
  }

  /// A way through what descends from a process, parents before their children.
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

    /// Returns those that are new.
    @discardableResult
    mutating func append(childrenOf pid: Int32) -> ArraySlice<Int32> {
      let before = found.count
      for child in ProcessTree.children(of: pid) where known.insert(child).inserted {
        found.append(child)
      }
      return found[before...]
    }
  }

  /// What a signal to many processes came to.
  package struct Delivery: Sendable {
    /// The processes that were sent it, this pass and before.
    package var reached: Set<Int32> = []
    /// Processes that it may not be sent to: they belong to another user.
    package var refused: Set<Int32> = []
    package init() {}
  }

  /// Sends `signal` to every descendant of this process that `delivery` does not name yet, again
  /// until a pass finds no new one (`passes` at most: a bomb of forks has no end), `exempt` and what
  /// is below them left out. Returns whether any was new.
  ///
  /// A process may answer a signal with work of its own (a shell's trap that tidies up), and what it
  /// starts for that is no longer meant: passes after the first leave out what began later than the
  /// first did. A kill and a halt are for all.
  ///
  /// - Parameter isSpared: of a signal that can be answered, processes that are told by others, with all that is
  ///   below them; not of a kill or a halt.
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
        // Before it is told: what it has now is told too, what it starts after that is not.
        let children = walk.append(childrenOf: pid)
        guard !delivery.reached.contains(pid), !delivery.refused.contains(pid) else { continue }
        // One that is just becoming another program may show nothing by which it can be known.
        if signal.canBeAnswered, belowSpared.contains(pid) || isSpared(pid) {
          belowSpared.formUnion(children)
          continue
        }
        // From here on the descriptor means one process, whatever becomes of its number; then it
        // is looked at once more whether that process is one of ours.
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

  /// Kills a child that is not reaped yet, and all that descends from it.
  package static func killAll(from child: Int32) {
    for pid in [child] + descendants(of: child) {
      // From here on the descriptor means one process, whatever becomes of its number.
      guard let descriptor = (try? open(pid)) ?? nil,
        descends(pid, from: child, exempt: [])
      else { continue }
      try? send(.kill, through: descriptor.rawValue)
    }
  }

  /// Whether `pid` is below `ancestor` right now and not at or below one of `exempt`.
  private static func descends(_ pid: Int32, from ancestor: Int32, exempt: Set<Int32>) -> Bool {
    var current = pid
    // Bounded, since the chain is read while it may change.
    for _ in 0..<4096 {
      if current == ancestor { return true }
      if current <= 1 || exempt.contains(current) { return false }
      guard let status = ProcessStatus.read(current) else { return false }
      current = status.parent
    }
    return false
  }
}
