internal import OpflowPlan

/// All keys except `include`, `defaults` and `tasks`.
struct TopLevelReader: NodeReader {
  let values: ValueReader
  private let variables: VariableReader
  private let files: VariableFileReader

  init(
    _ values: ValueReader, _ outer: OuterVariables,
    open: @escaping (VariableFileEntry) -> SourceFile?
  ) {
    self.values = values
    variables = VariableReader(values: values, outer: outer)
    files = VariableFileReader(values: values, open: open)
  }

  /// `vars`, `env_file` and `env` in this order; each sees those before it.
  func readScope(_ keys: Fields<ManifestKey>, into environment: inout EnvironmentList) {
    readVersion(keys)
    variables.read(keys[.vars])
    scope.position = .environment
    if let node = keys[.envFile] { files.read(node, into: &environment) }
    if let node = keys[.env] {
      EnvironmentReader(values).read(node, into: &environment)
      for variable in environment.variables {
        scope.setEnvironment(variable.name, variable.value.text)
      }
    }
    for variable in environment.variables { values.noteSet(variable) }
    scope.position = .top
  }

  /// - Parameter wantedParallel: `-j`.
  func readSettings(
    _ keys: Fields<ManifestKey>, wantedParallel: Int?, into manifest: inout ManifestValues
  ) {
    if let name = filled(keys, .name) { manifest.name = name.text.string }
    if let text = readDescription(keys) { manifest.description = text.text }
    if let value = integer(keys, .maxFailures, in: KeyBounds.maxFailures) {
      manifest.maxFailures = UInt32(value)
    }
    if let node = keys[.maxParallel] { readMaxParallel(node, into: &manifest) }
    if let value = integer(keys, .keepRuns, in: KeyBounds.keepRuns) {
      manifest.keepRuns = UInt32(value)
    }
    readConcurrency(keys, into: &manifest.concurrency)
    if let node = keys[.secrets] {
      manifest.secrets = SecretReader(values: values).readSources(node)
    }
    CapacityReader(values: values).read(keys, wanted: wantedParallel, into: &manifest)
  }

  /// In a file that is included or added to a run, settings of the whole run are errors.
  func refuseSettings(_ keys: Fields<ManifestKey>, of detail: String, root: String) {
    _ = filled(keys, .name)
    _ = readDescription(keys)
    for key in ManifestKey.ofRootOnly {
      guard let found = keys.key(key) else { continue }
      error(
        found, "`\(key.name)` cannot be in \(detail)",
        help: "it applies to the whole run; move it to \(root)")
    }
  }

  private func readVersion(_ fields: Fields<ManifestKey>) {
    guard let node = fields[.version], let version = version(node), version != 1 else { return }
    error(
      node, "this opflow reads version 1 of the manifest format, not \(version)",
      help: Self.versionHelp)
  }

  /// Accepts a quoted version only to reject `"3"` with a better message.
  private func version(_ node: Node) -> Int64? {
    if !document.isPlain(node), let text = document.scalarText(node),
      let version = CoreSchema.integer(text), version != 1
    {
      return version
    }
    return values.integer(
      node, Subject(ManifestKey.version), in: Int64.min...Int64.max, help: Self.versionHelp)
  }

  private static let versionHelp =
    "remove `version`, or write `version: 1`; it is the version of the manifest format"

  private func readDescription(_ keys: Fields<ManifestKey>) -> Scalar? {
    keys[.desc].flatMap { values.string($0, Subject(ManifestKey.desc)) }
  }

  private func readConcurrency(_ keys: Fields<ManifestKey>, into concurrency: inout RunConcurrency)
  {
    if let node = keys[.concurrency], let name = readGroup(node) { concurrency.name = name }
    guard let node = keys[.ifRunning] else { return }
    let choice = values.word(node, Subject(ManifestKey.ifRunning), known: "wait, fail or allow") {
      text in
      text == "wait" ? IfRunning.wait : text == "fail" ? .fail : text == "allow" ? .allow : nil
    }
    if let choice { concurrency.ifRunning = choice }
  }

  private func readGroup(_ node: Node) -> String? {
    let subject = Subject(ManifestKey.concurrency)
    let isScalar = document.kind(node) == .scalar
    // Other tools have a map or a number here.
    if !isScalar || CoreSchema.integer(document.text(node)) != nil {
      return error(
        node, "`concurrency` must be the name of a group of runs",
        help: isScalar
          ? "to limit the number of tasks that run at once, write `max_parallel`"
          : "write `concurrency: NAME`, and `if_running: wait` or `if_running: fail`")
    }
    return values.filledString(node, subject)?.text.string
  }

  private func readMaxParallel(_ node: Node, into manifest: inout ManifestValues) {
    let subject = Subject(ManifestKey.maxParallel)
    guard let scalar = values.scalar(node, subject, expected: "a whole number or `auto`") else {
      return
    }
    if scalar.text == "auto" { return }
    if let value = values.integer(
      node, subject, in: KeyBounds.maxParallel, expected: "a whole number or `auto`",
      help: "write the limit of `cpu`, such as 4; the default is the number of CPUs that opflow "
        + "may use")
    {
      manifest.maxParallel = UInt32(value)
    }
  }
}

/// Texts live as long as the compilation.
struct ManifestValues {
  var name: String
  var description = ByteView.empty
  /// 0 lets the computer decide.
  var maxParallel: UInt32 = 0
  var maxFailures: UInt32 = 1
  var keepRuns = ManifestEntry.standardKeepRuns
  var concurrency = RunConcurrency()
  var resources: ResourceTable
  var secrets: [DeclaredSecret] = []
}
