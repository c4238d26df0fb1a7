internal import OpflowSystem

/// That this program has a run as its queue. The kernel gives it up when the program is gone; a child that it forks has it
/// not.
///
/// When the process that drives the run dies, all programs that have the run find that, each at its own time, and another
/// program may open the queue before any of them: whoever is first goes on with what the others were told of.
package final class HostsLock {
  private let lock: FileLock
  private let fork: ForkGuard

  /// Waits for an instant where somebody looks (`isHeld`).
  package init(_ folder: RunFolder) throws(RunFolderError) {
    lock = try doing("lock", folder.hostsLock) { () throws(Errno) in
      try FileLock.lock(folder.hostsLock, .shared).aboveStandard()
    }
    fork = ForkGuard(lock.file.rawValue)
  }

  /// Whether any program has the run. For who holds the run's own lock, so that nobody else looks at the same time.
  static func isHeld(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try doing("look at", folder.hostsLock) { () throws(Errno) in
      try FileLock.tryLock(folder.hostsLock, .exclusive) == nil
    }
  }
}
