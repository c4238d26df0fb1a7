import OpflowBase
import OpflowManifest
import OpflowPlan
import Testing

/// The plan of a run, to which tests add tasks.
struct GrowingRun {
  private let first: String
  private(set) var bytes: [UInt8]
  private(set) var plan: Plan

  init(_ first: String) throws {
    self.first = first
    bytes = try compile(first).planBytes
    plan = try Plan(copying: bytes)
    try plan.validate()
  }

  /// Compiles an addition, in a file `add.yaml` next to the manifest, and writes it into the plan.
  @discardableResult
  mutating func add(
    _ text: String, files: [String: String] = [:], by generator: String? = nil
  ) throws -> CompiledSegment {
    let segment = try compiled(text, files: files, by: generator)
    try grow(by: segment)
    return segment
  }

  /// Makes the matrix tasks of a matrix of the first manifest, and writes them into the plan.
  ///
  /// - Parameter names: The files that every pattern matches.
  @discardableResult
  mutating func addInstances(
    _ matrixGroup: String, _ files: [String: String], names: [String] = []
  ) throws -> CompiledSegment {
    var options = Self.options(files, in: "/data/project")
    options.fileNames = { _, _ in .success(names) }
    let source = ManifestSource(
      bytes: Array(first.utf8), displayPath: "opflow.yaml", path: "/data/project/opflow.yaml",
      folder: "/data/project", defaultName: "opflow.yaml")
    let made = try ManifestCompiler.compileInstances(
      source, madeBy: try plan.id(matrixGroup), of: plan, options: options)
    let segment = try #require(made)
    try grow(by: segment)
    return segment
  }

  private mutating func grow(by segment: CompiledSegment) throws {
    guard let added = segment.added else { return }
    let part = try Plan(copying: added.planBytes)
    try part.validate()
    bytes = try PlanGrowth(of: plan, by: part).applied(to: bytes)
    plan = try Plan(copying: bytes)
    try plan.validate()
  }

  private static func options(_ files: [String: String], in folder: String) -> CompileOptions {
    var options = CompileOptions(
      runID: "run-1", opflowVersion: "1.0", cores: 8, memoryBytes: 16 << 30,
      stateFolder: "/data/project/.opflow")
    options.readFile = { (path, _, _) throws(NamedFileFault) in
      guard let text = files[String(path.dropFirst(folder.count + 1))] else { throw .missing }
      return NamedFile(
        bytes: Array(text.utf8), realPath: path,
        number: FileNumber(device: 1, inode: Hash.xxh3(Array(path.utf8))))
    }
    return options
  }

  func compiled(
    _ text: String, files: [String: String] = [:], folder: String = "/data/project",
    by generator: String? = nil
  ) throws(ManifestError) -> CompiledSegment {
    let options = Self.options(files, in: folder)
    let source = ManifestSource(
      bytes: Array(text.utf8), displayPath: "add.yaml", path: "\(folder)/add.yaml",
      folder: folder, defaultName: "add")
    return try ManifestCompiler.compile(
      source, addedTo: plan, by: generator.flatMap { plan.task(named: $0) }, options: options)
  }

  /// `line:column: message` of each error, after the file if it is another one.
  func errors(in text: String, files: [String: String] = [:]) -> [String] {
    diagnostics(in: text, files: files).map {
      ($0.file == "add.yaml" ? "" : "\($0.file):") + "\($0.line):\($0.column): \($0.message)"
    }
  }

  func diagnostics(in text: String, files: [String: String] = [:]) -> [Diagnostic] {
    do throws(ManifestError) {
      _ = try compiled(text, files: files)
      return []
    } catch {
      return error.diagnostics.filter { $0.severity == .error }
    }
  }
}
