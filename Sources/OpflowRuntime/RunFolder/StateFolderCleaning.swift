package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem
internal import OpflowWorker

/// The runs that a cleaning of a state folder removed, or would remove.
package struct RunCleaning: Sendable {
  package struct Gone: Sendable {
    package let run: RunID
    /// nil for a run that never began.
    package let open: OpenEntry?
    /// nil if its last session died.
    package let end: RunState?
    package let lastMilliseconds: Int64
    package let bytes: Int64
  }

  package fileprivate(set) var gone: [Gone] = []
  package fileprivate(set) var kept = 0
  /// The numbers of runs that were old enough, but are live, resumable or unknown.
  package fileprivate(set) var live = 0
  package fileprivate(set) var resumable = 0
  package fileprivate(set) var unknown = 0
  package fileprivate(set) var failures: [(path: String, error: RunFolderError)] = []
}

extension StateFolder {
  /// Removes old runs of all manifests; a dry run only reports them.
  package func clean(
    _ limits: RunRetention.Limits, nowMilliseconds: Int64, isDryRun: Bool
  ) throws(RunFolderError) -> RunCleaning {
    var work = Work(state: self, now: nowMilliseconds, isDryRun: isDryRun)
    var retention = RunRetention(limits)
    try work.perform(0) { run in
      guard let open = try? run.readOpen() else { return .other }
      let candidate = retention.count(open, of: open.manifest(seenFrom: path)) {
        Int((try? run.mapPlan())?.manifest.keepRuns ?? ManifestEntry.standardKeepRuns)
      }
      return candidate.map { .candidate($0) } ?? .stays
    } verdict: {
      retention.verdict($0, end: $1, ageMilliseconds: $2)
    }
    if !isDryRun {
      removeFreeGates()
      work.shortenRecords()
    }
    return work.result
  }

  /// Removes old runs of the manifest at the end of a run. Work beyond the time limit is left to
  /// the next run's end; at least two runs are removed each time.
  package func clean(
    ofManifest path: String, keep: Int, nowMilliseconds: Int64,
    patienceNanoseconds: Int64 = 100_000_000
  ) throws(RunFolderError) -> RunCleaning {
    var work = Work(state: self, now: nowMilliseconds, isDryRun: false)
    work.deadline = Clock.monotonicNanoseconds + patienceNanoseconds
    work.measures = false
    removeFreeGates()
    var retention = RunRetention(RunRetention.Limits(keep: keep))
    try work.perform(keep) { run in
      guard let open = try? run.readOpen() else { return .other }
      guard open.isRun(ofManifest: path, stateFolder: self.path) else { return .stays }
      return retention.count(open, of: path) { keep }.map { .candidate($0) } ?? .stays
    } verdict: {
      retention.verdict($0, end: $1, ageMilliseconds: $2)
    }
    return work.result
  }
}

private struct Work {
  enum Count {
    case stays
    case candidate(RunRetention.Candidate)
    case other
  }

  let state: StateFolder
  let now: Int64
  let isDryRun: Bool
  /// On the monotonic clock; nil for no limit.
  var deadline: Int64?
  var measures = true
  var result = RunCleaning()

  init(state: StateFolder, now: Int64, isDryRun: Bool) {
    self.state = state
    self.now = now
    self.isDryRun = isDryRun
  }

  private var isLate: Bool {
    guard let deadline, result.gone.count > 1 else { return false }
    return Clock.monotonicNanoseconds > deadline
  }

  /// - Parameter keep: Do nothing if there are no more runs than this.
  mutating func perform(
    _ keep: Int, count: (RunFolder) -> Count,
    verdict: (RunRetention.Candidate, RunState?, Int64) -> RunRetention.Verdict
  ) throws(RunFolderError) {
    let (runs, left) = try state.runsAndLeft()
    result.kept = runs.count
    if runs.count <= keep, left.isEmpty { return }
    let path = state.runsFolder
    if (try? Path.linkStatus(path))?.kind == .link { throw .link(path) }
    let removal = try doing("open", path, RunRemoval(path))
    if !isDryRun {
      for name in left where !isLate {
        do throws(Errno) { try removal.removeLeft(name) } catch { fail(name, error) }
      }
    }
    for id in runs {
      if isLate { return }
      let count = count(state.folder(of: id))
      if case .stays = count { continue }
      do throws(Errno) {
        try judge(id, count, removal, verdict)
      } catch .noSuchFile {
        result.kept -= 1
      } catch {
        fail(id.description, error)
      }
    }
  }

