internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// The right to run sessions of a run. The kernel releases the lock when the process ends.
///
/// On a file system with separate locks per machine (`NetworkFiles.carriesLocks`), a lock file that
/// names a process of another machine is also locked. A holder clears its name on release. A killed
/// holder leaves its name, and then the user must decide (`takeOver`).
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
      // A removal takes the lock and renames the run first.
      if try taken.file.isStill(at: folder.lock) {
        if let other = namedElsewhere(folder) {
          throw .held(run: folder.id.description, by: other)
        }
        try doing("write", folder.lock, LockHolder.write(to: taken.file))
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
    try doing("lock", folder.lock, PollSet.pause(nanoseconds: 5_000_000))
  }

  /// Waits as long as `take` for a holder without a name, which may be starting, ending, or
  /// removing the run. Throws `held`.
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
      try doing("wait for", folder.lock, FileLock.waitUntilFree(folder.lock))
      if namedElsewhere(folder) == nil { return }
      Clock.sleep(milliseconds: intervalMilliseconds)
    }
  }

  /// Each check of another machine's lock asks a file server.
  static let intervalMilliseconds: Int32 = 500

  package static func isHeld(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try doing("check", folder.lock, FileLock.isHeld(folder.lock))
      || namedElsewhere(folder) != nil
  }

  /// Returns a possible holder on another machine, although the lock is free here.
  private static func namedElsewhere(_ folder: RunFolder) -> LockHolder? {
    guard let holder = holder(folder), holder.host != nil,
      !NetworkFiles.carriesLocks(at: folder.lock)
    else { return nil }
    return holder
  }

  /// True if a process will resume the run when its files change (`run --watch`).
  package static func isWatched(_ folder: RunFolder) -> Bool {
    (try? FileLock.isHeld(folder.watchLock)) ?? false
  }

  package static func holder(_ folder: RunFolder) -> LockHolder? { LockHolder.read(folder.lock) }
}

extension Descriptor {
  borrowing func isStill(at path: String) throws(RunFolderError) -> Bool {
    let own = try doing("check", path, status())
    return (try? Path.status(path))?.identity == own.identity
  }
}

/// Takes over a run that a process on another machine holds. The machine may be gone: a network
/// file system keeps a lock as long as it believes that the machine is alive.
///
/// opflow first waits; then the user must state that the machine is gone. The takeover replaces the
/// journal by a copy, and the lock file by a new file that this process has locked.
///
/// - Two takeovers at once: they are serialized, and the second finds the lock of the first, whose
///   machine was not declared gone.
/// - The other machine comes back: its process writes to a journal without a name. It sees that the
///   lock file was replaced (`RunClaim`), kills its tasks, and writes no end.
/// - This process dies half-way: until the lock file is replaced, the other process is still the
///   holder and its journal is complete.
extension RunFolderLock {
  /// How long a network file system may keep a dead machine's lock, plus a margin.
  package static let patienceMilliseconds: Int64 = 120_000

  /// Waits for a holder on another machine; calls `tell` once. Throws `heldElsewhere` after a wait
  /// in vain.
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

