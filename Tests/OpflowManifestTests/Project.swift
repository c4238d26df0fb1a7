import OpflowBase
import OpflowManifest
import OpflowPlan
import Testing

/// The files of a manifest in memory, in a folder of that path: `m.yaml` is the root.
struct Project: Sendable {
  var files: [String: [UInt8]] = [:]
  /// Paths that are not files or cannot be read.
  var faults: [String: NamedFileFault] = [:]
  /// Symbolic links, each with the file that it leads to.
  var links: [String: String] = [:]
  var folder = "/data/project"

  init(_ files: [String: String]) {
    for (name, text) in files { self.files[name] = Array(text.utf8) }
  }

  private func named(_ path: String, atMost limit: Int) throws(NamedFileFault) -> NamedFile {
    let name = path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : path
    if let fault = faults[name] { throw fault }
    let real = links[name] ?? name
    guard let bytes = files[real] else { throw .missing }
    if bytes.count > limit { throw .tooLarge }
    return NamedFile(
      bytes: bytes, realPath: real.hasPrefix("/") ? real : "\(folder)/\(real)",
      number: FileNumber(device: 1, inode: Hash.xxh3(Array(real.utf8))))
  }

  func compile(
    variables: [(name: String, value: String)] = [],
    environment: [(name: String, value: String)] = []
  ) throws(ManifestError) -> CompiledManifest {
    var source = ManifestSource(
      bytes: files["m.yaml"] ?? [], displayPath: "m.yaml", path: "\(folder)/m.yaml",
      folder: folder, defaultName: "m")
    source.number = FileNumber(device: 1, inode: Hash.xxh3(Array("m.yaml".utf8)))
    var options = CompileOptions(
      runID: "run-1", variables: variables, environment: environment, opflowVersion: "1.0",
      cores: 8, memoryBytes: 16 << 30, stateFolder: "\(folder)/.opflow")
    let project = self
    options.readFile = { (path, limit, _) throws(NamedFileFault) in
      try project.named(path, atMost: limit)
    }
    return try ManifestCompiler.compile(source, options: options)
  }

  func plan(
    variables: [(name: String, value: String)] = [],
    environment: [(name: String, value: String)] = []
  ) throws -> Plan {
    let compiled = try compile(variables: variables, environment: environment)
    let plan = try Plan(copying: compiled.planBytes)
    try plan.validate()
    return plan
  }

  /// `file:line:column: message` of each error.
  func errors(variables: [(name: String, value: String)] = []) -> [String] {
    diagnostics(variables: variables).map(Self.text)
  }

  func diagnostics(variables: [(name: String, value: String)] = []) -> [Diagnostic] {
    do {
      _ = try compile(variables: variables)
      return []
    } catch {
      return error.diagnostics.filter { $0.severity == .error }
    }
  }

  func warnings(variables: [(name: String, value: String)] = []) throws -> [String] {
    try compile(variables: variables).warnings.map(Self.text)
  }

  static func text(_ diagnostic: Diagnostic) -> String {
    "\(diagnostic.file):\(diagnostic.line):\(diagnostic.column): \(diagnostic.message)"
  }
}

/// Files that must be refused, with the expected errors.
struct BadProject: Sendable, CustomTestStringConvertible {
  var title: String
  var project: Project
  var errors: [String]

  /// - Parameter include: The value of `include` in `m.yaml`, which has a task `a`; the files
  ///   `db.yaml` and `ci/build.yaml` are sound.
  init(_ title: String, include: String, _ errors: String...) {
    self.title = title
    self.errors = errors
    project = Project([
      "m.yaml": "vars: { v: \"1\", none: \"\" }\ninclude: \(include)\ntasks: { a: { run: x } }\n",
      "db.yaml": "tasks: { up: { run: x } }\n", "ci/build.yaml": "tasks: { make: { run: x } }\n",
    ])
  }

  init(_ title: String, _ files: [String: String], _ errors: String...) {
    self.title = title
    self.errors = errors
    project = Project(files)
  }

  /// - Parameter db: the file `db.yaml`, which `m.yaml` includes as it is.
  init(_ title: String, db: String, _ errors: String...) {
    self.title = title
    self.errors = errors
    project = Project(["m.yaml": "include: [db.yaml]\ntasks: { a: { run: x } }\n", "db.yaml": db])
  }

  var testDescription: String { title }
}
