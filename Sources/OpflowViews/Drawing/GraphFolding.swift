internal import OpflowBase
package import OpflowJournal
package import OpflowPlan

/// Makes nodes and edges from tasks. If there are too many, folds matrices, then included files,
/// then the least interesting nodes. Linear in tasks and dependencies.
package struct GraphFolding {
  package struct Limits {
    var nodes = Int.max
    var edges = Int.max
    /// Folds matrices even in a small graph.
    var foldsMatrixGroups = false
    /// Collects the excess in one node.
    var gathersRest = true

    package static let none = Limits()
    /// Takes Graphviz a second or two, and is readable.
    package static let dot = Limits(nodes: 400, edges: 800)
    /// Mermaid rejects more than 500 edges.
    static let mermaid = Limits(nodes: 300, edges: 500)
    /// The excess is omitted line by line.
    package static let text = Limits(
      nodes: 300, edges: 3000, foldsMatrixGroups: true, gathersRest: false)
  }

  private let plan: Plan
  private let included: TaskSet
  private let status: RunStatus?
  private let order: [TaskID]
  /// Per task its node; -1 if not drawn.
  private var owner: [Int32]
  private var nodes: [DrawnGraph.Node] = []
  private var edges: [DrawnGraph.Edge] = []

  private init(_ plan: Plan, _ included: TaskSet, _ status: RunStatus?) {
    self.plan = plan
    self.included = included
    self.status = status
    order = plan.topologicalOrder.lazy.map { TaskID($0) }.filter { included.contains($0) }
    owner = [Int32](repeating: -1, count: plan.taskCount)
  }

  package static func graph(
    _ plan: Plan, included: TaskSet, status: RunStatus? = nil, limits: Limits
  ) -> DrawnGraph {
    var folding = GraphFolding(plan, included, status)
    var words: [String] = []
    folding.fold(limits.foldsMatrixGroups ? .matrixGroups : .nothing)
    let needCount = folding.needCount
    if !folding.fits(limits), !limits.foldsMatrixGroups, !plan.matrixGroups.isEmpty {
      folding.fold(.matrixGroups)
    }
    for depth in [Depth.files, .folders] where !folding.fits(limits) { folding.fold(depth) }
    let kinds = folding.nodes.map(\.kind)
    if kinds.contains(.matrixGroup) { words.append("matrices") }
    if kinds.contains(.group) { words.append("tasks whose IDs have the same part before a `/`") }
    if !folding.fits(limits), limits.gathersRest {
      folding.gatherRest(limits)
      words.append("tasks beyond the size limit")
    }
    return folding.graph(needCount, words.joined(separator: ", "))
  }

  private func fits(_ limits: Limits) -> Bool {
    nodes.count <= limits.nodes && edges.count <= limits.edges
  }

  private var needCount: Int {
    order.reduce(0) { count, task in
      count
        + plan.needs(task).count { included.contains(TaskID(plan.needTargets[$0])) }
    }
  }

  // MARK: - Assigning tasks to nodes

  private enum Depth {
    case nothing, matrixGroups
    /// Tasks with the same ID up to the last `/`.
    case files
    /// Up to the first `/`.
    case folders
  }

  private mutating func fold(_ depth: Depth) {
    nodes = []
    var groups: [String: Int32] = [:]
    var matrixGroups = [Int32](repeating: -1, count: plan.matrixGroups.count)
    for task in order {
      let matrixGroup = depth == .nothing ? nil : plan.matrixGroup(of: task)
      let name = matrixGroup.map { plan.matrixGroupName($0) } ?? plan.nameString(task)
      let number: Int32
      if let group = Self.group(name, depth) {
        number = groups[group] ?? addNode(group, .group)
        groups[group] = number
      } else if let matrixGroup {
        if matrixGroups[matrixGroup.index] < 0 {
          matrixGroups[matrixGroup.index] = addNode(name, .matrixGroup)
        }
        number = matrixGroups[matrixGroup.index]
      } else {
        number = addNode(name, .task(plan.kind(task)))
      }
      add(task, to: number)
    }
    for task in order where nodes[Int(owner[task.index])].taskCount == 1 {
      let number = Int(owner[task.index])
      nodes[number].name = CleanText.string(plan.nameString(task))
      nodes[number].kind = .task(plan.kind(task))
    }
    connect()
  }

  private static func group(_ name: String, _ depth: Depth) -> String? {
    let slash: String.Index?
    switch depth {
    case .nothing, .matrixGroups: slash = nil
    case .files: slash = name.lastIndex(of: "/")
    case .folders: slash = name.firstIndex(of: "/")
    }
    return slash.map { String(name[..<$0]) }
  }

  private mutating func addNode(_ name: String, _ kind: DrawnGraph.Kind) -> Int32 {
    let clean = CleanText.string(name)
    nodes.append(DrawnGraph.Node(name: clean.isEmpty ? "?" : clean, kind: kind))
    return Int32(truncatingIfNeeded: nodes.count - 1)
  }

  private mutating func add(_ task: TaskID, to number: Int32) {
    owner[task.index] = number
    let flags = plan.flags(task)
    nodes[Int(number)].taskCount += 1
    if flags.contains(.finally) { nodes[Int(number)].isFinally = true }
    if flags.contains(.manual) { nodes[Int(number)].isManual = true }
    guard let status else { return }
    nodes[Int(number)].counts = nodes[Int(number)].counts ?? TaskCounts()
    nodes[Int(number)].counts?.add(status.state(task), asks: plan.kind(task) == .approve)
  }

  // MARK: - Edges

  private mutating func connect() {
    edges = []
    var known: [UInt64: Int] = [:]
    for task in order {
      let to = owner[task.index]
      for need in plan.needs(task) {
        let from = owner[Int(plan.needTargets[need])]
        guard from >= 0, from != to else { continue }
        let condition = NeedConditions(plan.needCondition(need))
        let key = UInt64(UInt32(bitPattern: from)) << 32 | UInt64(UInt32(bitPattern: to))
        if let edge = known[key] {
          edges[edge].conditions.formUnion(condition)
        } else {
          known[key] = edges.count
          edges.append(DrawnGraph.Edge(from: Int(from), to: Int(to), conditions: condition))
        }
      }
    }
  }

  // MARK: - Nodes without room

  /// Keeps the most interesting nodes and collects the others in one node, which has at most one
  /// edge to and from each kept node.
  private mutating func gatherRest(_ limits: Limits) {
    let ranked = nodes.indices.sorted { one, other in
      (Self.interest(nodes[one]), one) < (Self.interest(nodes[other]), other)
    }
    var ends = [[Int]](repeating: [], count: nodes.count)
    for edge in edges {
      ends[edge.from].append(edge.to)
      ends[edge.to].append(edge.from)
    }
    var isKept = [Bool](repeating: false, count: nodes.count)
    var (keptCount, edgeCount) = (0, 0)
    for node in ranked {
      edgeCount += ends[node].count { isKept[$0] }
      // One node is for the others.
      if keptCount + 2 > limits.nodes || edgeCount + 2 * (keptCount + 1) > limits.edges { break }
      isKept[node] = true
      keptCount += 1
    }
    let old = nodes
    nodes = []
    var numbers = [Int32](repeating: -1, count: old.count)
    for node in old.indices where isKept[node] {
      numbers[node] = Int32(truncatingIfNeeded: nodes.count)
      var copy = old[node]
      copy.taskCount = 0
      copy.counts = nil
      nodes.append(copy)
    }
    let rest = addNode("rest", .rest)
    for task in order {
      let number = numbers[Int(owner[task.index])]
      add(task, to: number < 0 ? rest : number)
    }
    connect()
  }

  /// A rank: lower is more interesting.
  private static func interest(_ node: DrawnGraph.Node) -> Int {
    guard let counts = node.counts else { return 0 }
    if counts.failed > 0 { return 0 }
    if counts.begun > 0 { return 1 }
    return counts.cancelled + counts.failedAllowed > 0 ? 2 : 3
  }

  // MARK: - The graph

  private func graph(_ needCount: Int, _ folding: String) -> DrawnGraph {
    var offsets = [Int](repeating: 0, count: nodes.count + 1)
    for edge in edges { offsets[edge.to + 1] += 1 }
    for node in nodes.indices { offsets[node + 1] += offsets[node] }
    var places = offsets
    var sorted = edges
    for edge in edges {
      sorted[places[edge.to]] = edge
      places[edge.to] += 1
    }
    return DrawnGraph(
      name: CleanText.string(plan.string(plan.manifest.name)), nodes: nodes, edges: sorted,
      needOffsets: offsets, taskCount: order.count, needCount: needCount, folding: folding,
      run: status.map { ($0.run, $0.state) })
  }
}