  /// Takes the lock even from another machine's process. Throws `held` if a process on this machine
  /// has the lock, or another takeover was faster.
  package static func takeOver(_ folder: RunFolder) throws(RunFolderError) -> RunFolderLock {
    let before = try? Path.status(folder.lock).identity
    do throws(RunFolderError) {
      return try take(folder)
    } catch {
      if error.holderElsewhere == nil { throw error }
    }
    let turn = try doing(
      "lock", folder.takeOverLock, FileLock.tryLock(folder.takeOverLock, .exclusive))
    guard let turn else {
      throw .held(run: folder.id.description, by: LockHolder.read(folder.takeOverLock))
    }
    let path = folder.takeOverLock
    try doing("write", path, LockHolder.write(to: turn.file))
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

  private static func replaceLock(of folder: RunFolder) throws(RunFolderError) -> RunFolderLock {
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
  package var holderElsewhere: LockHolder? {
    if case .held(_, let holder?) = self, holder.host != nil { holder } else { nil }
  }
}

/// Detects whether another process has taken the run over.
struct RunClaim {
  private let path: String
  private let identity: FileIdentity
  /// Contents are compared too: a replacement may reuse the inode number.
  private let isByName: Bool

  init?(_ file: borrowing Descriptor, at path: String) {
    guard let identity = try? file.status().identity else { return nil }
    (self.path, self.identity) = (path, identity)
    isByName = !NetworkFiles.carriesLocks(at: path)
  }

  /// False if the file cannot be checked.
  var isLost: Bool {
    // Opening a file makes a network file system look it up again.
    guard let file = try? File.openRegular(path, .readOnly), let now = try? file.status().identity
    else { return false }
    return now != identity || isByName && LockHolder.isAnother(path)
  }
}

/// The process that a lock file names; it holds the lock only if the lock is taken. The line has
/// process ID, space and host name, since machines may share a folder.
package struct LockHolder: Sendable, Equatable {
  package let pid: Int32
  /// nil for this machine.
  package let host: String?

  package init(pid: Int32, host: String? = nil) {
    self.pid = pid
    self.host = host
  }

  /// nil without a name, or if the process was of this machine and has ended.
  static func read(_ path: String) -> LockHolder? {
    guard let bytes = try? content(path) else { return nil }
    let words = bytes.prefix { $0 != Field.lineFeed }
      .split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard let first = words.first, let pid: Int32 = Field.number(first), pid > 0 else { return nil }
    let host = words.count > 1 ? String(decoding: words[1], as: UTF8.self) : nil
    if let host, host != Machine.hostName { return LockHolder(pid: pid, host: host) }
    return ProcessStatus.read(pid) == nil ? nil : LockHolder(pid: pid)
  }

  static func content(_ path: String) throws(Errno) -> [UInt8] {
    try File.openRegular(path, .readOnly).readAll(atMost: longestBytes)
  }

  private static let longestBytes = 1_024

  /// The file stays allocated, for `clear`.
  static func write(to file: borrowing Descriptor) throws(Errno) {
    let line = Array(ownLine.utf8)
    try write(line, to: file)
    try file.truncate(to: Int64(line.count))
  }

  /// Overwrites the name with spaces; an error keeps it.
  static func clear(_ file: borrowing Descriptor) {
    let blanks = [UInt8](repeating: UInt8(ascii: " "), count: ownLine.utf8.count - 1)
    try? write(blanks + [Field.lineFeed], to: file)
  }

  private static func write(_ line: [UInt8], to file: borrowing Descriptor) throws(Errno) {
    try line.withUnsafeBufferPointer { bytes throws(Errno) in
      try file.writeAll(UnsafeRawBufferPointer(bytes), at: 0)
    }
  }

  private static var ownLine: String { "\(ProcessID.own) \(Machine.hostName)\n" }

  /// False if the file cannot be read.
  static func isAnother(_ path: String) -> Bool {
    guard let bytes = try? content(path) else { return false }
    return !bytes.elementsEqual(ownLine.utf8)
  }

  package var localPID: Int32? { host == nil ? pid : nil }
}

extension LockHolder: CustomStringConvertible {
  package var description: String {
    "process \(pid)" + (host.map { " on \(CleanText.string($0))" } ?? "")
  }
}

/// The shared lock of each client that uses a run as its queue.
///
/// If the run's process dies, each client notices in its own time, and a new client may come first.
/// The first client continues the run, including tasks that were confirmed to the others. `opflow
/// wait` sees from this lock that the run will continue.
package final class ClientsLock {
  private let lock: SharedLock

  package init(_ folder: RunFolder) throws(RunFolderError) {
    lock = try doing("lock", folder.clientsLock, SharedLock(folder.clientsLock))
  }

  /// True if a process holds the run or a client is about to take it. A client that is gone by then
  /// starts no session.
  package static func goesOn(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    if try isHeld(folder) { return true }
    return try RunFolderLock.isHeld(folder)
  }

  package static func isHeld(_ folder: RunFolder) throws(RunFolderError) -> Bool {
    try doing("check", folder.clientsLock, SharedLock.isHeld(folder.clientsLock))
  }
}

/// The right to choose the run to continue: held from the search until that run's lock is taken, or
/// a new run's first line is written. So the second of two such processes finds the first one's
/// run. A new run without a search, and a resume of a named run, do not need the lock.
package struct StateFolderLock: ~Copyable {
  private let lock: FileLock

  /// Creates a missing folder. Calls `waiting` once before a wait, with the holder if known.
  package static func take(
    _ state: StateFolder, waiting: (LockHolder?) -> Void
  ) throws(RunFolderError) -> StateFolderLock {
    try makeFolder(state.path)
    try state.expectTrusted()
    return try take(state.path + "/lock", waiting: waiting)
  }

  /// Takes another lock file, in an existing folder. The file may be removed while free
  /// (`removeUnheld`).
  static func take(
    _ path: String, waiting: (LockHolder?) -> Void
  ) throws(RunFolderError) -> StateFolderLock {
    var isTold = false
    while true {
      let free = try doing("lock", path, FileLock.tryLock(path, .exclusive))
      if let free {
        if try free.file.isStill(at: path) { return try StateFolderLock(free, path) }
        continue
      }
      if !isTold { waiting(LockHolder.read(path)) }
      isTold = true
      let late = try doing("lock", path, FileLock.lock(path, .exclusive))
      if try late.file.isStill(at: path) { return try StateFolderLock(late, path) }
    }
  }

  /// nil if a process holds the lock and has written its name.
  static func takeIfFree(_ path: String) throws(RunFolderError) -> StateFolderLock? {
    while true {
      let free = try doing("lock", path, FileLock.tryLock(path, .exclusive))
      if let free {
        if try free.file.isStill(at: path) { return try StateFolderLock(free, path) }
      } else if LockHolder.read(path) != nil {
        return nil
      } else {
        // The holder is starting, ending, or removing the file.
        try doing("lock", path, PollSet.pause(nanoseconds: 1_000_000))
      }
    }
  }

  /// A process that locks the file later sees that the path no longer refers to it.
  static func removeUnheld(_ path: String) throws(Errno) {
    let file = try File.openRegular(path, .readWrite)
    guard try file.tryLock(), (try? file.isStill(at: path)) ?? false else { return }
    try Path.removeIfThere(path)
  }

  private init(_ lock: consuming FileLock, _ path: String) throws(RunFolderError) {
    self.lock = lock
    try doing("write", path, LockHolder.write(to: self.lock.file))
  }

  private static func makeFolder(_ path: String) throws(RunFolderError) {
    try doing("create", path) { () throws(Errno) in
      for folder in try Path.makeDirectories(path, mode: 0o700) {
        try Path.syncFolder(Path.parent(of: folder))
      }
    }
  }
}
