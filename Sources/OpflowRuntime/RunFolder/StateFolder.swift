package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

/// The folder with the runs; only its owner has access.
package struct StateFolder: Equatable, Sendable {
  package static let name = ".opflow"

  package let path: String
  private let origin: Origin

  private enum Origin: Equatable {
    case named
    case found
    case foundBeside(manifest: String)
  }

  package init(path: String) { self.init(path: path, .named) }

  private init(path: String, _ origin: Origin) {
    self.path = path
    self.origin = origin
  }

  package init(holding run: RunFolder) {
    self.init(path: Path.parent(of: Path.parent(of: run.path)))
  }

  package static func beside(manifest path: String) -> StateFolder {
    within(Path.parent(of: path), .foundBeside(manifest: path))
  }

  /// Searches `folder`, an absolute path, and the folders above it.
  package static func nearest(to folder: String) -> StateFolder? {
    var folder = folder
    while true {
      let candidate = within(folder, .found)
      if Path.isDirectory(candidate.path) { return candidate }
      let parent = Path.parent(of: folder)
      if parent == folder { return nil }
      folder = parent
    }
  }

  private static func within(_ folder: String, _ origin: Origin) -> StateFolder {
    StateFolder(path: folder == "/" ? "/\(name)" : "\(folder)/\(name)", origin)
  }

  /// Throws if another user may have written a state folder that was not named.
  package func expectTrusted() throws(RunFolderError) {
    let writers: TrustedWriters
    switch origin {
    case .named: return
    case .found: writers = .own
    case .foundBeside(let manifest): writers = .own.including(writersOf: manifest)
    }
    for entry in [path, runsFolder] {
      if let foreign = writers.doubt(entry) { throw .foreign(foreign, state: path) }
    }
  }

  package var isThere: Bool { Path.isDirectory(path) }

  var runsFolder: String { path + "/runs" }

  package func folder(of id: RunID) -> RunFolder {
    RunFolder(id: id, path: "\(runsFolder)/\(id)")
  }

  /// Newest first; empty if the folder does not exist.
  package func runs() throws(RunFolderError) -> [RunID] { try runsAndLeft().runs }

  /// Includes the names of partly removed runs.
  func runsAndLeft() throws(RunFolderError) -> (runs: [RunID], left: [String]) {
    var runs: [RunID] = []
    var left: [String] = []
    try doing("read", runsFolder) { () throws(Errno) in
      do throws(Errno) {
        try FolderEntries.forEach(in: runsFolder) { name, _ in
          if let run = RunID(bytes: name) {
            runs.append(run)
          } else if name.count > RunID.byteCount {
            let name = String(decoding: name, as: UTF8.self)
            if RunRemoval.isLeft(name) { left.append(name) }
          }
          return true
        }
      } catch .noSuchFile {
        return
      }
    }
    return (runs.sorted(by: >), left)
  }

  /// True without a check if there are very many runs.
  package func mayHaveLive(but own: RunID) -> Bool {
    guard let runs = try? runs(), runs.count <= Self.mostLookedAt else { return true }
    return runs.contains { $0 != own && (try? RunFolderLock.isHeld(folder(of: $0))) ?? true }
  }

  /// The checks take some milliseconds.
  private static let mostLookedAt = 500

  /// Writes a gitignore(5) file once: a user may change or remove it.
  private func ignoreRuns() throws(RunFolderError) {
    let file = path + "/.gitignore"
    try doing("write", file) { () throws(Errno) in
      do throws(Errno) {
        try File.open(file, [.writeOnly, .create, .exclusive]).writeAll(Array("*\n".utf8))
      } catch .exists {
        return
      }
    }
  }

  /// Creates a run and missing parents, accessible only to their owner.
  package func makeRun(nowMilliseconds: Int64, random: UInt16) throws(RunFolderError) -> RunFolder {
    var made = try doing("create", runsFolder, Path.makeDirectories(runsFolder, mode: 0o700))
    // In a folder like `/tmp` another user may have created the state folder first.
    try expectTrusted()
    // The state folder itself may exist already, for its lock.
    if !made.isEmpty { try ignoreRuns() }
    var newest = made.contains(runsFolder) ? nil : try runs().first
    while true {
      let id = RunID.next(after: newest, nowMilliseconds: nowMilliseconds, random: random)
      let run = folder(of: id)
      let isNew = try doing("create", run.path) { () throws(Errno) -> Bool in
        do throws(Errno) {
          try Path.makeDirectory(run.path, mode: 0o700)
          return true
        } catch .exists {
          return false
        }
      }
      if isNew {
        try run.makeLogs()
        made.append(run.path)
        return RunFolder(id: id, path: run.path, newFolders: made)
      }
      newest = id
    }
  }
}

