import OpflowBase
import OpflowManifest
import OpflowPlan
import Testing

/// A manifest's text, compiled on a machine with 8 cores and 16 GiB.
func compile(
  _ text: String, variables: [(name: String, value: String)] = [],
  environment: [(name: String, value: String)] = [], runID: String = "run-1",
  maxParallel: Int? = nil, folder: String = "/data/project",
  links: [String: String] = [:], files: [String: String] = [:]
) throws(ManifestError) -> CompiledManifest {
  try compile(
    bytes: Array(text.utf8), variables: variables, environment: environment, runID: runID,
    maxParallel: maxParallel, folder: folder, links: links, files: files)
}

/// - Parameter files: by their names in the folder; `*` of a pattern fits any text. One whose text
///   begins with `!` cannot be read, for the reason behind it. A character is a byte.
func compile(
  bytes: [UInt8], variables: [(name: String, value: String)] = [],
  environment: [(name: String, value: String)] = [], runID: String = "run-1",
  maxParallel: Int? = nil, folder: String = "/data/project",
  links: [String: String] = [:], files: [String: String] = [:]
) throws(ManifestError) -> CompiledManifest {
  var options = CompileOptions(
    runID: runID, variables: variables, environment: environment, opflowVersion: "1.0",
    maxParallel: maxParallel, cores: 8, memoryBytes: 16 << 30,
    stateFolder: folder + "/.opflow", readLink: { links[$0] })
  options.readFile = { (path, _, _) throws(NamedFileFault) in
    let name = String(path.dropFirst(folder.count + 1))
    guard let text = files[name] else { throw .missing }
    if text.hasPrefix("!") { throw .failed(String(text.dropFirst())) }
    return NamedFile(
      bytes: text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }, realPath: path,
      number: FileNumber(device: 1, inode: Hash.xxh3(Array(name.utf8))))
  }
  options.fileNames = { pattern, _ in
    if pattern.contains("[") { return .failure(FileNameFault("its `[` is not closed")) }
    let glob = Glob(pattern)
    return .success(
      files.keys.filter { Array($0.utf8).withUnsafeBytes { glob.matches($0) } }.sorted())
  }
  return try ManifestCompiler.compile(source(bytes, in: folder), options: options)
}

/// The same, without a plan.
func check(bytes: [UInt8]) throws(ManifestError) -> CheckedManifest {
  let folder = "/data/project"
  return try ManifestCompiler.check(
    source(bytes, in: folder),
    options: CompileOptions(
      runID: "run-1", opflowVersion: "1.0", cores: 8, memoryBytes: 16 << 30,
      stateFolder: folder + "/.opflow"))
}

private func source(_ bytes: [UInt8], in folder: String) -> ManifestSource {
  ManifestSource(
    bytes: bytes, displayPath: "m.yaml", path: "\(folder)/m.yaml", folder: folder,
    defaultName: "m")
}

/// Returns `LINE:COLUMN: MESSAGE` for each error in a manifest, with the name of the file before it
/// if it is another file.
func errors(
  in text: String, variables: [(name: String, value: String)] = [],
  environment: [(name: String, value: String)] = [], links: [String: String] = [:],
  files: [String: String] = [:]
) -> [String] {
  do {
    _ = try compile(
      text, variables: variables, environment: environment, links: links, files: files)
    return []
  } catch {
    return error.diagnostics.map {
      ($0.file == "m.yaml" || $0.line == 0 ? "" : "\($0.file):")
        + "\($0.line):\($0.column): \($0.message)"
    }
  }
}

/// A compiled manifest, opened and checked as a plan.
func plan(
  _ text: String, variables: [(name: String, value: String)] = [],
  environment: [(name: String, value: String)] = [], runID: String = "run-1",
  folder: String = "/data/project", files: [String: String] = [:]
) throws -> Plan {
  let compiled = try compile(
    text, variables: variables, environment: environment, runID: runID, folder: folder,
    files: files)
  let plan = try Plan(copying: compiled.planBytes)
  try plan.validate()
  return plan
}

extension Plan {
  /// Of all tasks, in their order.
  var ids: [String] { tasks.map { nameString(TaskID($0)) } }
  func id(_ name: String) throws -> TaskID { try #require(task(named: name)) }
  func scriptText(_ name: String) throws -> String {
    String(decoding: script(try id(name)), as: UTF8.self)
  }
  func wordTexts(_ name: String) throws -> [String] { words(try id(name)).map { string($0) } }
  func shellWords(_ name: String) throws -> [String] {
    list(record(try id(name)).shell).map { string($0) }
  }
  func directoryText(_ name: String) throws -> String { string(record(try id(name)).directory) }
  func environmentTexts(_ name: String) throws -> [String] {
    environmentList(record(try id(name)).environment).map {
      "\(string($0.name))=\(string($0.value))"
    }
  }
  func demandTexts(_ name: String) throws -> [String] {
    demandList(demand[try id(name).index]).map {
      "\(string(resources[Int($0.resource)].name))="
        + ResourceEntry.text($0.amount, of: $0.resource)
    }
  }
  func needTexts(_ name: String) throws -> [String] {
    needs(try id(name)).map {
      "\(nameString(TaskID(needTargets[$0]))) on \(needCondition($0))"
    }
  }
}
