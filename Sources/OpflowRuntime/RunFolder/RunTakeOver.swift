internal import OpflowPlan
internal import OpflowSystem

/// Takes over a run that a process on another machine holds. That machine may be gone: a network
/// file system keeps a lock as long as it believes that the machine is alive.
///
/// opflow first waits; then the user must state that the machine is gone. The takeover replaces the
/// journal by a copy and the lock file by a new one that this process has locked.
///
/// - Two takeovers at once: they are serialised, and the second finds the lock of the first, whose
///   machine was not declared gone.
/// - The other machine comes back: its process writes to a journal without a name. It sees that the
///   lock file was replaced (`RunClaim`), kills its tasks, and writes no end.
/// - This process dies half-way: until the lock file is replaced, the other process is still the
///   holder and its journal is complete.
extension RunFolderLock {
  /// How long a network file system may keep the lock of a dead machine, plus a margin.
  package static let patienceMilliseconds: Int64 = 120_000

  /// Waits if a process on another machine holds the lock; calls `tell` once with that holder.
  /// Throws `heldElsewhere` after a wait in vain.
  package static func take(
    _ folder: RunFolder, waitingMilliseconds patience: Int64 = patienceMilliseconds,
    tell: (LockHolder) -> Void
  ) throws(RunFolderError) -> RunFolderLock {
    let deadline = Clock.monotonicNanoseconds + patience * 1_000_000
    var isTold = false
    while true {
      do throws(RunFolderError) {
        return try take(folder)
      } catch {
        guard let holder = error.holderElsewhere else { throw error }
        if !isTold { tell(holder) }
        isTold = true
        guard Clock.monotonicNanoseconds < deadline else {
          throw .heldElsewhere(run: folder.id.description, by: holder)
        }
        repeat {
          Clock.sleep(milliseconds: intervalMilliseconds)
        } while try isHeldElsewhere(folder) && Clock.monotonicNanoseconds < deadline
      }
    }
  }

  private static func isHeldElsewhere(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try isHeld(folder) && holder(folder)?.host != nil
  }

  /// Even from a process on another machine. Throws `held` if a process on this machine has the
  /// lock, or another takeover was faster.
  package static func takeOver(_ folder: RunFolder) throws(RunFolderError) -> RunFolderLock {
    let before = try? Path.status(folder.lock).identity
    do throws(RunFolderError) {
      return try take(folder)
    } catch {
      if error.holderElsewhere == nil { throw error }
    }
    let turn = try doing("lock", folder.takeOverLock) { () throws(Errno) in
      try FileLock.tryLock(folder.takeOverLock, .exclusive)
    }
    guard let turn else {
      throw .held(run: folder.id.description, by: LockHolder.read(folder.takeOverLock))
    }
    let path = folder.takeOverLock
    try doing("write", path) { () throws(Errno) in try LockHolder.write(to: turn.file) }
    guard let before, let now = try? Path.status(folder.lock).identity, now == before else {
      throw .held(run: folder.id.description, by: holder(folder))
    }
    try replaceJournal(of: folder)
    return try replaceLock(of: folder)
  }

  private static func replaceJournal(of folder: RunFolder) throws(RunFolderError) {
    try doing("copy", folder.journal) { () throws(Errno) in
      do throws(Errno) {
        let old = try MappedFile(folder.journal)
        defer { MappedFile.unmap(old.bytes) }
        try File.replace(folder.journal, with: old.bytes)
      } catch .noSuchFile {
        // The run never began.
        return
      }
    }
  }

  private static func replaceLock(
    of folder: RunFolder
  ) throws(RunFolderError) -> RunFolderLock {
    let path = folder.lock + ".new"
    return try doing("replace", folder.lock) { () throws(Errno) in
      try Path.removeIfThere(path)
      guard let new = try FileLock.tryLock(path, .exclusive) else { throw .busy }
      try LockHolder.write(to: new.file)
      try Path.rename(path, to: folder.lock)
      return RunFolderLock(lock: new)
    }
  }
}

extension RunFolderError {
  /// On another machine.
  package var holderElsewhere: LockHolder? {
    if case .held(_, let holder?) = self, holder.host != nil { holder } else { nil }
  }
}

/// Detects whether another process has taken the run over.
struct RunClaim {
  private let path: String
  private let identity: FileIdentity
  /// Compare contents too: a replacement may reuse the inode number.
  private let isByName: Bool

  init?(_ file: borrowing Descriptor, at path: String) {
    guard let identity = try? file.status().identity else { return nil }
    (self.path, self.identity) = (path, identity)
    isByName = !NetworkFiles.carriesLocks(at: path)
  }

  /// False if that cannot be checked.
  var isLost: Bool {
    // Opening a file makes a network file system look it up again.
    guard let file = try? File.openRegular(path, .readOnly), let now = try? file.status().identity
    else {
      return false
    }
    return now != identity || isByName && LockHolder.isAnother(path)
  }
}
