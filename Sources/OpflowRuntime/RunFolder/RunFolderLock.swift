internal import OpflowCore
internal import OpflowSystem

/// The right to drive a run. The kernel gives it up when this process is gone, however that ends; a
/// lock file that nobody holds is no lock.
///
/// On a file system that keeps the locks of each machine apart (`NetworkFiles.carriesLocks`) a lock that is free says nothing
/// of others. There a file that names a process of another machine is a lock as well: who gives it up takes its name out. One
/// that was killed leaves it, which a person has to say (`takeOver`).
package struct RunFolderLock: ~Copyable {
  private let lock: FileLock

  init(lock: consuming FileLock) { self.lock = lock }

  deinit { LockHolder.clear(lock.file) }

  /// By what its holder sees that nobody has taken the run over.
  func claim(to folder: RunFolder) -> RunClaim? { RunClaim(lock.file, at: folder.lock) }

  /// Takes the lock and names this process in it.
  ///
  /// - Throws: `held` with the holder; `removed` where somebody removes or removed the run.
  package static func take(_ folder: RunFolder) throws(RunFolderError) -> RunFolderLock {
    for _ in 0..<patience {
      guard let taken = try tryLock(folder) else {
        // A view that just looks (`isHeld`), a holder that has not written its name yet, or one that was
        // killed and is on its way out.
        try pause(folder)
        continue
      }
      // Who removes a run holds its lock, and gives the run another name first.
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

  /// Sees whether a process drives the run. One that holds it and is not named is given as long as by
  /// `take`: it may have written no name yet, be on its way out, or be about to remove the run.
  ///
  /// - Throws: `held` with the holder.
  package static func expectFree(_ folder: RunFolder) throws(RunFolderError) {
    for _ in 0..<patience {
      if try !isHeld(folder) { return }
      if holder(folder) != nil { break }
      try pause(folder)
    }
    throw .held(run: folder.id.description, by: holder(folder))
  }

  /// Waits until no process drives the run, or there is none.
  package static func waitUntilFree(_ folder: RunFolder) throws(RunFolderError) {
    while true {
      try doing("wait for", folder.lock) { () throws(Errno) in
        try FileLock.waitUntilFree(folder.lock)
      }
      if namedElsewhere(folder) == nil { return }
      Clock.sleep(milliseconds: intervalMilliseconds)
    }
  }

  /// From one look at another machine's lock to the next, each of which asks a file server.
  static let intervalMilliseconds: Int32 = 500

  /// Whether a process drives the run now.
  package static func isHeld(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try doing("look at", folder.lock) { () throws(Errno) in try FileLock.isHeld(folder.lock) }
      || namedElsewhere(folder) != nil
  }

  /// A process of another machine that may drive the run though its lock is free here.
  private static func namedElsewhere(_ folder: RunFolder) -> LockHolder? {
    guard let holder = holder(folder), holder.host != nil,
      !NetworkFiles.carriesLocks(at: folder.lock)
    else { return nil }
    return holder
  }

  /// Whether a process means to drive the run again (`run --watch`), whoever drives it now.
  package static func isWatched(_ folder: RunFolder) -> Bool {
    (try? FileLock.isHeld(folder.watchLock)) ?? false
  }

  /// The process that the lock file names.
  package static func holder(_ folder: RunFolder) -> LockHolder? { LockHolder.read(folder.lock) }
}

extension Descriptor {
  /// Whether the file has that path still.
  borrowing func isStill(at path: String) throws(RunFolderError) -> Bool {
    let own = try doing("look at", path) { () throws(Errno) in try status() }
    return (try? Path.status(path))?.identity == own.identity
  }
}
