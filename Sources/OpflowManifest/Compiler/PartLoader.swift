internal import OpflowBase
internal import OpflowPlan

/// Loads the root and its includes recursively, each as a part. A file included under several
/// prefixes is read once; its parts share the document but have their own names and values.
/// Including it twice under one prefix, for example through two files, makes one part.
final class FileLoader {
  /// Each file follows the one that includes it.
  private(set) var parts: [IncludedFile] = []
  /// True if tasks are missing because a file could not be read.
  private(set) var isIncomplete = false
  let further: FurtherFiles
  let kept = TextStore()

  private let source: ManifestSource
  let root: SourceFile
  private let options: CompileOptions
  private let diagnostics: Diagnostics
  let run: RunTasks?
  private let tables = SchemaTables()
  private let given: GivenVariables
  private var documents: [FileNumber: YAMLDocument?] = [:]
  private var variableFiles: [PathKey: SourceFile] = [:]
  /// Used prefixes, with the place of the first use.
  private var prefixes: [String: Place] = [:]
  private var joined: [Joined: Place] = [:]
  /// The chain of includes from the root to the current file.
  private var steps: [Step] = []

  private struct Joined: Hashable {
    var prefix: String
    var file: FileNumber
  }

  private struct Step {
    let number: FileNumber?
    let name: String
    let entry: Place?
    let displayFolder: () -> String
    /// Wins if a file is included without `as`.
    let winning: (scope: NameScope, file: String)
    /// The values of `--set` if they apply to the file.
    let given: GivenVariables?
  }

  private static let mostLevels = 64
  private static let mostParts = 10_000

  init(
    _ source: ManifestSource, _ options: CompileOptions, _ diagnostics: Diagnostics, run: RunTasks?
  ) {
    self.run = run
    self.source = source
    self.options = options
    self.diagnostics = diagnostics
    given = GivenVariables(options.variables)
    further = FurtherFiles(options, rootBytes: source.bytes.count)
    root = diagnostics.open(displayPath: source.displayPath, bytes: source.bytes)
  }

  /// - Returns: Nil, after an error, if the root is unusable.
  func load() -> ManifestValues? {
    guard let document = SyntaxErrors.read(root, diagnostics) else { return nil }
    let scope = NameScope(runID: options.runID, inheritedEnvironment: options.environment)
    scope.secrets.missing = options.missingSecrets
    scope.tasksWithoutTerminal = options.tasksWithoutTerminal
    scope.secrets.add(document)
    if let run { scope.secrets.setRun(run.plan, isAddition: run.matrixGroup == nil) }
    let values = reader(of: document, scope)
    guard let file = DeclarationReader(values: values).readFile() else { return nil }
    let folder = PathText.absolute(kept.copy(source.folder), from: kept.copy("/"), store: kept)
    let top = TopLevelReader(values, OuterVariables(given: given)) { [source] in
      self.variableFile($0, of: document, in: folder, source.displayFolder)
    }
    var environment = EnvironmentList()
    top.readScope(file.keys, into: &environment)
    let manifest = settings(file.keys, top, scope.store)
    let part = IncludedFile(
      file: file, values: values, folder: folder, prefix: ByteView.empty, environment: environment,
      entry: nil, path: run == nil ? nil : source.path)
    parts.append(part)
    includeFiles(
      of: part,
      Step(
        number: source.number, name: source.displayPath, entry: nil,
        displayFolder: source.displayFolder, winning: (scope, source.displayPath), given: given))
    given.reportUnknown(to: diagnostics, scope: scope)
    for part in parts { part.values.scope.position = .task }
    return manifest
  }

  private func settings(
    _ keys: Fields<ManifestKey>, _ top: TopLevelReader, _ store: TextStore
  ) -> ManifestValues {
    let (cores, memory) = (UInt64(options.cores), options.memoryBytes)
    guard let run else {
      var manifest = ManifestValues(
        name: source.defaultName, resources: ResourceTable(cpu: cores, memory: memory, store: store)
      )
      top.readSettings(keys, wantedParallel: options.maxParallel, into: &manifest)
      return manifest
    }
    // A matrix's manifest is the run's, which has these settings.
    if run.matrixGroup == nil {
      top.refuseSettings(
        keys, of: "a manifest that is added to a run", root: "the first manifest of the run")
    }
    var resources = ResourceTable(of: run.plan, cpu: cores, memory: memory, store: store)
    if let wanted = options.maxParallel {
      resources.setMachineCapacity(ResourceEntry.cpu, UInt64(wanted))
    }
    return ManifestValues(name: source.defaultName, resources: resources)
  }

