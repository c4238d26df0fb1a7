internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// The cached result of one task, restored instead of running it or stored after its success.
final class CachedResult {
  private let declaring: DeclaringTask
  private let cache: ResultCache
  private let seen: SuccessRecord
  private let key: SHA256.Digest
  private var restoring: ResultRestoring?
  private var keeping: ResultKeeping?
  private(set) var brought: ResultRestoring.Brought?

  /// `seen` has the inputs as scanned before the start.
  init(_ declaring: DeclaringTask, _ cache: ResultCache, _ seen: SuccessRecord) {
    self.declaring = declaring
    self.cache = cache
    self.seen = seen
    key = declaring.cacheKey(seen)
  }

  private var folder: String { declaring.plan.string(declaring.plan.manifest.folder) }

  // MARK: - Restoring

  /// False if there is no cached result. `stage` is the staging folder, in the project's file
  /// system if possible; `own` are the files of earlier attempts.
  func begin(stage: String, own: OwnFiles) throws(CacheFault) -> Bool {
    if seen.isAsked { return false }
    restoring = try ResultRestoring(
      cache, key, folder: folder, stage: stage, own: own, isResult: CachedOutputs(declaring).areAll)
    return restoring != nil
  }

  /// Returns true when complete.
  func bringBack(until deadline: Int64) throws(CacheFault) -> Bool {
    guard let restoring, let brought = try restoring.goOn(until: deadline) else { return false }
    self.brought = brought
    return true
  }

  /// True if the files on disk are the restored ones.
  func isWhole(_ outputs: SeenFiles) -> Bool {
    guard let brought, let files = declaring.projectFiles(outputs) else { return false }
    let byPath = Dictionary(files.map { ($0.path, $0.seen) }) { first, _ in first }
    return brought.entry.items.allSatisfy { item in
      switch item.kind {
      case .value, .output, .target: return true
      case .folder: return byPath[item.name]?.kind == .folder
      case .link:
        return byPath[item.name].map { $0.kind == .link && $0.content == item.digest.high }
          ?? false
      case .danglingLink:
        return byPath[item.name].map {
          ($0.kind == .absent || $0.kind == .link) && $0.content == item.digest.high
        } ?? false
      case .file, .executable:
        return byPath[item.name].map {
          ($0.kind == .file || $0.kind == .executable) && $0.content == item.digest.high
        } ?? false
      }
    }
  }

  // MARK: - Storing

  /// Returns true when complete.
  func keep(
    _ outputs: SeenFiles, values: [SuccessRecord.Value]?,
    output: (path: String, bytes: Int64)?, until deadline: Int64
  ) throws(CacheFault) -> Bool {
    if !cache.isWritable { return true }
    if keeping == nil {
      guard let files = declaring.projectFiles(outputs) else {
        let odd = outputs.lazy.map(\.path).first { String(validating: $0, as: UTF8.self) == nil }
        throw CacheFault(
          detail: odd.map {
            "the result is not cached; the output name `\(NameCharacters.text($0))` is not UTF-8"
          } ?? "the result is not cached; an output is outside the manifest's folder",
          isOfProject: odd != nil)
      }
      keeping = try ResultKeeping(
        cache, key, folder: folder, files: files, reach: reach(files), values: values ?? [],
        output: output)
    }
    return try keeping?.goOn(until: deadline) ?? true
  }

  private func reach(_ files: [ProjectFile]) -> LinkReach {
    var known: [[UInt8]] = []
    if files.contains(where: { $0.seen.kind == .link }) {
      known = files.map(\.path)
      for read in [seen.inputs, seen.links] {
        known += read.compactMap { declaring.projectPath($0.path) }
      }
    }
    return LinkReach(folder: folder, known: known)
  }

  func takeAway() { restoring?.takeAway() }

  func end() {
    brought = nil
    restoring = nil
    keeping = nil
  }
}

/// The outputs that a cached result must contain, and only these.
struct CachedOutputs {
  private let project: String
  private var declared = DeclaredOutputs()
  /// Names from the root.
  private var paths: [[[UInt8]]] = []
  private var patterns: [PlacedPattern] = []

  init(_ declaring: DeclaringTask) {
    self.init(
      project: declaring.plan.string(declaring.plan.manifest.folder), folder: declaring.folder,
      declaring.outputs)
  }

  init(project: String, folder: String, _ outputs: [FileScan.Item]) {
    self.project = project
    for output in outputs {
      declared.add(output, in: folder)
      switch output {
      case .path(let path): paths.append(DeclaringTask.names(path, in: folder))
      case .glob(let text):
        if let pattern = PlacedPattern(text, in: folder) { patterns.append(pattern) }
      }
    }
  }

  /// True if the items cover all outputs and are only outputs, at possible places.
  func areAll(_ items: [CacheEntry.Item]) -> Bool {
    var places: Set<[[UInt8]]> = []
    var folders: Set<[[UInt8]]> = []
    for item in items where item.kind.isOfProject {
      guard declared.contains(item.name, in: project) else { return false }
      let names = DeclaringTask.names(item.name, in: project)
      places.insert(names)
      if item.kind == .folder { folders.insert(names) }
    }
    // Files and links must not have items below them.
    for names in places {
      for count in names.indices.dropFirst() {
        let above = Array(names[..<count])
        if places.contains(above), !folders.contains(above) { return false }
      }
    }
    return paths.allSatisfy { places.contains($0) }
      && patterns.allSatisfy { pattern in
        let wanted = pattern.pattern.fitsFolders ? folders : places.subtracting(folders)
        return wanted.contains { pattern.matches($0) }
      }
  }
}
