internal import OpflowBase
internal import OpflowPlan
package import OpflowSystem
internal import OpflowWorker

/// Waits for a change of a plan's sources: the manifest, files that it names, files that match its
/// patterns, and `inputs` of its tasks. Contents decide; events only say when to check. Checks also
/// happen at intervals, since some file systems report no events.
package struct ManifestWatch: ~Copyable {
  /// nil if the manifest did not exist at the start.
  package let place: ManifestPlace?
  private var found = ManifestPlace.Finding.same
  /// Tells viewers that another round may follow. A missing lock is harmless.
  private var lock: FileLock?
  /// Hashes by path and by pattern; nil for missing files.
  private var seen: [PathKey: String?]
  /// Files with an unchanged status are not read.
  private var statuses: [PathKey: FileStatus] = [:]
  private var patterns: [(pattern: String, folder: String)] = []
  private var inputs = InputsScan()
  private var inputsNanoseconds: Int64 = 0
  private let state: String

  private static let leastPatienceNanoseconds: Int64 = 2_000_000_000
  /// The pause after a change, for writers of several files or of one in pieces.
  private static let restNanoseconds: Int64 = 50_000_000

  /// `files` are the session's, from the journal, and may have changed. Inputs of excluded tasks
  /// are not watched.
  init(
    _ run: RunFolder, _ plan: Plan, place: ManifestPlace?, files: [String], initial: [InitialState]
  ) {
    self.place = place
    state = StateFolder(holding: run).path
    lock = (try? FileLock.tryLock(run.watchLock, .exclusive)) ?? nil
    seen = [:]
    follow(plan, files, initial)
  }

  /// Called if no rounds follow.
  package mutating func leave() { lock = nil }

  mutating func follow(_ plan: Plan, _ files: [String], _ initial: [InitialState]) {
    let hashes = FileEntry.hashes(of: files, from: plan.string(plan.manifest.folder))
    patterns = plan.patternsRead
    var known: [PathKey: String?] = [:]
    for path in plan.filesRead.map(PathKey.init) {
      if let before = seen[path] {
        known.updateValue(before, forKey: path)
        continue
      }
      let now = hash(path)
      // A file that was read from its copy in the run's folder is unchanged.
      known.updateValue(now == nil ? nil : hashes[path] ?? now, forKey: path)
    }
    for (pattern, folder) in patterns {
      let name = Self.name(pattern, folder)
      known.updateValue(seen[name] ?? Self.names(pattern, folder), forKey: name)
    }
    seen = known
    inputs.follow(plan, state: state) { initial[$0.index] != .excluded }
  }

  package var fileCount: Int { seen.count - patterns.count + inputs.fileCount }

  package mutating func takePlace() -> ManifestPlace.Finding {
    found = place?.look() ?? .same
    return found
  }

  package mutating func takeChanges() -> [String] {
    var changed: [String] = []
    for (path, before) in seen where !Self.isName(path) {
      let now = hash(path)
      if now == before { continue }
      seen.updateValue(now, forKey: path)
      changed.append(path.string)
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

  var watchedFolders: [String] {
    var folders: Set<String> = []
    for path in seen.keys where !Self.isName(path) {
      folders.insert(Path.parent(of: path.string))
    }
    for (_, folder) in patterns { folders.insert(folder) }
    folders.formUnion(inputs.folders)
    folders.formUnion(place?.folders ?? [])
    return folders.filter { Path.isDirectory($0) }.sorted()
  }

  package mutating func wait() throws(Errno) {
    guard let watch = try? FolderWatch(watchedFolders) else {
      try PollSet.pause(nanoseconds: patienceNanoseconds)
      return
    }
    var folderWatch = watch
    // Checked after the watch began, to see earlier changes.
    if hasChanged { return }
    try folderWatch.wait(nanoseconds: patienceNanoseconds)
    try PollSet.pause(nanoseconds: Self.restNanoseconds)
  }

  /// Limits checks to a twentieth of a processor.
  var patienceNanoseconds: Int64 {
    max(Self.leastPatienceNanoseconds, 20 * inputsNanoseconds)
  }

  private var hasChanged: Bool {
    mutating get {
      if let place, place.look() != found { return true }
      // Files that vanished with the manifest may come back with it.
      if found == .nothing { return false }
      for (path, before) in seen where !Self.isName(path) && hash(path) != before { return true }
      return inputs.haveChanged()
    }
  }

  private mutating func hash(_ path: PathKey) -> String? {
    guard let status = try? Path.status(path.string), status.kind == .file else {
      statuses[path] = nil
      return nil
    }
    if let before = seen[path], before != nil, statuses[path] == status { return before }
    guard let hash = try? FileHash.planKey(path.string).description else { return nil }
    statuses[path] = status
    return hash
  }

  /// Paths cannot contain NUL.
  private static func name(_ pattern: String, _ folder: String) -> PathKey {
    PathKey("\0\(folder)\0\(pattern)")
  }
  private static func isName(_ key: PathKey) -> Bool { key.string.utf8.first == 0 }

  private static func names(_ pattern: String, _ folder: String) -> String? {
    (try? FileNames.texts(fitting: pattern, in: folder).get()).map {
      PlanInputs.FoundNames.hash(of: $0).description
    }
  }
}

/// A manifest's path as the user gave it. Changed links and renamed folders may make it lead to
/// another manifest or nowhere.
package struct ManifestPlace: Sendable {
  /// Absolute, with links unresolved.
  private let path: String
  private let realPath: String

  package enum Finding: Sendable, Equatable {
    case same
    case other(String)
    case nothing
  }

  /// nil if the path does not exist.
  package init?(_ path: String) {
    guard let folder = try? Path.workingDirectory(), let realPath = try? Path.real(path) else {
      return nil
    }
    self.path = path.hasPrefix("/") ? path : "\(folder)/\(path)"
    self.realPath = realPath
  }

  package func look() -> Finding {
    guard let found = try? Path.real(path) else { return .nothing }
    return found == realPath ? .same : .other(found)
  }

  package var status: FileStatus? { try? Path.status(path) }

  /// The folders on the path that contain a link, and the folder that lacks a component.
  var folders: [String] {
    var folders: [String] = []
    var current = "/"
    var left = Self.names(path)
    var links = 0
    while let name = left.popLast() {
      if name == "." { continue }
      if name == ".." {
        current = Path.parent(of: current)
        continue
      }
      let next = current == "/" ? "/\(name)" : "\(current)/\(name)"
      guard let status = try? Path.linkStatus(next) else { return folders + [current] }
      guard status.kind == .link, let target = try? Path.linkTarget(next) else {
        current = next
        continue
      }
      folders.append(current)
      links += 1
      // The kernel's limit (path_resolution(7)).
      if links > 40 { return folders }
      if target.hasPrefix("/") { current = "/" }
      left += Self.names(target)
    }
    return folders
  }

  private static func names(_ path: String) -> [String] {
    path.split(separator: "/").reversed().map(String.init)
  }
}
