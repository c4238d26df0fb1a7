internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem

/// Removes runs from a state folder. All operations use an open folder and one name in it, and
/// follow no links, since a link could be placed into a path between two operations. A run is
/// locked, renamed to a name that is not a run's, and removed: a crash leaves a complete run, or a
/// remainder that the next removal finds.
struct RunRemoval: ~Copyable {
  private let runs: Descriptor
  private let path: String

  /// Throws `notADirectory` also for a link, since its target may hold other things.
  init(_ path: String) throws(Errno) {
    self.path = path
    runs = try File.open(path, [.readOnly, .directory, .noFollow])
  }

  private static let ending = ".removed"

  /// A partly removed run.
  static func isLeft(_ name: String) -> Bool {
    name.hasSuffix(ending) && RunID(name.dropLast(ending.count)) != nil
  }

  /// Another process may do so as well.
  borrowing func removeLeft(_ name: String) throws(Errno) {
    do throws(Errno) {
      try runs.removeTree(name)
    } catch .noSuchFile {
      return
    }
  }

  borrowing func bytes(of id: RunID) -> Int64 { runs.treeBytes(id.description) }

  borrowing func open(_ id: RunID) throws(Errno) -> FoundRun {
    FoundRun(
      id: id,
      folder: try File.open(id.description, in: runs, [.readOnly, .directory, .noFollow]))
  }

  borrowing func remove(_ run: borrowing FoundRun) throws(Errno) {
    let name = run.id.description
    let left = name + Self.ending
    try runs.rename(name, to: left)
    // The renamed folder must be the one that was checked.
    let moved = try File.open(left, in: runs, [.readOnly, .directory, .noFollow])
    guard try moved.status().identity == run.folder.status().identity else {
      try runs.rename(left, to: name)
      throw .wouldBlock
    }
    try removeLeft(left)
  }
}

struct FoundRun: ~Copyable {
  let id: RunID
  fileprivate let folder: Descriptor

  enum Contents {
    case begun(OpenEntry, end: RunState?, lastMilliseconds: Int64)
    case notBegun(lastMilliseconds: Int64)
    /// Of unknown origin, perhaps of a newer opflow.
    case unknown
  }

  fileprivate init(id: RunID, folder: consuming Descriptor) {
    self.id = id
    self.folder = folder
  }

  /// Locks the run like a session but writes nothing, in case the disk is full. nil if the run, or
  /// workers of a dead session, are live.
  borrowing func lock() throws(Errno) -> FoundRunLocks? {
    let own = try File.openRegular(
      RunFolder.lockName, in: folder, [.readWrite, .create])
    guard try own.tryLock() else { return nil }
    do throws(Errno) {
      let workers = try File.openRegular(RunFolder.workersLockName, in: folder, .readWrite)
      guard try workers.tryLock() else { return nil }
      return FoundRunLocks(own: own, workers: workers)
    } catch .noSuchFile {
      return FoundRunLocks(own: own, workers: nil)
    }
  }

  borrowing func isHeld() throws(Errno) -> Bool {
    for name in [RunFolder.lockName, RunFolder.workersLockName] {
      do throws(Errno) {
        let lock = try File.openRegular(name, in: folder, .readOnly)
        if try !lock.tryLock() { return true }
      } catch .noSuchFile {
        continue
      }
    }
    return false
  }

  borrowing func look() throws(Errno) -> Contents {
    let begin = id.seconds * 1000
    let journal: Descriptor
    do throws(Errno) {
      journal = try File.open(
        RunFolder.journalName, in: folder, [.readOnly, .noFollow, .nonblocking])
    } catch .noSuchFile {
      return try lookAtBeginning()
    }
    let status = try journal.status()
    guard status.kind == .file else { return .unknown }
    if status.sizeBytes == 0 { return try lookAtBeginning() }
    let file = try MappedFile(journal)
    defer { MappedFile.unmap(file.bytes) }
    do throws(JournalError) {
      return .begun(
        try JournalReader.open(file.bytes), end: JournalReader.close(atEndOf: file.bytes)?.state,
        lastMilliseconds: max(begin, status.modifiedNanoseconds / 1_000_000))
    } catch {
      return .unknown
    }
  }

  /// Without a journal it must contain only files that opflow creates before the journal.
  private borrowing func lookAtBeginning() throws(Errno) -> Contents {
    guard try folder.names().allSatisfy(RunFolder.isMadeAtBeginning) else { return .unknown }
    let modified = try folder.status().modifiedNanoseconds / 1_000_000
    return .notBegun(lastMilliseconds: max(id.seconds * 1000, modified))
  }
}

struct FoundRunLocks: ~Copyable {
  private let own: Descriptor
  private let workers: Descriptor?

  fileprivate init(own: consuming Descriptor, workers: consuming Descriptor?) {
    self.own = own
    self.workers = workers
  }
}
