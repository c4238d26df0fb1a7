internal import OpflowPlan
internal import OpflowSystem

/// The right to drive a run. The kernel releases the lock when the process ends.
///
/// On a file system with separate locks per machine (`NetworkFiles.carriesLocks`), a lock file that
/// names a process of another machine counts as locked, too. A holder clears its name on release; a
/// killed one leaves it, and then the user must decide (`takeOver`).
package struct RunFolderLock: ~Copyable {
  private let lock: FileLock

  init(lock: consuming FileLock) { self.lock = lock }

  deinit { LockHolder.clear(lock.file) }

  func claim(to folder: RunFolder) -> RunClaim? { RunClaim(lock.file, at: folder.lock) }

  /// Throws `held` with the holder, `removed` if the run is being or was removed.
  package static func take(_ folder: RunFolder) throws(RunFolderError) -> RunFolderLock {
    for _ in 0..<patience {
      guard let taken = try tryLock(folder) else {
        // The lock is only being checked (`isHeld`), or its holder is starting or ending.
        try pause(folder)
        continue
      }
      // A removal holds the lock and renames the run first.
      if try taken.file.isStill(at: folder.lock) {
        if let other = namedElsewhere(folder) {
          throw .held(run: folder.id.description, by: other)
        }
        try doing("write", folder.lock) { () throws(Errno) in
          try LockHolder.write(to: taken.file)
        }
        return RunFolderLock(lock: taken)
      }
    }
    throw .held(run: folder.id.description, by: holder(folder))
  }

  private static func tryLock(_ folder: RunFolder) throws(RunFolderError) -> FileLock? {
    do throws(Errno) {
      return try FileLock.tryLock(folder.lock, .exclusive)
    } catch {
      if error == .noSuchFile, Path.isMissing(folder.path) {
        throw .removed(run: folder.id.description)
      }
      throw .file(doing: "lock", path: folder.lock, error)
    }
  }

  private static let patience = 40

  private static func pause(_ folder: RunFolder) throws(RunFolderError) {
    try doing("lock", folder.lock) { () throws(Errno) in
      try PollSet.pause(nanoseconds: 5_000_000)
    }
  }

  /// Waits as long as `take` for a holder without a name, which may be starting, ending, or
  /// removing the run. Throws `held` with the holder.
  package static func expectFree(_ folder: RunFolder) throws(RunFolderError) {
    for _ in 0..<patience {
      if try !isHeld(folder) { return }
      if holder(folder) != nil { break }
      try pause(folder)
    }
    throw .held(run: folder.id.description, by: holder(folder))
  }

  package static func waitUntilFree(_ folder: RunFolder) throws(RunFolderError) {
    while true {
      try doing("wait for", folder.lock) { () throws(Errno) in
        try FileLock.waitUntilFree(folder.lock)
      }
      if namedElsewhere(folder) == nil { return }
      Clock.sleep(milliseconds: intervalMilliseconds)
    }
  }

  /// Each check of another machine's lock asks a file server.
  static let intervalMilliseconds: Int32 = 500

  package static func isHeld(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try doing("look at", folder.lock) { () throws(Errno) in try FileLock.isHeld(folder.lock) }
      || namedElsewhere(folder) != nil
  }

  /// A possible holder on another machine, although the lock is free here.
  private static func namedElsewhere(_ folder: RunFolder) -> LockHolder? {
    guard let holder = holder(folder), holder.host != nil,
      !NetworkFiles.carriesLocks(at: folder.lock)
    else { return nil }
    return holder
  }

  /// A process will resume the run when its files change (`run --watch`), whoever drives it now.
  package static func isWatched(_ folder: RunFolder) -> Bool {
    (try? FileLock.isHeld(folder.watchLock)) ?? false
  }

  package static func holder(_ folder: RunFolder) -> LockHolder? { LockHolder.read(folder.lock) }
}

extension Descriptor {
  borrowing func isStill(at path: String) throws(RunFolderError) -> Bool {
    let own = try doing("look at", path) { () throws(Errno) in try status() }
    return (try? Path.status(path))?.identity == own.identity
  }
}
