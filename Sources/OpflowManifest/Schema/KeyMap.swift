enum KeyMap: String, CaseIterable {
  case manifest, task, defaults, retry, stop, cache, service, ready, need, include, download,
    secret, input
  case matrix, axis, rows

  var keys: [KeyRow] { row.keys }
  /// Where its keys occur; follows the word "in".
  var place: String { row.place }
  var rules: [KeyRule] { row.rules }

  private var row: (keys: [KeyRow], place: String, rules: [KeyRule]) {
    switch self {
    case .manifest:
      (ManifestKey.table, "the top level of a manifest", [.anyOf(["tasks", "include"])])
    case .task: (TaskKey.table, "a task", Self.rulesOfTask)
    case .defaults: (TaskKey.ofDefaults.map(\.row), "`defaults`", [])
    case .retry: (RetryKey.table, "`retry`", [])
    case .stop: (StopKey.table, "`stop`", [])
    case .cache: (CacheKey.table, "`cache`", [])
    case .service: (ServiceKey.table, "`service`", [])
    case .ready: (ReadyKey.table, "`ready` of `service`", [.oneOf(Self.names(ReadyKey.probes))])
    case .need: (NeedKey.table, "an item of `needs`", [.oneOf(["task"])])
    case .include: (IncludeKey.table, "an item of `include`", [.oneOf(["path"])])
    case .download: (DownloadKey.table, "`download`", [.oneOf(["url"]), .oneOf(["to"])])
    case .secret:
      (
        SecretKey.table, "an entry of `secrets`",
        [.oneOf(Self.names(SecretKey.allCases))]
      )
    case .input: (InputKey.table, "an item of `inputs`", [.oneOf(Self.names(InputKey.allCases))])
    case .matrix: (MatrixKey.table, "`matrix`", [])
    case .axis:
      (
        AxisKey.ofAxes.map(\.row), "an axis of `matrix`",
        [.oneOf(["range", "glob", "lines"]), .without("range", ["after"])]
      )
    case .rows: (AxisKey.ofRows.map(\.row), "`rows` of `matrix`", [.oneOf(["file"])])
    }
  }

  var others: (names: NameShape, take: ValueShape?)? {
    if self == .manifest { return (.extra, nil) }
    if self != .matrix { return nil }
    return (.identifier, .either([.list(.scalar, mayBeEmpty: false), .map(.axis)]))
  }

  private static var rulesOfTask: [KeyRule] {
    let notOfDownloads = TaskKey.notOfDownloads
    return [
      .oneOfOrOnly(names(TaskKey.actions), "needs", names(TaskKey.ofNames)),
      .without(TaskKey.approve.name.description, names(TaskKey.notOfApprovals)),
      .without(TaskKey.block.name.description, names(TaskKey.notOfExternalTasks)),
      .without(TaskKey.download.name.description, names(notOfDownloads.always)),
      .unlessFalse(
        TaskKey.service.name.description, names(TaskKey.notOfServices + [.approve, .block])),
      .withoutTrue(TaskKey.download.name.description, names(notOfDownloads.ifTrue)),
      .withoutList(TaskKey.approve.name.description, TaskKey.allowFailure.name.description),
      .notBothTrue(TaskKey.finally.name.description, TaskKey.manual.name.description),
    ]
  }

  private static func names(_ keys: some Sequence<some SchemaKey>) -> [String] {
    keys.map { $0.name.description }
  }
}

enum KeyRule {
  case oneOf([String])
  /// Exactly one of the first keys; or the second (not an empty list), with only keys of the last
  /// list.
  case oneOfOrOnly([String], String, [String])
  /// At least one of the keys, with a value that is not empty.
  case anyOf([String])
  case without(String, [String])
  /// Unless the first key is false, it excludes the others.
  case unlessFalse(String, [String])
  case withoutTrue(String, [String])
  case withoutList(String, String)
  case notBothTrue(String, String)
}

/// Describes a key for help, JSON schema and manual, and for tests of the readers.
struct KeyRow: Sendable {
  let name: StaticString
  let takes: ValueShape
  /// As shown to users; may be empty.
  let standard: String
  let meaning: String
  let example: String

  init(
    _ name: StaticString, _ takes: ValueShape, standard: String = "", _ meaning: String,
    example: String
  ) {
    self.name = name
    self.takes = takes
    self.standard = standard
    self.meaning = meaning
    self.example = example
  }
}

enum KeyBounds {
  static var maxParallel: ClosedRange<Int64> { 1...1_000_000 }
  static var maxFailures: ClosedRange<Int64> { 0...1_000_000_000 }
  static var keepRuns: ClosedRange<Int64> { 1...1_000_000 }
  static var retries: ClosedRange<Int64> { 0...1_000_000 }
  static var backoff: ClosedRange<Double> { 1...1000 }
  static var jitter: ClosedRange<Double> { 0...1 }
  /// 0 is success.
  static var exitCode: ClosedRange<Int64> { 1...255 }
  static var priority: ClosedRange<Int64> { -1000...1000 }
  static var port: ClosedRange<Int64> { 1...65535 }
  static var signal: ClosedRange<Int64> { 1...64 }
  static var axis: ClosedRange<Int64> { -1_000_000_000_000_000...1_000_000_000_000_000 }
}
