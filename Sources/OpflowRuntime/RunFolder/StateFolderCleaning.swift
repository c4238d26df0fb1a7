package import OpflowCore
internal import OpflowSystem
internal import OpflowWorker

/// What a cleaning of a state folder did, or would do.
package struct RunCleaning: Sendable {
  package struct Gone: Sendable {
    package let run: RunID
    /// Nil for one that never began.
    package let open: OpenEntry?
    /// Nil where its last drive died.
    package let end: RunState?
    package let lastMilliseconds: Int64
    package let bytes: Int64
  }

  package fileprivate(set) var gone: [Gone] = []
  /// Runs that are left.
  package fileprivate(set) var kept = 0
  /// Of these, such as would have gone but for that.
  package fileprivate(set) var live = 0
  package fileprivate(set) var resumable = 0
  package fileprivate(set) var unknown = 0
  /// Which could not be removed, and why.
  package fileprivate(set) var failures: [(path: String, error: RunFolderError)] = []
}

extension StateFolder {
  /// Removes old runs of all manifests.
  ///
  /// - Parameter isDryRun: nothing is removed.
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

  /// Removes old runs of one manifest, at the end of another one. What is left when it has taken its time
  /// is for the end of the next, which finds fewer: more than one goes in any case.
  ///
  /// - Parameter path: the manifest's real path.
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
    /// It has no journal that could be read.
    case other
  }

  let state: StateFolder
  let now: Int64
  let isDryRun: Bool
  /// Of the monotonic clock; nil for as long as it takes.
  var deadline: Int64?
  /// Whether bytes are counted.
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

  /// - Parameters:
  ///   - keep: with no more runs than that there is nothing to look at.
  ///   - count: of each run, newest first.
  mutating func perform(
    _ keep: Int, count: (RunFolder) -> Count,
    verdict: (RunRetention.Candidate, RunState?, Int64) -> RunRetention.Verdict
  ) throws(RunFolderError) {
    let (runs, left) = try state.runsAndLeft()
    result.kept = runs.count
    if runs.count <= keep, left.isEmpty { return }
    let path = state.runsFolder
    if (try? Path.linkStatus(path))?.kind == .link { throw .link(path) }
    let removal = try doing("open", path) { () throws(Errno) in try RunRemoval(path) }
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
        // Somebody else was faster.
        result.kept -= 1
      } catch {
        fail(id.description, error)
      }
    }
  }

  /// Removes a run where it is to go: looks at it under its lock, so that nobody goes on with it
  /// meanwhile.
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

  /// Nil for a run that stays.
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
    // It began meanwhile, or its journal went.
    case (.begun, _), (.notBegun, _), (.unknown, _): return nil
    }
  }

  /// Of what tasks read and left, what holds no more takes room for nothing.
  mutating func shortenRecords() {
    let path = RecordBook.path(in: state.path)
    guard Path.exists(path) else { return }
    do throws(Errno) {
      try RecordBook(state: state.path).shorten()
    } catch {
      result.failures.append((path, .file(doing: "shorten", path: path, error)))
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