extension StateFolder {
  /// Returns the run that `reference` names: an ID or a prefix, a run's name, or a manifest's path
  /// for its newest run. nil means the newest run.
  package func run(_ reference: String?) throws(RunFolderError) -> RunFolder {
    let runs = try runs()
    guard let reference else {
      let newest = runs.lazy.map(folder(of:)).first {
        $0.hasBegun && !Self.isPartOfAnother($0, among: runs)
      }
      guard let newest else {
        throw .noRuns(folder: path)
      }
      return newest
    }
    if let id = RunID(reference), runs.contains(id) { return folder(of: id) }
    if !reference.isEmpty, !Path.exists(reference) {
      let matches = runs.filter { $0.description.hasPrefix(reference) }
      if matches.count == 1 { return folder(of: matches[0]) }
      if matches.count > 1 {
        throw .ambiguous(reference, runs: matches.map(\.description))
      }
      if let named = try newestRun(where: { $0.name == reference }) { return named }
    }
    if let run = try newestRun(ofManifest: reference) { return run }
    // A file or folder may have the name of a run without being its manifest.
    if !reference.isEmpty, let named = try newestRun(where: { $0.name == reference }) {
      return named
    }
    throw .noSuchRun(reference)
  }

  /// The live runs, newest first, except those nested in another live run. Ignores a run whose lock
  /// cannot be read.
  package func liveRuns() throws(RunFolderError) -> [RunFolder] {
    let live = try runs().map(folder(of:)).filter { (try? RunFolderLock.isHeld($0)) ?? false }
    let ids = live.map(\.id)
    return live.filter { !Self.isPartOfAnother($0, among: ids) }
  }

  /// Returns the newest run of this name.
  package func run(named name: String) throws(RunFolderError) -> RunFolder? {
    try runs().lazy.map(folder(of:)).first { (try? $0.readOpen())?.name == name }
  }

  /// True if a run is nested in another run of `runs`, then the default target. False inside the
  /// task that started it.
  package static func isPartOfAnother(_ run: RunFolder, among runs: [RunID]) -> Bool {
    guard let around = (try? run.readOpen())?.around, runs.contains(around.run) else {
      return false
    }
    return around != TaskAround.here
  }

  /// Skips damaged journals, but throws if a journal cannot be opened: it may be the wanted run's.
  private func newestRun(where isWanted: (OpenEntry) -> Bool) throws(RunFolderError) -> RunFolder? {
    for id in try runs() {
      let run = folder(of: id)
      do throws(RunFolderError) {
        if isWanted(try run.readOpen()) { return run }
      } catch {
        if case .file = error { throw error }
      }
    }
    return nil
  }

  package func newestRun(
    ofManifest path: String, where isWanted: (OpenEntry) -> Bool = { _ in true }
  ) throws(RunFolderError) -> RunFolder? {
    let manifest = path == "-" ? path : Self.real(path)
    return try newestRun { $0.isRun(ofManifest: manifest, stateFolder: self.path) && isWanted($0) }
  }

  /// Returns the manifest's runs except `own`, newest first, lazily. Checks the newest `limit` runs
  /// of all manifests.
  func runs(
    ofManifest path: String, but own: RunID? = nil, amongNewest limit: Int = .max,
    where isWanted: @escaping (OpenEntry) -> Bool = { _ in true }
  ) throws(RunFolderError) -> some Sequence<RunFolder> {
    try runs().prefix(limit).lazy.map(folder(of:)).filter { run in
      guard run.id != own, let open = try? run.readOpen() else { return false }
      return open.isRun(ofManifest: path, stateFolder: self.path) && isWanted(open)
    }
  }

