internal import OpflowCore

// The top-level keys but `defaults` and `tasks`.

extension ManifestReader {
  mutating func readVersion(_ fields: Fields<ManifestKey>) {
    guard let node = fields[.version],
      let version = values.integer(node, Subject(ManifestKey.version), in: Int64.min...Int64.max),
      version != 1
    else { return }
    mistakes.error(
      document.place(node), "this opflow reads version 1 of the format, not \(version)")
  }

  /// `vars`, and `--set` over them. A value sees the ones above it.
  mutating func readVariables(_ node: Node?) {
    scope.place = .variables
    if let node, let entries = mapEntries(node, Subject(ManifestKey.vars)) {
      for index in 0..<entries.count { readVariable(entries, index) }
    }
    for (name, _) in options.variables where scope.variable(scope.store.copy(name)) == nil {
      mistakes.add(
        Mistakes.Mistake(
          severity: .error, place: nil, message: "the manifest has no variable `\(name)`",
          help: Suggestion.help(for: scope.store.copy(name), among: scope.variables.texts)
            ?? "only what stands under `vars` can be set", origin: "--set \(name)"))
    }
  }

  private func readVariable(_ entries: Entries, _ index: Int) {
    let name = entries.name(index)
    guard VariableName.isExpressionName(name) else {
      mistakes.error(
        document.place(entries.keys[index]), "`\(name.string)` is no name of a variable",
        help: "a name is letters, digits, `_` and `-`, and begins with a letter or `_`")
      return
    }
    let value = values.scalar(
      entries.value(index), .entry("vars", name), expected: "a string, a number or a boolean")
    let set = options.variables.last { name.elementsEqual($0.name.utf8) }
    if let set {
      scope.setVariable(name, scope.store.copy(set.value))
    } else {
      // A value that is wrong is known all the same, or every use of it would be a mistake too.
      scope.setVariable(name, scope.store.copy(value?.text ?? Text(start: nil, count: 0)))
    }
  }

  mutating func readEnvironment(_ node: Node?) {
    scope.place = .environment
    guard let node else { return }
    environment = readEnvironment(node, over: EnvironmentList()) { scope, name, value in
      scope.setEnvironment(name, scope.store.copy(value))
    }
  }

  mutating func readTopLevel(_ fields: Fields<ManifestKey>) {
    if let node = fields[.name], let text = values.filledString(node, Subject(ManifestKey.name)) {
      name = text.text.string
    }
    if let node = fields[.desc], let text = values.string(node, Subject(ManifestKey.desc)) {
      description = builder.intern(text.text)
    }
    if let node = fields[.maxFailures],
      let value = values.integer(node, Subject(ManifestKey.maxFailures), in: 0...1_000_000_000)
    {
      maxFailures = UInt32(value)
    }
    if let node = fields[.maxParallel] { readMaxParallel(node) }
  }

  private mutating func readMaxParallel(_ node: Node) {
    let subject = Subject(ManifestKey.maxParallel)
    guard let scalar = values.scalar(node, subject, expected: "a whole number or `auto`") else {
      return
    }
    if scalar.text == "auto" { return }
    if let value = values.integer(
      node, subject, in: 1...1_000_000, expected: "a whole number or `auto`")
    {
      maxParallel = UInt32(value)
    }
  }

  /// Top-level `resources`, and what `max_parallel` and `-j` say about `cpu`.
  mutating func readResources(_ fields: Fields<ManifestKey>) {
    if let node = fields[.resources], let entries = mapEntries(node, Subject(ManifestKey.resources))
    {
      for index in 0..<entries.count { readCapacity(entries, index, fields) }
    }
    if let wanted = options.maxParallel {
      resources.setMachineCapacity(ResourceEntry.cpu, UInt64(wanted))
    } else if maxParallel > 0 {
      resources.setMachineCapacity(ResourceEntry.cpu, UInt64(maxParallel))
    }
  }

