internal import OpflowCore

/// Where a task runs.
struct Directory {
  /// Absolute.
  var path: Text
  /// The path with a constant for `run.id`.
  var stable: Text
}

/// The variables that a task gets from the manifest.
struct EnvironmentList {
  struct Variable {
    var name: Text
    var value: Scalar
  }

  private(set) var variables: [Variable] = []
  /// Variables of the layers below the one that is written.
  private var below = 0
  /// Their names, once the layer has so many that one look at all of them takes less than one for each.
  private var namesBelow: NameIndex?
  /// Variables that the layer has set.
  private var setCount = 0

  private static let fewCount = 8

  /// Begins a layer, whose variables go over those that there are.
  mutating func beginLayer() {
    below = variables.count
    forgetNamesBelow()
  }

  private mutating func forgetNamesBelow() {
    setCount = 0
    if namesBelow != nil { namesBelow = nil }
  }

  /// Sets a variable, over one of the same name below. The names of one layer are different.
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

  /// Empties it and keeps its memory.
  mutating func removeAll() {
    variables.removeEach()
    below = 0
    forgetNamesBelow()
  }
}

/// How much of each resource a task holds, where the manifest says so.
struct Demands {
  /// By resource. An amount of 0 gives a default up.
  private(set) var items: [DemandItem] = []
  /// Where each resource stands, once there are more than a few.
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

  /// What a task of that kind holds: by default one processor, or one download.
  func resolved(for kind: ActionKind, isService: Bool = false) -> [DemandItem] {
    let standard = kind == .download ? ResourceEntry.download : ResourceEntry.cpu
    var result = items
    // A service mostly waits.
    if !isService, !result.contains(where: { $0.resource == standard }) {
      result.append(DemandItem(resource: standard, amount: 1))
    }
    result.removeAll { $0.amount == 0 }
    result.sort { $0.resource < $1.resource }
    return result
  }
}

/// The task keys that `defaults` may set, as values. Every task starts from a copy.
struct TaskSettings {
  /// The words before the script of a string action.
  var shell: [Scalar]
  var directory: Directory
  /// As the plan has them, but for `retryCodes`.
  var policy = TaskPolicy()
  var retryCodes: [Int32] = []
  /// Whether `retry` says how often; a download is tried again without being told to.
  var hasRetryMax = false
  var priority: Int16 = 0
  var failsWhenInterrupted = false

  /// The rules of a task of that kind.
  func policy(for kind: ActionKind) -> TaskPolicy {
    var policy = policy
    if kind == .download, !hasRetryMax { policy.retryMax = 3 }
    return policy
  }

  /// The exit codes that are retried; a download has none that `retry` could choose by.
  func retryCodes(for kind: ActionKind) -> [Int32] { kind == .download ? [] : retryCodes }
}

/// Those of them that are lists, which a task's own are merged over.
struct TaskLists {
  var environment = EnvironmentList()
  var demands = Demands()
}

/// What every task starts from.
struct TaskDefaults {
  var settings: TaskSettings
  var lists = TaskLists()
}

/// What of a task may differ from `TaskDefaults`; the rest is the same for all.
struct OwnSettings: OptionSet {
  let rawValue: UInt8

  static let shell = OwnSettings(rawValue: 1)
  static let directory = OwnSettings(rawValue: 2)
  static let environment = OwnSettings(rawValue: 4)
  static let demands = OwnSettings(rawValue: 8)
  static let policy = OwnSettings(rawValue: 16)
  static let all: OwnSettings = [.shell, .directory, .environment, .demands, .policy]
}
