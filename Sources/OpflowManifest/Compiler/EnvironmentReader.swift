internal import OpflowCore

// `env`, at the top level, in `defaults` and in tasks.

extension ManifestReader {
  /// Reads a map of variables over those of `list`.
  mutating func readEnvironment(
    _ node: Node, into list: inout EnvironmentList,
    onEach: (NameScope, Text, Text) -> Void = { _, _, _ in }
  ) {
    guard document.kind(node) == .mapping else {
      values.wrongType(
        node, Subject(TaskKey.env), expected: "a map", help: values.mapHelp(node))
      return
    }
    maps.readEntries(node, into: &environmentEntries)
    for index in 0..<environmentEntries.count {
      let name = environmentEntries.name(index)
      guard isEnvironmentName(name, at: environmentEntries.keys[index]),
        let value = values.scalar(
          environmentEntries.value(index), .entry("env", name),
          expected: "a string, a number or a boolean")
      else { continue }
      warnOfShellText(value, environmentEntries.value(index), .entry("env", name))
      onEach(scope, name, value.text)
      guard options.wantsPlan else { continue }
      let item = EnvironmentItem(name: builder.intern(name), value: builder.intern(value.text))
      list.set(EnvironmentValue(item: item, digest: Digest.pair(name, value.stable)))
    }
  }

  private mutating func isEnvironmentName(_ name: Text, at key: Node) -> Bool {
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
