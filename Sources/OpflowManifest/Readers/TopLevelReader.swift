/// Reads the top-level keys but `defaults` and `tasks`.
struct TopLevelReader {
  let values: ValueReader
  private let variables: VariableReader
  private let capacities: CapacityReader
  /// `-j`.
  private let wantedParallel: Int?

  init(_ values: ValueReader, set: [(name: String, value: String)], wantedParallel: Int?) {
    self.values = values
    self.wantedParallel = wantedParallel
    variables = VariableReader(values: values, set: set)
    capacities = CapacityReader(values: values)
  }

  /// Reads them in the order in which they see each other, wherever they stand.
  func read(_ keys: Fields<ManifestKey>, into manifest: inout ManifestValues) {
    readVersion(keys)
    variables.read(keys[.vars])
    readEnvironment(keys[.env], into: &manifest.environment)
    values.scope.position = .top
    readTexts(keys, into: &manifest)
    capacities.read(keys, wanted: wantedParallel, into: &manifest)
    values.scope.position = .task
    if let include = keys.key(.include) { readInclude(include) }
  }

  private func readEnvironment(_ node: Node?, into list: inout EnvironmentList) {
    values.scope.position = .environment
    guard let node else { return }
    var reader = EnvironmentReader(values)
    reader.read(node, into: &list)
    for variable in list.variables {
      values.scope.setEnvironment(variable.name, variable.value.text)
    }
  }

  private func readVersion(_ fields: Fields<ManifestKey>) {
    guard let node = fields[.version],
      let version = values.integer(node, Subject(ManifestKey.version), in: Int64.min...Int64.max),
      version != 1
    else { return }
    values.mistakes.error(
      values.document.place(node), "this opflow reads version 1 of the format, not \(version)",
      help: "it is the version of the manifest's format; leave it out, or write `version: 1`")
  }

  private func readTexts(_ fields: Fields<ManifestKey>, into manifest: inout ManifestValues) {
    if let node = fields[.name], let text = values.filledString(node, Subject(ManifestKey.name)) {
      manifest.name = text.text.string
    }
    if let node = fields[.desc], let text = values.string(node, Subject(ManifestKey.desc)) {
      manifest.description = text.text
    }
    if let node = fields[.maxFailures],
      let value = values.integer(node, Subject(ManifestKey.maxFailures), in: 0...1_000_000_000)
    {
      manifest.maxFailures = UInt32(value)
    }
    if let node = fields[.maxParallel] { readMaxParallel(node, into: &manifest) }
  }

  private func readMaxParallel(_ node: Node, into manifest: inout ManifestValues) {
    let subject = Subject(ManifestKey.maxParallel)
    guard let scalar = values.scalar(node, subject, expected: "a whole number or `auto`") else {
      return
    }
    if scalar.text == "auto" { return }
    if let value = values.integer(
      node, subject, in: 1...1_000_000, expected: "a whole number or `auto`")
    {
      manifest.maxParallel = UInt32(value)
    }
  }

  private func readInclude(_ key: Node) {
    let node = key.value
    _ = values.strings(node, ManifestKey.include, expected: "a list of paths")
    values.reportUnsupported(key, "include")
  }
}
