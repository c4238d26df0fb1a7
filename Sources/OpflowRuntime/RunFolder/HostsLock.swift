internal import OpflowSystem

/// That this program has a run as its queue.
///
/// When the process that drives the run dies, all programs that have the run find that, each at its own time, and another
/// program may open the queue before any of them: whoever is first goes on with what the others were told of. Who waits for
/// the run's end (`opflow wait`) sees by it that the run is about to go on.
package final class HostsLock {
  private let lock: SharedLock

  package init(_ folder: RunFolder) throws(RunFolderError) {
    lock = try doing("lock", folder.hostsLock) { () throws(Errno) in
      try SharedLock(folder.hostsLock)
    }
  }

  /// Whether a process drives a run, or a program that has it is about to start one. In this order: a program that is
  /// seen to be gone starts none any more.
  package static func goesOn(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    if try isHeld(folder) { return true }
    return try RunFolderLock.isHeld(folder)
  }

  /// Whether any program has the run.
  package static func isHeld(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try doing("look at", folder.hostsLock) { () throws(Errno) in
      try SharedLock.isHeld(folder.hostsLock)
    }
  }
}
