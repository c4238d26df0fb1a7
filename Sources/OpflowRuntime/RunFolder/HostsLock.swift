internal import OpflowSystem

/// The shared lock of each client that uses a run as its queue.
///
/// If the run's process dies, all clients notice, each at its own time, and a new client may come
/// first: the first one continues the run, including tasks that were confirmed to the others.
/// `opflow wait` sees from this lock that the run will continue.
package final class HostsLock {
  private let lock: SharedLock

  package init(_ folder: RunFolder) throws(RunFolderError) {
    lock = try doing("lock", folder.hostsLock) { () throws(Errno) in
      try SharedLock(folder.hostsLock)
    }
  }

  /// A process drives the run or a client is about to. A client that is gone by then starts no
  /// session.
  package static func goesOn(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    if try isHeld(folder) { return true }
    return try RunFolderLock.isHeld(folder)
  }

  package static func isHeld(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try doing("look at", folder.hostsLock) { () throws(Errno) in
      try SharedLock.isHeld(folder.hostsLock)
    }
  }
}
