/// Tasks and needs as a picture shows them: a node for each task, or for several that are folded into one.
package struct DrawnGraph {
  /// What a node stands for.
  enum Kind: Equatable {
    case task(ActionKind)
    /// Legs of one task with a `matrix`.
    case family
    /// Tasks of one included file, or whose ids begin alike up to a `/`.
    case group
    /// What has no place of its own any more.
    case rest
  }

  struct Node {
    /// Clean, and never empty.
    var name: String
    var kind: Kind
    /// How many tasks it stands for.
    var taskCount = 0
    /// Where they stand, in a run; nil for those of a manifest.
    var counts: TaskCounts?
    var isFinally = false
    var isManual = false

    /// With the number of tasks where there are several.
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
    /// What is needed.
    var from: Int
    /// What needs it.
    var to: Int
    var conditions: NeedConditions
  }

  /// Of the manifest.
  let name: String
  /// In an order in which they may run, as far as folding leaves one.
  let nodes: [Node]
  /// Those of a node stand together, in the order of the nodes that need.
  let edges: [Edge]
  /// The edges of a node as that which needs: `edges[needOffsets[n]..<needOffsets[n + 1]]`.
  let needOffsets: [Int]
  /// Tasks that are drawn, and needs between them, before anything was folded.
  let taskCount: Int
  let needCount: Int
  /// What is folded, in words; empty where each task has a node.
  let folding: String
  /// Where the run stands; nil for a manifest.
  let run: (id: String, state: RunState)?

  func needs(_ node: Int) -> ArraySlice<Edge> {
    edges[needOffsets[node]..<needOffsets[node + 1]]
  }

  /// What to say of the folding beside a picture; nil where there is none.
  package var foldingNote: String? {
    if folding.isEmpty { return nil }
    return "\(sizeText) are too much for a picture: folded are \(folding); -v folds nothing"
  }

  /// `12 tasks, 15 needs`
  var sizeText: String {
    let tasks = taskCount == 1 ? "1 task" : "\(taskCount) tasks"
    let needs = needCount == 1 ? "1 need" : "\(needCount) needs"
    return "\(tasks), \(needs)"
  }
}

/// The conditions of the needs that an edge stands for.
struct NeedConditions: OptionSet {
  let rawValue: UInt8

  init(rawValue: UInt8) { self.rawValue = rawValue }
  init(_ condition: NeedCondition) { rawValue = 1 << condition.rawValue }

  /// Nothing where all are what a need is without a word.
  var text: String {
    let words = NeedCondition.allCases.filter { contains(NeedConditions($0)) }
    if words == [.success] { return "" }
    return words.map { "\($0)" }.joined(separator: ", ")
  }
}
