internal import OpflowCore
package import OpflowSystem
internal import OpflowWorker

/// Waits until what a run's plan was made of is another: the manifest, the files that it names, and which
/// files fit its patterns; or what its tasks declare as `inputs`.
///
/// What the system tells of folders only says when to look. Contents decide, so that a file that is
/// written again as it was is no change; and since not every file system tells anything, it is looked
/// now and then without being told.
package struct ManifestWatch: ~Copyable {
  /// Nil where the manifest was in no place when this began.
  package let place: ManifestPlace?
  /// What was found there last.
  private var found = ManifestPlace.Finding.same
  /// Tells those who look at the run that there may be another round; nil where it cannot be had, which is no
  /// harm to the run.
  private var lock: FileLock?
  /// What there was when it was looked last, by path and by pattern; nil for what was not there.
  private var seen: [String: String?]
  /// So that nothing is read again of which the system says that it is the same.
  private var statuses: [String: FileStatus] = [:]
  private var patterns: [(pattern: String, folder: String)] = []
  private var inputs = InputsLook()
  /// How long the last look at them took.
  private var inputsNanoseconds: Int64 = 0
  private let state: String

  private static let leastPatienceNanoseconds: Int64 = 2_000_000_000
  /// Who writes several files, or one in pieces, is given that long for the next.
  private static let restNanoseconds: Int64 = 50_000_000

  /// - Parameters:
  ///   - place: of the manifest.
  ///   - files: the files of the drive that begins, as the journal has them: what is another by now has
  ///     changed since they were read.
  ///   - initial: how the tasks enter that drive: what those read that are no part of it is not looked at.
  init(
    _ run: RunFolder, _ plan: Plan, place: ManifestPlace?, files: [String],
    initial: [InitialState]
  ) {
    self.place = place
    state = StateFolder(holding: run).path
    lock = (try? FileLock.tryLock(run.watchLock, .exclusive)) ?? nil
    seen = [:]
    follow(plan, files, initial)
  }

  /// There is to be no further round.
  package mutating func leave() { lock = nil }

  /// Goes on with a further drive, the plan of which may be made of other files.
  mutating func follow(_ plan: Plan, _ files: [String], _ initial: [InitialState]) {
    let hashes = FileEntry.hashes(of: files, from: plan.string(plan.manifest.folder))
    patterns = plan.patternsRead
    var known: [String: String?] = [:]
    for path in plan.filesRead {
      if let before = seen[path] {
        known.updateValue(before, forKey: path)
        continue
      }
      let now = hash(path)
      // What is gone was taken from the run's folder, and is no change.
      known.updateValue(now == nil ? nil : hashes[path] ?? now, forKey: path)
    }
    for (pattern, folder) in patterns {
      let name = Self.name(pattern, folder)
      known.updateValue(seen[name] ?? Self.names(pattern, folder), forKey: name)
    }
    seen = known
    inputs.follow(plan, state: state) { initial[$0.index] != .excluded }
  }

  /// How many files it looks at.
  package var fileCount: Int { seen.count - patterns.count + inputs.fileCount }

  /// Looks whether the manifest is where it was.
  package mutating func takePlace() -> ManifestPlace.Finding {
    found = place?.look() ?? .same
    return found
  }

  /// The paths of what has changed since the last look; a pattern where other files fit it.
  package mutating func takeChanges() -> [String] {
    var changed: [String] = []
    for (path, before) in seen where !Self.isName(path) {
      let now = hash(path)
      if now == before { continue }
      seen.updateValue(now, forKey: path)
      changed.append(path)
    }
    for (pattern, folder) in patterns {
      let name = Self.name(pattern, folder)
      let now = Self.names(pattern, folder)
      if seen[name] == .some(now) { continue }
      seen.updateValue(now, forKey: name)
      changed.append(pattern)
    }
    let began = Clock.monotonicNanoseconds
    changed += inputs.takeChanges()
    inputsNanoseconds = Clock.monotonicNanoseconds - began
    return changed.sorted()
  }

  /// The folders that are there in which something may change.
  var watchedFolders: [String] {
    var folders: Set<String> = []
    for path in seen.keys where !Self.isName(path) { folders.insert(Path.parent(of: path)) }
    for (_, folder) in patterns { folders.insert(folder) }
    folders.formUnion(inputs.folders)
    folders.formUnion(place?.folders ?? [])
    return folders.filter { Path.isDirectory($0) }.sorted()
  }

  /// Returns when something may have changed, at once when it has since the last call.
  package mutating func wait() throws(Errno) {
    // Where none can be watched, time passes alone.
    guard let watch = try? FolderWatch(watchedFolders) else {
      try PollSet.pause(nanoseconds: patienceNanoseconds)
      return
    }
    var folderWatch = watch
    // What changed before the watch was there is seen by this look.
    if hasChanged { return }
    try folderWatch.wait(nanoseconds: patienceNanoseconds)
    try PollSet.pause(nanoseconds: Self.restNanoseconds)
  }

  /// Looks at many files are to cost a twentieth of a processor at most.
  var patienceNanoseconds: Int64 {
    max(Self.leastPatienceNanoseconds, 20 * inputsNanoseconds)
  }

  private var hasChanged: Bool {
    mutating get {
      if let place, place.look() != found { return true }
      // Those that are gone with it may be back with it.
      if found == .nothing { return false }
      for (path, before) in seen where !Self.isName(path) && hash(path) != before { return true }
      return inputs.haveChanged()
    }
  }

  private mutating func hash(_ path: String) -> String? {
    guard let status = try? Path.status(path), status.kind == .file else {
      statuses[path] = nil
      return nil
    }
    if let before = seen[path], before != nil, statuses[path] == status { return before }
    guard let hash = try? FileHash.planKey(path).description else { return nil }
    statuses[path] = status
    return hash
  }

  /// No path has a NUL in it.
  private static func name(_ pattern: String, _ folder: String) -> String {
    "\0\(folder)\0\(pattern)"
  }
  private static func isName(_ key: String) -> Bool { key.utf8.first == 0 }

  private static func names(_ pattern: String, _ folder: String) -> String? {
    (try? FileNames.texts(fitting: pattern, in: folder).get()).map {
      PlanInputs.FoundNames.hash(of: $0).description
    }
  }
}
