internal import OpflowCore
internal import OpflowSystem

/// The right to drive a run. The kernel gives it up when this process is gone, however that ends; a
/// lock file that nobody holds is no lock.
package struct RunFolderLock: ~Copyable {
  private let lock: FileLock

  /// Takes the lock and writes this process's id into it.
  ///
  /// - Throws: `held` with the holder's pid.
  package static func take(_ folder: RunFolder) throws(RunFolderError) -> RunFolderLock {
    var waiter = PollSet(slots: 0)
    for _ in 0..<patience {
      let taken = try doing("lock", folder.lock) { () throws(Errno) in
        try FileLock.tryLock(folder.lock, .exclusive)
      }
      if let taken {
        try doing("write", folder.lock) { () throws(Errno) in
          try taken.file.truncate(to: 0)
          try taken.file.writeAll("\(ProcessID.own)\n")
        }
        return RunFolderLock(lock: taken)
      }
      if let pid = holder(folder) { throw .held(run: folder.id.description, pid: pid) }
      // A view that just looks (`isHeld`), or a holder that has not written its pid yet.
      _ = try doing("lock", folder.lock) { () throws(Errno) in
        try waiter.wait(nanoseconds: 5_000_000)
      }
    }
    throw .held(run: folder.id.description, pid: nil)
  }

  private static let patience = 40

  /// Whether a process drives the run now.
  package static func isHeld(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try doing("look at", folder.lock) { () throws(Errno) in try FileLock.isHeld(folder.lock) }
  }

  /// The living process whose id stands in the lock file. Only a lock that is held says that it
  /// still is the holder.
  package static func holder(_ folder: RunFolder) -> Int32? {
    guard let bytes = try? File.read(folder.lock),
      let pid: Int32 = Field.number(bytes.prefix { $0 != Field.lineFeed }),
      pid > 0, ProcessStatus.read(pid) != nil
    else { return nil }
    return pid
  }
}
