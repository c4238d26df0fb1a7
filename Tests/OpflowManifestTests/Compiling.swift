import OpflowCore
import OpflowManifest
import Testing

/// A manifest's text, compiled on a machine with 8 cores and 16 GiB.
func compile(
  _ text: String, variables: [(name: String, value: String)] = [],
  environment: [(name: String, value: String)] = [], runID: String = "run-1",
  maxParallel: Int? = nil, folder: String = "/data/project",
  links: [String: String] = [:]
) throws(ManifestError) -> CompiledManifest {
  try compile(
    bytes: Array(text.utf8), variables: variables, environment: environment, runID: runID,
    maxParallel: maxParallel, folder: folder, links: links)
}

func compile(
  bytes: [UInt8], variables: [(name: String, value: String)] = [],
  environment: [(name: String, value: String)] = [], runID: String = "run-1",
  maxParallel: Int? = nil, folder: String = "/data/project",
  links: [String: String] = [:]
) throws(ManifestError) -> CompiledManifest {
  try ManifestCompiler.compile(
    source(bytes, in: folder),
    options: CompileOptions(
      runID: runID, variables: variables, environment: environment, opflowVersion: "1.0",
      maxParallel: maxParallel, cores: 8, memoryBytes: 16 << 30,
      stateFolder: folder + "/.opflow", readLink: { links[$0] }))
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

/// `line:column: message` of every mistake in a manifest.
func mistakes(
  in text: String, variables: [(name: String, value: String)] = [],
  environment: [(name: String, value: String)] = [], links: [String: String] = [:]
) -> [String] {
  do {
    _ = try compile(text, variables: variables, environment: environment, links: links)
    return []
  } catch {
    return error.diagnostics.map { "\($0.line):\($0.column): \($0.message)" }
  }
}

/// A compiled manifest, opened and checked as a plan.
func plan(
  _ text: String, variables: [(name: String, value: String)] = [],
  environment: [(name: String, value: String)] = [], runID: String = "run-1",
  folder: String = "/data/project"
) throws -> Plan {
  let compiled = try compile(
    text, variables: variables, environment: environment, runID: runID, folder: folder)
  let plan = try Plan(copying: compiled.planBytes)
  try plan.validate()
  return plan
}

extension Plan {
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
