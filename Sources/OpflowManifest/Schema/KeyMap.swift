enum KeyMap: String, CaseIterable {
  case manifest, task, defaults, retry, stop, cache, service, ready, need, include, download,
    secret, input
  case matrix, axis, rows

  var entries: [KeyEntry] {
    switch self {
    case .manifest: Self.entries(ManifestKey.allCases)
    case .task: Self.entries(TaskKey.allCases)
    case .defaults: Self.entries(TaskKey.ofDefaults)
    case .retry: Self.entries(RetryKey.allCases)
    case .stop: Self.entries(StopKey.allCases)
    case .cache: Self.entries(CacheKey.allCases)
    case .service: Self.entries(ServiceKey.allCases)
    case .ready: Self.entries(ReadyKey.allCases)
    case .need: Self.entries(NeedKey.allCases)
    case .include: Self.entries(IncludeKey.allCases)
    case .download: Self.entries(DownloadKey.allCases)
    case .secret: Self.entries(SecretKey.allCases)
    case .input: Self.entries(InputKey.allCases)
    case .matrix: Self.entries(MatrixKey.allCases)
    case .axis: Self.entries(AxisKey.ofAxes)
    case .rows: Self.entries(AxisKey.ofRows)
    }
  }

  private static func entries(_ keys: some Sequence<some SchemaKey>) -> [KeyEntry] {
    keys.map { KeyEntry(name: $0.name.description, row: $0.row) }
  }

  /// Where its keys occur; follows the word "in".
  var place: String {
    switch self {
    case .manifest: "the manifest, at the top"
    case .task: "a task"
    case .defaults: "`defaults`"
    case .retry: "`retry`"
    case .stop: "`stop`"
    case .cache: "`cache`"
    case .service: "`service`"
    case .ready: "`ready` of `service`"
    case .need: "an item of `needs`"
    case .include: "an item of `include`"
    case .download: "`download`"
    case .secret: "an entry of `secrets` at the top"
    case .input: "an item of `inputs`"
    case .matrix: "`matrix`"
    case .axis: "an axis of `matrix`"
    case .rows: "`rows` of `matrix`"
    }
  }

  /// Constraints between its keys.
  var rules: [KeyRule] {
    switch self {
    case .manifest: [.anyOf(["tasks", "include"])]
    case .task: Self.rulesOfTask
    case .defaults, .retry, .stop, .cache, .service, .matrix: []
    case .ready: [.oneOf(Self.names(ReadyKey.probes))]
    case .need: [.oneOf(["task"])]
    case .include: [.oneOf(["path"])]
    case .download: [.oneOf(["url"]), .oneOf(["to"])]
    case .secret: [.oneOf(Self.names(SecretKey.allCases))]
    case .input: [.oneOf(Self.names(InputKey.allCases))]
    case .axis:
      [
        .oneOf(Self.names([AxisKey.range, .glob, .lines])),
        .without(AxisKey.range.name.description, Self.names([AxisKey.after])),
      ]
    case .rows: [.oneOf(["file"])]
    }
  }

  /// Other names that it may have, and their values; nil if none.
  var others: (names: NameShape, take: ValueShape?)? {
    switch self {
    case .manifest: (.extra, nil)
    case .matrix: (.identifier, .either([.list(.scalar, mayBeEmpty: false), .map(.axis)]))
    case .task, .defaults, .retry, .stop, .cache, .service, .ready, .need, .include, .download,
      .secret, .input, .axis, .rows:
      nil
    }
  }

  private static var rulesOfTask: [KeyRule] {
    let notOfDownloads = TaskKey.notOfDownloads
    return [
      .oneOfOrOnly(names(TaskKey.actions), "needs", names(TaskKey.ofNames)),
      .without(TaskKey.approve.name.description, names(TaskKey.notOfGates)),
      .without(TaskKey.block.name.description, names(TaskKey.notOfBlocks)),
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
  /// The map has exactly one of these; or it has the second (not an empty list) and otherwise only
  /// keys of the last list.
  case oneOfOrOnly([String], String, [String])
  /// The map has at least one of these, and it is not empty.
  case anyOf([String])
  case without(String, [String])
  /// The first, if true or a map, excludes the others.
  case unlessFalse(String, [String])
  case withoutTrue(String, [String])
  case withoutList(String, String)
  case notBothTrue(String, String)
}

/// Describes a key for help, JSON schema and manual, and for tests of the readers.
struct KeyRow {
  let takes: ValueShape
  /// The default as shown to users; may be empty.
  let standard: String
  let meaning: String
  let example: String

  init(_ takes: ValueShape, standard: String = "", _ meaning: String, example: String) {
    self.takes = takes
    self.standard = standard
    self.meaning = meaning
    self.example = example
  }
}

struct KeyEntry {
  let name: String
  let row: KeyRow
}

/// The ranges of numbers, for readers and key tables.
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