  /// Removes a run if it is due, checked under its lock, so that it cannot be resumed meanwhile.
  private mutating func judge(
    _ id: RunID, _ count: Count, _ removal: borrowing RunRemoval,
    _ verdict: (RunRetention.Candidate, RunState?, Int64) -> RunRetention.Verdict
  ) throws(Errno) {
    let run = try removal.open(id)
    if case .unknown = try run.look() {
      result.unknown += 1
      return
    }
    if isDryRun {
      if try run.isHeld() {
        result.live += 1
      } else if let gone = try assess(run, count, removal, verdict) {
        note(gone)
      }
      return
    }
    guard let locks = try run.lock() else {
      result.live += 1
      return
    }
    if let gone = try assess(run, count, removal, verdict) {
      try removal.remove(run)
      note(gone)
    }
    _ = consume locks
  }

  private mutating func assess(
    _ run: borrowing FoundRun, _ count: Count, _ removal: borrowing RunRemoval,
    _ verdict: (RunRetention.Candidate, RunState?, Int64) -> RunRetention.Verdict
  ) throws(Errno) -> RunCleaning.Gone? {
    switch (try run.look(), count) {
    case (.begun(let open, let end, let last), .candidate(let candidate)):
      switch verdict(candidate, end, now - last) {
      case .goes:
        return RunCleaning.Gone(
          run: run.id, open: open, end: end, lastMilliseconds: last,
          bytes: measures ? removal.bytes(of: run.id) : 0)
      case .young: return nil
      case .resumable:
        result.resumable += 1
        return nil
      }
    case (.notBegun(let last), .other):
      guard RunRetention.verdict(notBegunFor: now - last) == .goes else { return nil }
      return RunCleaning.Gone(
        run: run.id, open: nil, end: nil, lastMilliseconds: last,
        bytes: measures ? removal.bytes(of: run.id) : 0)
    // The run began, or lost its journal, meanwhile.
    case (.begun, _), (.notBegun, _), (.unknown, _): return nil
    }
  }

  mutating func shortenRecords() {
    let path = RecordBook.path(in: state.path)
    guard Path.exists(path) else { return }
    do throws(Errno) {
      try RecordBook(state: state.path).shorten()
    } catch {
      let bad = RecordBook.badPath(in: state.path)
      result.failures.append((bad, .file(doing: bad == path ? "shorten" : "use", path: bad, error)))
    }
  }

  private mutating func note(_ gone: RunCleaning.Gone) {
    result.kept -= 1
    result.gone.append(gone)
  }

  private mutating func fail(_ name: String, _ error: Errno) {
    let path = state.runsFolder + "/" + name
    result.failures.append((path, .file(doing: "remove", path: path, error)))
  }
}

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

  static func isLeft(_ name: String) -> Bool {
    name.hasSuffix(ending) && RunID(name.dropLast(ending.count)) != nil
  }

  /// Another process may remove it at the same time.
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
      id: id, folder: try File.open(id.description, in: runs, [.readOnly, .directory, .noFollow]))
  }

  borrowing func remove(_ run: borrowing FoundRun) throws(Errno) {
    let name = run.id.description
    let left = name + Self.ending
    try runs.rename(name, to: left)
    // The renamed folder must be the folder that was checked.
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
    /// A folder of unknown origin, perhaps of a newer opflow.
    case unknown
  }

  fileprivate init(id: RunID, folder: consuming Descriptor) {
    self.id = id
    self.folder = folder
  }

  /// Locks the run like a session but writes nothing, in case the disk is full. Returns nil if the
  /// run, or workers of a dead session, are live.
  borrowing func lock() throws(Errno) -> FoundRunLocks? {
    let own = try File.openRegular(RunFolder.lockName, in: folder, [.readWrite, .create])
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

  /// Without a journal, a run may contain only files that opflow creates before it.
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
