internal import OpflowCore
internal import OpflowSystem

/// Takes runs out of a state folder.
///
/// All is named by a folder that is open and one name in it, never by a path, and no link is followed:
/// between two looks at a path anybody may put a link into it. A run is locked, gets a name that is no
/// run's, and is removed under that: death at any point leaves a whole run, or something that is none
/// and that the next removal finds.
struct RunRemoval: ~Copyable {
  private let runs: Descriptor
  private let path: String

  /// - Throws: `notADirectory` for a link, too: it is not known what else is there.
  init(_ path: String) throws(Errno) {
    self.path = path
    runs = try File.open(path, [.readOnly, .directory, .noFollow])
  }

  private static let ending = ".removed"

  /// Whether a name is that of a run which somebody began to remove.
  static func isLeft(_ name: String) -> Bool {
    name.hasSuffix(ending) && RunID(name.dropLast(ending.count)) != nil
  }

  /// Goes on where a removal was cut short. Another process that is about it as well is no error.
  borrowing func removeLeft(_ name: String) throws(Errno) {
    do throws(Errno) {
      try runs.removeTree(name)
    } catch .noSuchFile {
      return
    }
  }

  /// How many bytes removing a run would free.
  borrowing func bytes(of id: RunID) -> Int64 { runs.treeBytes(id.description) }

  /// The run's folder.
  borrowing func open(_ id: RunID) throws(Errno) -> FoundRun {
    FoundRun(
      id: id,
      folder: try File.open(id.description, in: runs, [.readOnly, .directory, .noFollow]))
  }

  /// Removes a run whose lock is held.
  borrowing func remove(_ run: borrowing FoundRun) throws(Errno) {
    let name = run.id.description
    let left = name + Self.ending
    try runs.rename(name, to: left)
    // What was looked at has to be what is removed.
    let moved = try File.open(left, in: runs, [.readOnly, .directory, .noFollow])
    guard try moved.status().identity == run.folder.status().identity else {
      try runs.rename(left, to: name)
      throw .wouldBlock
    }
    try removeLeft(left)
  }
}

/// The open folder of a run, and what stands in it.
struct FoundRun: ~Copyable {
  let id: RunID
  fileprivate let folder: Descriptor

  enum Contents {
    case begun(OpenEntry, end: RunState?, lastMilliseconds: Int64)
    case notBegun(lastMilliseconds: Int64)
    /// By whom that was made nobody can tell: a newer opflow, or none.
    case unknown
  }

  fileprivate init(id: RunID, folder: consuming Descriptor) {
    self.id = id
    self.folder = folder
  }

  /// Locks the run as who drives it does, without a word in the lock's file: a full disk is no obstacle.
  ///
  /// - Returns: nil where somebody drives it, or workers of a dead drive live.
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

  /// Whether somebody drives it; changes nothing.
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

  /// Of a run without a journal: whether nothing is there but what opflow makes before it has one.
  private borrowing func lookAtBeginning() throws(Errno) -> Contents {
    guard try folder.names().allSatisfy(RunFolder.isMadeAtBeginning) else { return .unknown }
    let modified = try folder.status().modifiedNanoseconds / 1_000_000
    return .notBegun(lastMilliseconds: max(id.seconds * 1000, modified))
  }
}

/// Held until a run is gone.
struct FoundRunLocks: ~Copyable {
  private let own: Descriptor
  private let workers: Descriptor?

  fileprivate init(own: consuming Descriptor, workers: consuming Descriptor?) {
    self.own = own
    self.workers = workers
  }
}