  private mutating func readCapacity(
    _ entries: Entries, _ index: Int, _ fields: Fields<ManifestKey>
  ) {
    let name = entries.name(index)
    let node = entries.value(index)
    guard VariableName.isExpressionName(name) else {
      mistakes.error(
        document.place(entries.keys[index]), "`\(name.string)` is no name of a resource",
        help: "a name is letters, digits, `_` and `-`, and begins with a letter or `_`")
      return
    }
    // Known all the same when its value is wrong, or every use of it would be a mistake too.
    guard let capacity = readAmount(node, name, atLeast: 1) else {
      if resources.index(of: name) == nil { resources.declare(name, capacity: .max) }
      return
    }
    guard name == "cpu" else {
      resources.declare(name, capacity: capacity)
      return
    }
    if fields[.maxParallel] == nil {
      maxParallel = UInt32(capacity)
    } else {
      mistakes.error(
        document.place(entries.keys[index]), "the capacity of `cpu` is set twice",
        help: "keep `max_parallel`, or `resources.cpu`")
    }
  }

  /// An amount of a resource: a number, or for memory and the user's own also a size.
  func readAmount(_ node: Node, _ name: Text, atLeast minimum: Int64) -> UInt64? {
    let subject = Subject.entry("resources", name)
    if name == "cpu" || name == "download" {
      return values.integer(node, subject, in: minimum...1_000_000).map { UInt64($0) }
    }
    guard let amount = values.size(node, subject) else { return nil }
    guard amount >= UInt64(minimum) else {
      mistakes.error(document.place(node), "\(subject.description) must be at least \(minimum)")
      return nil
    }
    return amount
  }

  mutating func readInclude(_ key: Node) {
    let node = Node(key.record + 1)
    _ = values.strings(node, ManifestKey.include, expected: "a list of paths")
    reportUnsupported(key, "include")
  }

  func reportUnsupported(_ key: Node, _ name: StaticString) {
    mistakes.error(document.place(key), "`\(name)` is not supported yet")
  }

  /// The entries of a value that must be a map.
  func mapEntries(_ node: Node, _ subject: Subject) -> Entries? {
    guard document.kind(node) == .mapping else {
      values.wrongType(node, subject, expected: "a map")
      return nil
    }
    return maps.entries(node)
  }

  // MARK: Environment

  /// A map of variables, over those of `base`.
  mutating func readEnvironment(
    _ node: Node, over base: EnvironmentList,
    onEach: (NameScope, Text, Text) -> Void = { _, _, _ in }
  ) -> EnvironmentList {
    var result = base
    guard let entries = mapEntries(node, Subject(TaskKey.env)) else { return base }
    for index in 0..<entries.count {
      let name = entries.name(index)
      guard isEnvironmentName(name, at: entries.keys[index]),
        let value = values.scalar(
          entries.value(index), .entry("env", name), expected: "a string, a number or a boolean")
      else { continue }
      let item = EnvironmentItem(name: builder.intern(name), value: builder.intern(value.text))
      result.set(EnvironmentValue(item: item, digest: Digest.pair(name, value.stable)))
      onEach(scope, name, value.text)
    }
    return result
  }

  private func isEnvironmentName(_ name: Text, at key: Node) -> Bool {
    if name.hasPrefix("OPFLOW_") {
      mistakes.error(
        document.place(key), "`\(name.string)` is opflow's own",
        help: "names that begin with `OPFLOW_` are set by opflow")
      return false
    }
    if VariableName.isEnvironment(name) { return true }
    mistakes.error(
      document.place(key), "`\(name.string)` is no name of an environment variable")
    return false
  }
}

/// Hashes of lists and pairs of texts, for fingerprints.
enum Digest {
  static func pair(_ first: Text, _ second: Text) -> UInt64 {
    combine(Hash.xxh3(first), Hash.xxh3(second))
  }

  static func combine(_ first: UInt64, _ second: UInt64) -> UInt64 {
    withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) { Hash.xxh3($0) }
  }

  /// Of texts in order.
  static func list(_ texts: some Sequence<Text>) -> UInt64 {
    texts.reduce(0) { combine($0, Hash.xxh3($1)) }
  }
}
