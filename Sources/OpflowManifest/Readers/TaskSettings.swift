internal import OpflowCore

/// Where a task runs.
struct Directory {
  /// An absolute path.
  var path: Text
  /// The path with a constant for `run.id`, for fingerprints.
  var stable: Text
}

/// The variables that the manifest sets for a task.
struct EnvironmentList {
  struct Variable {
    var name: Text
    var value: Scalar
  }

  private(set) var variables: [Variable] = []
  /// The number of variables in lower layers.
  private var below = 0
  /// An index of their names, if the layer sets many variables.
  private var namesBelow: NameIndex?
  /// The number of variables set in this layer.
  private var setCount = 0

  private static let fewCount = 8

  /// Starts a layer, which overrides lower ones.
  mutating func beginLayer() {
    below = variables.count
    forgetNamesBelow()
  }

  private mutating func forgetNamesBelow() {
    setCount = 0
    if namesBelow != nil { namesBelow = nil }
  }

  /// Sets a variable. Names must be unique within a layer.
  mutating func set(_ name: Text, _ value: Scalar) {
    setCount += 1
    if let index = indexBelow(name) {
      variables[index].value = value
    } else {
      variables.append(Variable(name: name, value: value))
    }
  }

  @inline(__always)
  private mutating func indexBelow(_ name: Text) -> Int? {
    if setCount > Self.fewCount, below > Self.fewCount { return indexOfMany(name) }
    for index in 0..<below where variables[index].name.isSame(as: name) { return index }
    return nil
  }

  @inline(never)
  private mutating func indexOfMany(_ name: Text) -> Int? {
    if namesBelow == nil {
      var names = NameIndex()
      for variable in variables[..<below] { _ = names.insert(variable.name) }
      namesBelow = names
    }
    return namesBelow?.index(of: name)
  }

  /// Keeps the memory.
  mutating func removeAll() {
    variables.removeEach()
    below = 0
    forgetNamesBelow()
  }
}

/// The amounts of resources that a task asks for.
struct Demands {
  /// An amount of 0 cancels a default.
  private(set) var items: [DemandItem] = []
  /// Indices into `items`, used for more than a few resources.
  private var places: [UInt32: Int] = [:]

  private static let fewCount = 16

  mutating func set(_ resource: UInt32, _ amount: UInt64) {
    let item = DemandItem(resource: resource, amount: amount)
    if let index = index(of: resource) {
      items[index] = item
      return
    }
    items.append(item)
    if items.count > Self.fewCount { notePlaces() }
  }

  private func index(of resource: UInt32) -> Int? {
    items.count > Self.fewCount
      ? places[resource] : items.firstIndex { $0.resource == resource }
  }

  private mutating func notePlaces() {
    for index in places.count..<items.count { places[items[index].resource] = index }
  }

  /// Returns the demands with the default: one CPU, or one download.
  func resolved(for kind: ActionKind, isService: Bool = false) -> [DemandItem] {
    let standard = kind == .download ? ResourceEntry.download : ResourceEntry.cpu
    var result = items
    // Services mostly wait.
    if !isService, !result.contains(where: { $0.resource == standard }) {
      result.append(DemandItem(resource: standard, amount: 1))
    }
    result.removeAll { $0.amount == 0 }
    result.sort { $0.resource < $1.resource }
    return result
  }
}

/// The values of keys in `defaults`; each task starts from a copy.
struct TaskSettings {
  /// The command line before a script.
  var shell: [Scalar]
  var directory: Directory
  /// The retried exit codes are in `retryCodes`.
  var policy = TaskPolicy()
  var retryCodes: [Int32] = []
  /// Whether `retry` sets `max`; downloads have another default.
  var hasRetryMax = false
  var priority: Int16 = 0
  var failsWhenInterrupted = false

  func policy(for kind: ActionKind) -> TaskPolicy {
    var policy = policy
    if kind == .download, !hasRetryMax { policy.retryMax = 3 }
    return policy
  }

  /// The exit codes to retry; downloads have none.
  func retryCodes(for kind: ActionKind) -> [Int32] { kind == .download ? [] : retryCodes }
}

/// Settings that are lists, which a task's own are merged into.
struct TaskLists {
  var environment = EnvironmentList()
  var demands = Demands()
}

struct TaskDefaults {
  var settings: TaskSettings
  var lists = TaskLists()
}

/// The settings of a task that may differ from `TaskDefaults`.
struct OwnSettings: OptionSet {
  let rawValue: UInt8

  static let shell = OwnSettings(rawValue: 1)
  static let directory = OwnSettings(rawValue: 2)
  static let environment = OwnSettings(rawValue: 4)
  static let demands = OwnSettings(rawValue: 8)
  static let policy = OwnSettings(rawValue: 16)
  static let all: OwnSettings = [.shell, .directory, .environment, .demands, .policy]
}
