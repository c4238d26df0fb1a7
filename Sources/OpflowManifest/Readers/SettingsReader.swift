internal import OpflowCore

/// Reads the keys that `defaults` and tasks share.
struct SettingsReader {
  let values: ValueReader
  /// The base of `dir`; absolute and normalized.
  let folder: Text
  private let commands: CommandReader
  private let policies: PolicyReader
  private let demands: DemandReader
  private let environments: EnvironmentReader

  init(_ values: ValueReader, folder: Text, resources: ResourceTable) {
    self.values = values
    self.folder = folder
    commands = CommandReader(values: values)
    policies = PolicyReader(values: values)
    demands = DemandReader(values: values, resources: resources)
    environments = EnvironmentReader(values)
  }

  /// Returns the same reader with another store.
  func holding(_ scratch: TextStore) -> SettingsReader {
    SettingsReader(values.holding(scratch), folder: folder, resources: demands.resources)
  }

  /// - Parameter standard: The settings below `defaults`.
  func readDefaults(_ node: Node?, over standard: TaskDefaults) -> TaskDefaults {
    guard let node else { return standard }
    guard values.document.kind(node) == .mapping else {
      values.wrongType(node, Subject(ManifestKey.defaults), expected: "a map")
      return standard
    }
    let keys = values.maps.fields(node, values.tables.defaults, owner: "`defaults`")
    var result = standard
    _ = read(keys, into: &result.settings, &result.lists)
    return result
  }

  /// Reads keys over the given settings, and returns which of them may now differ.
  func read(
    _ keys: Fields<TaskKey>, into settings: inout TaskSettings, _ lists: inout TaskLists
  ) -> OwnSettings {
    var own = OwnSettings()
    if let node = keys[.env] {
      environments.read(node, into: &lists.environment)
      own.insert(.environment)
    }
    if let node = keys[.dir], let directory = readDirectory(node) {
      settings.directory = directory
      own.insert(.directory)
    }
    if let node = keys[.shell], let shell = commands.readShell(node) {
      settings.shell = shell
      own.insert(.shell)
    }
    if policies.read(keys, into: &settings) { own.insert(.policy) }
    if let node = keys[.resources] {
      demands.read(node, into: &lists.demands)
      own.insert(.demands)
    }
    return own
  }

  private func readDirectory(_ node: Node) -> Directory? {
    let subject = Subject(TaskKey.dir)
    guard let scalar = values.filledString(node, subject) else { return nil }
    values.warnOfShellText(scalar, node, subject)
    let path = PathText.absolute(scalar.text, from: folder, store: values.scratch)
    let stable =
      scalar.text.isSame(as: scalar.stable)
      ? path : PathText.absolute(scalar.stable, from: folder, store: values.scratch)
    return Directory(path: path, stable: stable)
  }
}