  private func reader(of document: YAMLDocument, _ scope: NameScope) -> ValueReader {
    ValueReader(
      document: document, diagnostics: diagnostics, scope: scope, tables: tables, scratch: kept)
  }

  // MARK: Included files

  private func includeFiles(of part: IncludedFile, _ step: Step) {
    let (entries, isWhole) = IncludeReader(values: part.values).read(part.file.keys)
    if !isWhole { isIncomplete = true }
    if entries.isEmpty { return }
    steps.append(step)
    for entry in entries where !include(entry, of: part, step) { isIncomplete = true }
    steps.removeLast()
  }

  private func include(_ entry: IncludeEntry, of part: IncludedFile, _ step: Step) -> Bool {
    let place = part.document.place(entry.node)
    guard steps.count <= Self.mostLevels else {
      diagnostics.error(
        place, "`include` is nested deeper than \(Self.mostLevels) levels",
        help: "include this file from a file further up")
      return false
    }
    guard parts.count < Self.mostParts else {
      diagnostics.error(place, "the manifest includes more than \(Self.mostParts) files")
      return false
    }
    let name = DisplayPath.path(entry.path, in: step.displayFolder)
    let path = PathText.absolute(entry.path, from: part.folder, store: kept).string
    guard let found = read(path, name, at: place, entry.path) else { return false }
    if let first = steps.firstIndex(where: { $0.number == found.number }) {
      reportCycle(from: first, closedAt: place)
      return false
    }
    guard let prefix = prefix(of: entry, in: part) else { return false }
    if entry.name == nil, let first = firstJoin(of: found.number, prefix, at: place) {
      if entry.variables.isEmpty { return true }
      reportJoinedTwice(name, at: place, first)
      return false
    }
    guard let document = document(of: found, name) else { return false }

    let isJoined = entry.name == nil
    let scope = NameScope(besides: part.values.scope)
    scope.isApart = !isJoined || part.values.scope.isApart
    scope.secrets.add(document)
    let values = reader(of: document, scope)
    guard let file = DeclarationReader(values: values).readFile() else { return false }
    let folder = kept.copy(DisplayPath.parent(of: found.realPath))
    let displayFolder = DisplayPath.folder(name, path: path, realPath: found.realPath)
    let top = TopLevelReader(
      values,
      OuterVariables(
        winning: isJoined ? step.winning : nil, passed: entry.variables,
        given: isJoined ? step.given : nil)
    ) { self.variableFile($0, of: document, in: folder, displayFolder) }
    var environment = EnvironmentList()
    top.readScope(file.keys, into: &environment)
    top.refuseSettings(
      file.keys, of: "an included file",
      root: run == nil ? source.displayPath : "the first manifest of the run")
    let added = IncludedFile(
      file: file, values: values, folder: folder, prefix: prefix, environment: environment,
      entry: place, path: found.realPath)
    parts.append(added)
    warnOfUnknown(entry.variables, of: part, in: added, name)
    includeFiles(
      of: added,
      Step(
        number: found.number, name: name, entry: place, displayFolder: displayFolder,
        winning: isJoined ? step.winning : (scope, name), given: isJoined ? step.given : nil))
    return true
  }

  /// Files that it includes might use variables that the file does not mention.
  private func warnOfUnknown(
    _ passed: [PassedVariable], of part: IncludedFile, in added: IncludedFile, _ name: String
  ) {
    if passed.isEmpty || added.file.keys.key(.include) != nil { return }
    var names = TextTable()
    for variable in passed { _ = names.insert(variable.name) }
    let isNamed = Self.words(of: added.document.source, among: names)
    let scope = added.values.scope
    for (number, variable) in passed.enumerated() where !isNamed[number] {
      part.values.diagnostics.warning(
        part.document.place(variable.key),
        "`\(name)` does not use the variable `\(variable.name.string)`",
        help: scope.suggestions.help(
          for: variable.name, among: scope.variableNames.lazy.filter { names.index(of: $0) == nil })
      )
    }
  }

  private static func words(of text: ByteView, among names: TextTable) -> [Bool] {
    var isFound = [Bool](repeating: false, count: names.count)
    var start = 0
    while start < text.count {
      let end = text[start...].firstIndex { !ASCII.continuesName($0) } ?? text.count
      if end > start, let name = names.index(of: text.part(start..<end)) { isFound[name] = true }
      start = end + 1
    }
    return isFound
  }

