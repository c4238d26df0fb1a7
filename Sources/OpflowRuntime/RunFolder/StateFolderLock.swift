internal import OpflowSystem

/// The right to choose the run to continue: held from the search until that run's lock is taken, or
/// until a new run's first line is written. So the second of two such processes finds the run of
/// the first. A new run without a search, and a resume of a named run, do not need it.
package struct StateFolderLock: ~Copyable {
  private let lock: FileLock

  /// Creates the folder if it is missing. Calls `waiting` once before a wait, with the holder if
  /// known.
  package static func take(
    _ state: StateFolder, waiting: (LockHolder?) -> Void
  ) throws(RunFolderError) -> StateFolderLock {
    try makeFolder(state.path)
    try state.expectTrusted()
    return try take(state.path + "/lock", waiting: waiting)
  }

  /// For another lock file, in an existing folder. It may be removed while it is not held: see
  /// `removeUnheld`.
  static func take(
    _ path: String, waiting: (LockHolder?) -> Void
  ) throws(RunFolderError) -> StateFolderLock {
    var isTold = false
    while true {
      let free = try doing("lock", path) { () throws(Errno) in
        try FileLock.tryLock(path, .exclusive)
      }
      if let free {
        if try free.file.isStill(at: path) { return try StateFolderLock(free, path) }
        continue
      }
      if !isTold { waiting(LockHolder.read(path)) }
      isTold = true
      let late = try doing("lock", path) { () throws(Errno) in
        try FileLock.lock(path, .exclusive)
      }
      if try late.file.isStill(at: path) { return try StateFolderLock(late, path) }
    }
  }

  /// nil if a process holds it and has written its name.
  static func takeIfFree(_ path: String) throws(RunFolderError) -> StateFolderLock? {
    while true {
      let free = try doing("lock", path) { () throws(Errno) in
        try FileLock.tryLock(path, .exclusive)
      }
      if let free {
        if try free.file.isStill(at: path) { return try StateFolderLock(free, path) }
      } else if LockHolder.read(path) != nil {
        return nil
      } else {
        // The holder is starting, ending, or removing the file.
        try doing("lock", path) { () throws(Errno) in
          try PollSet.pause(nanoseconds: 1_000_000)
        }
      }
    }
  }

  /// A process that locks the file afterwards sees that the path no longer refers to it.
  static func removeUnheld(_ path: String) throws(Errno) {
    let file = try File.openRegular(path, .readWrite)
    guard try file.tryLock(), (try? file.isStill(at: path)) ?? false else { return }
    try Path.removeIfThere(path)
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
