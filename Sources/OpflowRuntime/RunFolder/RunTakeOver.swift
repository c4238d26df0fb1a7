internal import OpflowCore
internal import OpflowSystem

/// A run that a process on another machine holds, which may be gone: a network's file system keeps the lock for as long
/// as it takes that machine for alive.
///
/// It is waited for; then a person has to say that the machine is gone, and the run is taken over: the journal gets a
/// copy in its place, and the lock's file another one, which this process has locked.
///
/// Races, and what holds in each:
/// - Two take it over at once: they do so one after the other, and the second finds the lock of the first, whose machine
///   nobody said to be gone.
/// - The other machine comes back: its process writes to a journal that has no name any more. It sees that its lock's file
///   has another one in its place (`RunClaim`), ends all that it has, and writes no end.
/// - This process dies half-way: until the lock's file is replaced, the other one is the holder still, and its journal is
///   whole.
extension RunFolderLock {
  /// How long a network's file system may keep the lock of a machine that is gone, and a little.
  package static let patienceMilliseconds: Int64 = 120_000

  /// Takes the lock. Where a process of another machine has it, that is waited for.
  ///
  /// - Parameter tell: is told of that once.
  /// - Throws: as `take`; `heldElsewhere` where that was in vain.
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

  /// Takes the lock; from a process of another machine, too.
  ///
  /// - Throws: `held` where a process of this machine has it, or another one was faster.
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
        // It never began.
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
  /// The process of another machine that holds the run.
  package var holderElsewhere: LockHolder? {
    if case .held(_, let holder?) = self, holder.host != nil { holder } else { nil }
  }
}

/// By what a process sees that a run is still its own to drive.
struct RunClaim {
  private let path: String
  private let identity: FileIdentity
  /// Another file in its place may get the number of the first: what it says counts as well.
  private let isByName: Bool

  /// Nil where that cannot be known.
  init?(_ file: borrowing Descriptor, at path: String) {
    guard let identity = try? file.status().identity else { return nil }
    (self.path, self.identity) = (path, identity)
    isByName = !NetworkFiles.carriesLocks(at: path)
  }

  /// Whether another process has taken the run over. What cannot be looked at is as it was.
  var isLost: Bool {
    // A file that is opened is looked for anew on a network's file system.
    guard let file = try? File.openRegular(path, .readOnly), let now = try? file.status().identity
    else {
      return false
    }
    return now != identity || isByName && LockHolder.isAnother(path)
  }
}