  private func read(_ path: String, _ name: String, at place: Place, _ written: ByteView)
    -> NamedFile?
  {
    do throws(NamedFileFault) {
      return try further.read(path)
    } catch {
      diagnostics.error(
        place, "cannot include `\(name)`: \(error.text(limit: FurtherFiles.mostBytes))",
        help: error.help(written, path))
      return nil
    }
  }

  private func document(of file: NamedFile, _ name: String) -> YAMLDocument? {
    if let known = documents[file.number] { return known }
    let document = SyntaxErrors.read(
      diagnostics.open(displayPath: name, bytes: file.bytes), diagnostics)
    documents[file.number] = .some(document)
    return document
  }

  // MARK: Variable files

  private func variableFile(
    _ entry: VariableFileEntry, of document: YAMLDocument, in folder: ByteView,
    _ displayFolder: () -> String
  ) -> SourceFile? {
    let name = DisplayPath.path(entry.path, in: displayFolder)
    let path = PathText.absolute(entry.path, from: folder, store: kept).string
    if let known = variableFiles[PathKey(path)] { return known }
    let limit = FurtherFiles.mostVariableBytes
    do throws(NamedFileFault) {
      guard let file = try further.read(path, atMost: limit, mayBeMissing: entry.mayBeMissing)
      else { return nil }
      let source = diagnostics.open(displayPath: name, bytes: file.bytes)
      variableFiles[PathKey(path)] = source
      return source
    } catch {
      var help = error.help(entry.path, path)
      if error == .missing {
        help = (help.map { "\($0); " } ?? "") + "if the file is optional, write `?` before the path"
      }
      diagnostics.error(
        document.place(entry.node), "cannot read `\(name)`: \(error.text(limit: limit))", help: help
      )
      return nil
    }
  }

  // MARK: Names

  private func prefix(of entry: IncludeEntry, in part: IncludedFile) -> ByteView? {
    guard let name = entry.name else { return part.prefix }
    kept.append(part.prefix)
    kept.append(name)
    kept.append("/")
    let prefix = kept.finish()
    let place = part.document.place(entry.nameNode)
    if let first = prefixes.updateValue(place, forKey: prefix.string) {
      prefixes[prefix.string] = first
      diagnostics.add(
        .error, place, "another include already has the name `\(name.string)`",
        help: "give each include its own `as`",
        notes: [.init(place: first, message: "the first `\(name.string)`")])
      return nil
    }
    return prefix
  }

  private func firstJoin(of file: FileNumber, _ prefix: ByteView, at place: Place) -> Place? {
    let key = Joined(prefix: prefix.string, file: file)
    if let first = joined[key] { return first }
    joined[key] = place
    return nil
  }

  private func reportJoinedTwice(_ name: String, at place: Place, _ first: Place) {
    diagnostics.add(
      .error, place, "`\(name)` is included twice, the second time with `vars`",
      help: "give it an `as`; then its tasks exist twice, with different IDs",
      notes: [.init(place: first, message: "first included here")])
  }

  private func reportCycle(from first: Int, closedAt place: Place) {
    let cycle = steps[first...]
    let names = cycle.map(\.name) + [steps[first].name]
    let entries = cycle.dropFirst().compactMap(\.entry) + [place]
    diagnostics.add(
      .error, place, "`include` cycle: \(names.joined(separator: " -> "))",
      help: "remove one of these includes",
      notes: zip(entries, zip(names, names.dropFirst())).map { entry, step in
        .init(place: entry, message: "`\(step.0)` includes `\(step.1)` here")
      })
  }
}

struct IncludedFile {
  let file: FileDeclaration
  let values: ValueReader
  /// The base of relative paths; absolute and normalized.
  let folder: ByteView
  let prefix: ByteView
  let environment: EnvironmentList
  /// Nil for the root.
  let entry: Place?
  /// The real path; nil for the root of a new run.
  let path: String?

  var document: YAMLDocument { file.document }
}

enum DisplayPath {
  static func path(_ path: ByteView, in displayFolder: () -> String) -> String {
    if path.first == UInt8(ascii: "/") { return path.string }
    let path = path.hasPrefix("./") ? path.part(2..<path.count) : path
    return displayFolder() + path.string
  }

  /// The folder before a file's relative paths: the real one if the file is reached through a
  /// symbolic link.
  static func folder(_ name: String, path: String, realPath: String) -> () -> String {
    let folder = parent(of: realPath)
    if parent(of: path) != folder { return { folder == "/" ? "/" : folder + "/" } }
    guard let slash = name.lastIndex(of: "/") else { return { "" } }
    return { String(name[...slash]) }
  }

  static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.utf8.startIndex
    else { return "/" }
    return String(path[..<slash])
  }
}
