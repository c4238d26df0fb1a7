internal import OpflowCore

/// The words before the script of a string action.
struct ShellWords {
  var list: ListIndex
  /// Hash of the words, for fingerprints.
  var digest: UInt64
}

/// Where a task runs.
struct Directory {
  /// Absolute.
  var path: Text
  /// The path with a constant for `run.id`.
  var stable: Text
  var ref: TextRef
}

/// One variable that the manifest sets.
struct EnvironmentValue {
  var item: EnvironmentItem
  /// Hash of name and value, with a constant for `run.id`.
  var digest: UInt64
}

/// The variables that a task gets from the manifest.
struct EnvironmentList {
  private(set) var values: [EnvironmentValue] = []

  /// The same for equal lists in any order.
  var digest: UInt64 { values.reduce(0) { $0 &+ $1.digest } }

  /// Sets a variable, over one of the same name. Equal names have equal references.
  mutating func set(_ value: EnvironmentValue) {
    if let index = values.firstIndex(where: { $0.item.name == value.item.name }) {
      values[index] = value
    } else {
      values.append(value)
    }
  }
}

/// How much of each resource a task holds, where the manifest says so.
struct Demands {
  /// By resource. An amount of 0 gives a default up.
  private(set) var items: [DemandItem] = []

  mutating func set(_ resource: UInt32, _ amount: UInt64) {
    let item = DemandItem(resource: resource, amount: amount)
    if let index = items.firstIndex(where: { $0.resource == resource }) {
      items[index] = item
    } else {
      items.append(item)
    }
  }

  /// What a task holds that by default holds one of `resource`.
  func resolved(over resource: UInt32) -> [DemandItem] {
    var result = items
    if !result.contains(where: { $0.resource == resource }) {
      result.append(DemandItem(resource: resource, amount: 1))
    }
    result.removeAll { $0.amount == 0 }
    result.sort { $0.resource < $1.resource }
    return result
  }
}

/// The task keys that `defaults` may set, as values. Nothing in it counts references: every task
/// starts from a copy.
struct TaskSettings {
  var shell: ShellWords
  var directory: Directory
  /// The environment's number in the plan, and its digest.
  var environmentIndex: UInt32 = 0
  var environmentDigest: UInt64 = 0
  var policy = TaskPolicy()
  /// Whether `retry` says how often; a download is tried again without being told to.
  var hasRetryMax = false
  var priority: Int16 = 0
  var failsWhenInterrupted = false
}

/// Those of them that are lists, which a task's own are merged over.
struct TaskLists {
  var environment = EnvironmentList()
  var demands = Demands()
}
