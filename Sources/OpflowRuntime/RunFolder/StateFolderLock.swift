internal import OpflowCore
internal import OpflowSystem

/// The right to say which run is the one to continue: held from the look for it until that run's lock
/// is taken, or until the first line of a new run tells the next process of it. Of two that want to
/// continue at once the second so finds what the first one drives.
///
/// The kernel gives it up when its holder is gone. A run that is begun without a look at others, and a
/// resume of a run that is named, need none.
package struct StateFolderLock: ~Copyable {
  private let lock: FileLock

  /// Takes the lock; makes the folder where it is missing.
  ///
  /// - Parameter waiting: called once before this waits for another process, which is named where
  ///   that is known.
  package static func take(
    _ state: StateFolder, waiting: (LockHolder?) -> Void
  ) throws(RunFolderError) -> StateFolderLock {
    try makeFolder(state.path)
    return try take(state.path + "/lock", waiting: waiting)
  }

  /// The same of another file, whose folder is there.
  static func take(
    _ path: String, waiting: (LockHolder?) -> Void
  ) throws(RunFolderError) -> StateFolderLock {
    let free = try doing("lock", path) { () throws(Errno) in
      try FileLock.tryLock(path, .exclusive)
    }
    if let free { return try StateFolderLock(free, path) }
    waiting(LockHolder.read(path))
    let late = try doing("lock", path) { () throws(Errno) in
      try FileLock.lock(path, .exclusive)
    }
    return try StateFolderLock(late, path)
  }

  private init(_ lock: consuming FileLock, _ path: String) throws(RunFolderError) {
    self.lock = lock
    try doing("write", path) { () throws(Errno) in
      try LockHolder.write(to: self.lock.file)
    }
  }

  private static func makeFolder(_ path: String) throws(RunFolderError) {
    try doing("make", path) { () throws(Errno) in
      for folder in try Path.makeDirectories(path, mode: 0o700) {
        try Path.syncFolder(Path.parent(of: folder))
      }
    }
  }
}
