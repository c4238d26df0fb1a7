internal import OpflowBase
package import OpflowPlan
internal import OpflowSystem

/// The place of a plan's records, and the manifest's name in them.
package struct RecordPlace {
  /// Contains the records and runs.
  let state: String
  /// The real path if `state` is a link.
  let linkedState: String?
  let manifest: String

  package init(_ plan: Plan, state: String) {
    self.state = state
    let isLink = (try? Path.linkStatus(state))?.kind == .link
    linkedState = isLink ? try? Path.real(state) : nil
    let home = Path.parent(of: state)
    manifest = SuccessRecord.manifestName(
      plan.files.first.map { plan.string($0) } ?? "", in: plan.string(plan.manifest.folder),
      home: (try? Path.real(home)) ?? home)
  }
}

/// A task that declares files.
package struct DeclaringTask {
  package let plan: Plan
  package let task: TaskID
  let records: RecordPlace

  package init(plan: Plan, task: TaskID, records: RecordPlace) {
    self.plan = plan
    self.task = task
    self.records = records
  }

  /// Identifies the task in records, in all runs of the state folder.
  var identity: UInt64 {
    SuccessRecord.identity(manifest: records.manifest, task: plan.nameBytes(task))
  }

  /// `seen` has the inputs as scanned before the start.
  func cacheKey(_ seen: SuccessRecord) -> SHA256.Digest {
    CacheKey.of(
      seen, name: plan.nameBytes(task), keepsValues: plan.flags(task).contains(.leavesValues),
      architecture: CacheKey.architecture)
  }

  /// The values that other tasks may read.
  func handedOn(_ left: [SuccessRecord.Value]) -> [TaskValue] {
    let flags = plan.flags(task)
    guard flags.contains(.leavesValues) else { return [] }
    return left.map {
      TaskValue(name: $0.name, text: $0.text, keepsText: flags.contains(.decidesOthers))
    }
  }

  var folder: String { plan.string(plan.record(task).directory) }

  var inputs: [FileScan.Item] {
    plan.inputs(of: task).compactMap { entry in
      switch entry {
      case .path(let path): .path(path)
      case .glob(let pattern): .glob(pattern)
      case .environment, .command: nil
      }
    }
  }

  var outputs: [FileScan.Item] {
    plan.outputs(of: task).map { entry in
      switch entry {
      case .path(let path): .path(path)
      case .glob(let pattern): .glob(pattern)
      }
    }
  }

  /// How links among the inputs count. The task's own outputs and the state folder are not inputs,
  /// even if a pattern, folder or link includes them.
  var followedLinks: FileScan.Links {
    var own = LeftOutPaths(folder)
    for output in outputs { own.add(output) }
    addState(to: &own)
    return .followed(
      project: plan.string(plan.manifest.folder),
      LeftOut(path: own.contains, listed: own.containsListed, target: own.containsTarget))
  }

  /// How links among the outputs count when dependents read them.
  var followedOutputLinks: FileScan.Links {
    var own = LeftOutPaths(folder)
    addState(to: &own)
    return .followed(
      project: plan.string(plan.manifest.folder),
      LeftOut(path: { _ in false }, listed: { _ in false }, target: own.containsTarget))
  }

  /// Under both names if it is a link.
  private func addState(to paths: inout LeftOutPaths) {
    paths.add(.path(records.state))
    if let linked = records.linkedState { paths.add(.path(linked)) }
  }

  /// Explains a missing path that looks like a pattern but is a plain name; empty for other paths.
  func nameNote(_ path: String) -> String {
    plan.writtenText(ofPath: path, of: task).map {
      "; it comes from `\($0)`, so opflow takes it as a name, not as a pattern"
    } ?? ""
  }

  func absolute(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : folder + "/" + path
  }

  static func absolute(_ path: [UInt8], in folder: String) -> [UInt8] {
    path.first == slash ? path : Array(folder.utf8) + [slash] + path
  }

  /// The path, or its nearest ancestor that is UTF-8.
  static func readable(_ path: [UInt8]) -> String {
    var path = path[...]
    while true {
      if let text = String(validating: path, as: UTF8.self) { return text.isEmpty ? "/" : text }
      path = path[..<(path.lastIndex(of: slash) ?? 0)]
    }
  }

  /// Relative to the manifest's folder; nil if outside.
  func projectPath(_ path: [UInt8]) -> [UInt8]? {
    let root = Self.names(plan.string(plan.manifest.folder), in: "/")
    let names = Self.names(path, in: folder)
    guard names.count > root.count, names.starts(with: root) else { return nil }
    return Array(names.dropFirst(root.count).joined(separator: [Self.slash]))
  }

  /// Relative to the manifest's folder; nil if one is outside or not UTF-8.
  func projectFiles(_ files: SeenFiles) -> [ProjectFile]? {
    var found: [ProjectFile] = []
    // An output declared in two spellings occurs twice.
    var paths: Set<[UInt8]> = []
    for file in files {
      guard let path = projectPath(file.path), String(validating: path, as: UTF8.self) != nil
      else { return nil }
      if paths.insert(path).inserted {
        found.append(ProjectFile(path: path, seen: file))
      }
    }
    return found
  }

  /// The files of earlier attempts that are still declared as outputs: only these may be replaced
  /// or removed.
  func ownFiles(_ left: LeftFiles) throws(Errno) -> OwnFiles {
    let (leaves, reads) = (covers(outputs), covers(inputs))
    var paths: Set<[UInt8]> = []
    let files = left.made.compactMap { file -> ProjectFile? in
      guard let path = projectPath(file.path), leaves(path), paths.insert(path).inserted else {
        return nil
      }
      let isChanged = left.changed.contains(file.path)
      return ProjectFile(
        path: path, seen: file,
        keepsEdits: left.untouched.contains(file.path) || isChanged && reads(path),
        isMade: !isChanged)
    }
    let strangers = left.strangersOfLost.map { Set($0.compactMap(projectPath)) }
    return try OwnFiles(
      plan.string(plan.manifest.folder), files, strangersOfLost: strangers, hash: plan.contentHash)
  }

  private static let slash = UInt8(ascii: "/")

  /// Tests whether a path relative to the manifest's folder is an output or inside one.
  var leaves: ([UInt8]) -> Bool { covers(outputs) }

  private func covers(_ items: [FileScan.Item]) -> ([UInt8]) -> Bool {
    let project = plan.string(plan.manifest.folder)
    var declared = DeclaredOutputs()
    for item in items { declared.add(item, in: folder) }
    return { [declared] in declared.contains($0, in: project) }
  }

  /// Names from the root. Bytes, because Swift strings of different bytes may be equal.
  static func names(_ path: String, in folder: String) -> [[UInt8]] {
    names(Array(path.utf8), in: folder)
  }

  static func names(_ path: [UInt8], in folder: String) -> [[UInt8]] {
    var names: [[UInt8]] = []
    for name in absolute(path, in: folder).split(separator: slash) {
      if name.elementsEqual("..".utf8) {
        _ = names.popLast()
      } else if !name.elementsEqual(".".utf8) {
        names.append(Array(name))
      }
    }
    return names
  }

  func variable(_ name: String) -> [UInt8]? {
    let environment = plan.environmentEntry(plan.record(task).environment)
    for list in [environment.own, environment.base] {
      let set = plan.variables(list).last { plan.text($0.name).elementsEqual(name.utf8) }
      if let set { return Array(plan.text(set.value)) }
    }
    let start = Array(name.utf8) + [UInt8(ascii: "=")]
    return Environment.entries().first { $0.starts(with: start) }.map { Array($0[start.count...]) }
  }

  /// The task's environment without the sources of secrets: workers do not have these variables,
  /// but a process that only checks does.
  var environment: [[UInt8]] {
    let items = plan.environmentList(plan.record(task).environment)
    let hidden = Set(items.map { Array(plan.text($0.name)) } + plan.secretVariables)
    let inherited = Environment.entries().filter { entry in
      !hidden.contains(Array(entry.prefix { $0 != UInt8(ascii: "=") }))
    }
    return inherited
      + items.map { Array(plan.text($0.name)) + [UInt8(ascii: "=")] + Array(plan.text($0.value)) }
  }
}

