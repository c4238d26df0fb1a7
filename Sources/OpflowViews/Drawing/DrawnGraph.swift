internal import OpflowCore

/// A picture of tasks and dependencies. A node is a task, or several folded ones.
package struct DrawnGraph {
  enum Kind: Equatable {
    case task(ActionKind)
    /// Of one task.
    case family
    /// Of one included file, or with IDs that start alike up to a `/`.
    case group
    /// Tasks for which the picture has no room.
    case rest
  }

  struct Node {
    /// Clean and never empty.
    var name: String
    var kind: Kind
    var taskCount = 0
    /// Nil for a manifest.
    var counts: TaskCounts?
    var isFinally = false
    var isManual = false

    var title: String {
      switch kind {
      case .task: name
      case .family: "\(name) (\(taskCount) legs)"
      case .group: "\(name)/ (\(taskCount) tasks)"
      case .rest: "… and \(taskCount) more tasks"
      }
    }
  }

  struct Edge: Equatable {
    /// The dependency.
    var from: Int
    /// The dependent.
    var to: Int
    var conditions: NeedConditions
  }

  let name: String
  /// In execution order, except for cycles by folding.
  let nodes: [Node]
  /// Grouped by dependent, in node order.
  let edges: [Edge]
  /// A node's dependencies: `edges[needOffsets[n]..<needOffsets[n + 1]]`.
  let needOffsets: [Int]
  /// The number of tasks before folding; `needCount` is the same for dependencies.
  let taskCount: Int
  let needCount: Int
  /// Empty if nothing is folded.
  let folding: String
  /// Nil for a manifest.
  let run: (id: String, state: RunState)?

  func needs(_ node: Int) -> ArraySlice<Edge> {
    edges[needOffsets[node]..<needOffsets[node + 1]]
  }

  /// A note for the user; nil if nothing is folded.
  package var foldingNote: String? {
    if folding.isEmpty { return nil }
    return "\(sizeText) are too much for a picture: folded are \(folding); -v folds nothing"
  }

  var sizeText: String {
    let tasks = taskCount == 1 ? "1 task" : "\(taskCount) tasks"
    let needs = needCount == 1 ? "1 need" : "\(needCount) needs"
    return "\(tasks), \(needs)"
  }
}

/// The conditions of the dependencies that an edge stands for.
struct NeedConditions: OptionSet {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }
  init(_ condition: NeedCondition) { rawValue = 1 << condition.rawValue }

  /// Empty for the default condition.
  var text: String {
    let words = NeedCondition.allCases.filter { contains(NeedConditions($0)) }
    if words == [.success] { return "" }
    return words.map { "\($0)" }.joined(separator: ", ")
  }
}
