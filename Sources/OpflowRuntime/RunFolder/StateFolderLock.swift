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
    try state.expectTrusted()
    return try take(state.path + "/lock", waiting: waiting)
  }

  /// The same of another file, whose folder is there. It may be removed while nobody holds the lock, see
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

  /// The same without a wait for others; nil where one holds it that has written its name.
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
        // It has just come, is on its way out, or removes the file.
        try doing("lock", path) { () throws(Errno) in
          try PollSet.pause(nanoseconds: 1_000_000)
        }
      }
    }
  }

  /// Removes such a file where nobody holds its lock. Who has it open by then, and takes the lock of what
  /// has no name any more, looks whether the name is still that of the file.
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