struct DeclaredOutputs {
  /// Names from the root.
  private var paths: Set<[[UInt8]]> = []
  private var patterns: [PlacedPattern] = []

  mutating func add(_ output: FileScan.Item, in folder: String) {
    switch output {
    case .path(let path): paths.insert(DeclaringTask.names(path, in: folder))
    case .glob(let text):
      if let pattern = PlacedPattern(text, in: folder) { patterns.append(pattern) }
    }
  }

  func contains(_ path: [UInt8], in folder: String) -> Bool {
    let names = DeclaringTask.names(path, in: folder)
    for count in names.indices where paths.contains(Array(names[...count])) { return true }
    return patterns.contains { $0.covers(names) }
  }
}

/// A pattern with its base folder. Without `.` and `..`, since found names do not contain them.
struct PlacedPattern {
  /// Names from the root.
  let folder: [[UInt8]]
  let pattern: PathPattern

  /// Fails if a `[` is not closed.
  init?(_ text: String, in folder: String) {
    var home = DeclaringTask.names("", in: text.utf8.first == UInt8(ascii: "/") ? "/" : folder)
    var rest: [Substring.UTF8View] = []
    for name in text.utf8.split(separator: UInt8(ascii: "/")) {
      if name.elementsEqual(".".utf8) { continue }
      if !name.elementsEqual("..".utf8) {
        rest.append(name)
      } else if rest.popLast() == nil {
        _ = home.popLast()
      }
    }
    let end = text.utf8.last == UInt8(ascii: "/") ? "/" : ""
    guard let pattern = PathPattern(rest.map { String(Substring($0)) }.joined(separator: "/") + end)
    else { return nil }
    self.folder = home
    self.pattern = pattern
  }

  func matches(_ names: [[UInt8]]) -> Bool {
    names.count > folder.count && names.starts(with: folder)
      && pattern.matches(names[folder.count...])
  }

  /// Also true for a path in a matching folder if the pattern is of folders.
  func covers(_ names: [[UInt8]]) -> Bool {
    if !pattern.fitsFolders { return matches(names) }
    return names.indices.contains { matches(Array(names[...$0])) }
  }
}

/// A file that matches output patterns of two tasks may be from either; other shared outputs are an
/// error of the manifest.
struct OutputPatterns {
  private let patterns: [(task: TaskID, pattern: PlacedPattern)]
  /// Tasks may have been added since.
  let taskCount: Int

  init(_ plan: Plan) {
    var patterns: [(task: TaskID, pattern: PlacedPattern)] = []
    for task in plan.tasks.lazy.map({ TaskID($0) }) where plan.declaresOutputs(task) {
      let folder = plan.string(plan.record(task).directory)
      for case .glob(let text) in plan.outputs(of: task) {
        if let pattern = PlacedPattern(text, in: folder) { patterns.append((task, pattern)) }
      }
    }
    self.patterns = patterns
    taskCount = plan.taskCount
  }

  /// `names` are from the root.
  func isOfOther(than task: TaskID, _ names: [[UInt8]]) -> Bool {
    patterns.contains { $0.task != task && $0.pattern.covers(names) }
  }
}