  /// Returns the real path; for a missing file, its name in the real path of its folder.
  private static func real(_ path: String) -> String {
    if let real = try? Path.real(path) { return real }
    let name = Path.name(path)
    guard let folder = try? Path.real(Path.parent(of: path)) else { return path }
    return folder == "/" ? "/\(name)" : "\(folder)/\(name)"
  }
}

extension StateFolder {
  /// The durations of tasks in earlier runs of a manifest except `own`: a hint. Skips unreadable
  /// runs, and reads only the last bytes of the newest few journals (`EarlierDurations`).
  package func durations(
    ofManifest path: String, plan: Plan, but own: RunID? = nil
  ) -> TaskDurations {
    var earlier = EarlierDurations(plan: plan)
    var remaining = EarlierDurations.byteLimit(taskCount: plan.taskCount)
    var journals = 0
    guard let runs = try? runs(ofManifest: path, but: own, amongNewest: Self.maxRunsLookedAt)
    else { return .unknown }
    for run in runs {
      if earlier.isComplete || remaining <= 0 || journals == Self.maxJournalsRead { break }
      let count = read(run, atMost: remaining, into: &earlier)
      if count > 0 { journals += 1 }
      remaining -= count
    }
    return earlier.durations()
  }

  /// The number of journals whose first line is read.
  private static let maxRunsLookedAt = 32
  private static let maxJournalsRead = 4

  private func read(
    _ run: RunFolder, atMost limit: Int, into earlier: inout EarlierDurations
  ) -> Int {
    let count = try? run.withJournal { bytes throws(JournalError) -> Int in
      let end = bytes.suffix(limit)
      earlier.read(UnsafeRawBufferPointer(rebasing: end))
      return end.count
    }
    return count ?? 0
  }
}

extension StateFolder {
  /// The newest run of a manifest before `run`; nil if none is nearby or readable.
  package func run(before run: RunFolder, ofManifest path: String) -> RunFolder? {
    // There may be runs of other manifests between; checking thousands would take too long.
    let older = ((try? runs()) ?? []).lazy.filter { $0 < run.id }.prefix(Self.maxRunsBetween)
    return older.map(folder(of:)).first { folder in
      guard let open = try? folder.readOpen() else { return false }
      return open.isRun(ofManifest: path, stateFolder: self.path)
    }
  }

  private static let maxRunsBetween = 64
}

extension StateFolder {
  /// The verified plan of an earlier run of the manifest. Skips runs that are unreadable, have
  /// added tasks, or are too old.
  package func plan(
    ofManifest path: String, where isWanted: (Plan) -> Bool
  ) -> (plan: Plan, run: RunFolder)? {
    guard let runs = try? runs(ofManifest: path, amongNewest: Self.maxPlansLookedAt) else {
      return nil
    }
    for run in runs {
      guard let candidate = try? run.mapPlan(), !candidate.hasRoom, isWanted(candidate),
        let plan = try? run.openPlan(), plan.key == candidate.key, !plan.hasRoom
      else { continue }
      return (plan, run)
    }
    return nil
  }

  private static let maxPlansLookedAt = 16
}

extension RunFolder {
  /// Links the other run's plan, which is never written, or else copies `shared`, which is mapped
  /// from it.
  package func share(_ shared: Plan, of other: RunFolder) throws(RunFolderError) {
    do throws(Errno) {
      try Path.link(other.plan, to: plan)
      // A resume may just have replaced the other plan, or tasks were added to it.
      if let linked = try? mapPlan(), linked.key == shared.key, !linked.hasRoom { return }
      try Path.remove(plan)
    } catch {
      // Too many links, another mount, or a folder that was just removed.
    }
    try write(plan: shared.copyOfBytes)
  }

  func shareKeptFiles(of other: RunFolder) throws(RunFolderError) {
    if (try? Path.link(other.keptFiles, to: keptFiles)) != nil { return }
    try write(other.readKeptFiles())
  }
}

package struct ManifestRuns: Sendable {
  let state: StateFolder
  let path: String
  package let keep: Int

  /// Keeps a short time limit. Does nothing if `runs` is a symbolic link.
  package func clean() throws(RunFolderError) -> RunCleaning {
    do throws(RunFolderError) {
      return try state.clean(
        ofManifest: path, keep: keep, nowMilliseconds: Clock.wallMilliseconds)
    } catch .link {
      return RunCleaning()
    }
  }
}
