internal import OpflowPlan

/// Reads the keys that `defaults` and tasks share.
struct SettingsReader: NodeReader {
  let values: ValueReader
  /// The base of `dir`; absolute and normalized.
  let folder: ByteView
  private let resources: ResourceTable
  private let environments: EnvironmentReader

  init(_ values: ValueReader, folder: ByteView, resources: ResourceTable) {
    self.values = values
    self.folder = folder
    self.resources = resources
    environments = EnvironmentReader(values)
  }

  func holding(_ scratch: TextStore) -> SettingsReader {
    SettingsReader(values.holding(scratch), folder: folder, resources: resources)
  }

  /// - Parameter standard: The settings below `defaults`.
  func readDefaults(_ node: Node?, over standard: TaskDefaults) -> TaskDefaults {
    guard let node, let keys = fields(node, Subject(ManifestKey.defaults), tables.defaults) else {
      return standard
    }
    var result = standard
    _ = read(keys, into: &result.settings, &result.lists)
    return result
  }

  /// Returns the settings that may now differ.
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
    if PolicyReader(values: values).read(keys, into: &settings) { own.insert(.policy) }
    if let node = keys[.resources] {
      DemandReader(values: values, resources: resources).read(node, into: &lists.demands)
      own.insert(.demands)
    }
    return own
  }

  private func readDirectory(_ node: Node) -> Directory? {
    let subject = Subject(TaskKey.dir)
    guard let scalar = values.filledString(node, subject) else { return nil }
    values.warnOfShellText(scalar, node, subject)
    let path = PathText.absolute(scalar.text, from: folder, store: scratch)
    let stable =
      scalar.text.isSame(as: scalar.stable)
      ? path : PathText.absolute(scalar.stable, from: folder, store: scratch)
    return Directory(path: path, stable: stable)
  }
}

struct PolicyReader: NodeReader {
  let values: ValueReader

  /// True if the policy may differ from the defaults.
  func read(_ keys: Fields<TaskKey>, into settings: inout TaskSettings) -> Bool {
    if let node = keys[.priority] { readPriority(node, into: &settings) }
    if let node = keys[.onInterrupted] { readOnInterrupted(node, into: &settings) }
    var isOwn = false
    if keys[.timeout] != nil {
      if let value = duration(keys, .timeout) { settings.policy.timeoutMilliseconds = value }
      isOwn = true
    }
    if let node = keys[.retry] {
      readRetry(node, into: &settings)
      isOwn = true
    }
    if let node = keys[.stop] {
      readStop(node, into: &settings)
      isOwn = true
    }
    return isOwn
  }

  static func differentKey(_ a: TaskPolicy, _ b: TaskPolicy, sameCodes: Bool) -> TaskKey? {
    if a.timeoutMilliseconds != b.timeoutMilliseconds { return .timeout }
    if (a.stopSignal, a.stopGraceMilliseconds) != (b.stopSignal, b.stopGraceMilliseconds) {
      return .stop
    }
    var (a, b) = (a, b)
    (a.retryCodes, b.retryCodes) = (0, 0)
    return sameCodes && a == b ? nil : .retry
  }

  private func readRetry(_ node: Node, into settings: inout TaskSettings) {
    if document.kind(node) == .scalar {
      if let value = values.integer(
        node, Subject(TaskKey.retry), in: KeyBounds.retries, expected: "a whole number or a map",
        help: Self.retryHelp)
      {
        settings.policy.retryMax = UInt32(value)
        settings.hasRetryMax = true
      }
      return
    }
    guard document.kind(node) == .mapping else {
      return values.wrongType(
        node, Subject(TaskKey.retry), expected: "a whole number or a map", help: Self.retryHelp)
    }
    let fields = maps.fields(node, tables.retry)
    if let value = integer(fields, .max, in: KeyBounds.retries) {
      settings.policy.retryMax = UInt32(value)
      settings.hasRetryMax = true
    }
    if let value = duration(fields, .delay, atMost: Self.longestDelay) {
      settings.policy.retryDelayMilliseconds = UInt32(value)
      // The default `max_delay` must not shorten `delay: 1h`.
      if fields[.maxDelay] == nil {
        settings.policy.retryMaxDelayMilliseconds = max(
          settings.policy.retryMaxDelayMilliseconds, UInt32(value))
      }
    }
    if let value = duration(fields, .maxDelay, atMost: Self.longestDelay) {
      settings.policy.retryMaxDelayMilliseconds = UInt32(value)
    }
    if let value = number(fields, .backoff, in: KeyBounds.backoff) {
      settings.policy.retryBackoffPermille = UInt32(value * 1000 + 0.5)
    }
    if let value = number(fields, .jitter, in: KeyBounds.jitter) {
      settings.policy.retryJitterPermille = UInt32(value * 1000 + 0.5)
    }
    if let node = fields[.exitCodes],
      let codes = values.exitCodes(node, Subject(RetryKey.exitCodes), items: "exit_codes")
    {
      settings.retryCodes = codes
    }
  }

  private static let retryHelp =
    "write the number of retries, `retry: 3`, or a map: `retry: { max: 3, delay: 5s }`"

  /// 1000 hours in milliseconds; the plan stores delays in 32 bits.
  private static var longestDelay: UInt64 { 1000 * 3_600_000 }

  private func readStop(_ node: Node, into settings: inout TaskSettings) {
    guard
      let fields = fields(
        node, Subject(TaskKey.stop), tables.stop,
        help: "write the signal, the grace period or both: { signal: INT, grace: 10s }")
    else { return }
    if let node = fields[.signal],
      let number = values.word(
        node, Subject(StopKey.signal), known: StopSignal.known, help: StopSignal.help,
        parse: StopSignal.number)
    {
      settings.policy.stopSignal = number
    }
    if let value = duration(fields, .grace, atMost: Self.longestDelay) {
      settings.policy.stopGraceMilliseconds = UInt32(value)
    }
  }

  private func readPriority(_ node: Node, into settings: inout TaskSettings) {
    if let value = values.word(
      node, Subject(TaskKey.priority), known: PriorityName.known, help: PriorityName.help,
      parse: PriorityName.value)
    {
      settings.priority = value
    }
  }

  private func readOnInterrupted(_ node: Node, into settings: inout TaskSettings) {
    let fails = values.word(node, Subject(TaskKey.onInterrupted), known: "rerun or fail") { text in
      text == "fail" ? true : text == "rerun" ? false : nil
    }
    if let fails { settings.failsWhenInterrupted = fails }
  }
}
