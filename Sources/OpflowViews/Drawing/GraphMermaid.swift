package import OpflowCore

/// A Mermaid flowchart, rendered by GitHub, GitLab and others from a `mermaid` code block.
///
/// Nodes are `t0`, `t1`…: Mermaid reserves words such as `end`, and reads `o` and `x` after a line
/// as arrow heads.
package enum GraphMermaid {
  /// Mermaid fails on longer texts.
  static let mostBytes = 50_000

  /// - Parameters:
  ///   - included: the tasks to draw.
  ///   - isWhole: do not fold, even for Mermaid's limits.
  package static func text(
    _ plan: Plan, included: TaskSet, status: RunStatus?, isWhole: Bool
  ) -> (graph: DrawnGraph, bytes: [UInt8]) {
    var limits = isWhole ? GraphFolding.Limits.none : .mermaid
    while true {
      let graph = GraphFolding.graph(plan, included: included, status: status, limits: limits)
      let bytes = text(graph)
      if isWhole || bytes.count <= mostBytes || graph.nodes.count < 2 { return (graph, bytes) }
      // The names are long.
      limits.nodes = graph.nodes.count * 3 / 4
    }
  }

  static func text(_ graph: DrawnGraph) -> [UInt8] {
    var text = TextBuffer()
    text.add("flowchart LR\n")
    text.add("%% \(GraphLabel.mermaid(graph.name)) - \(graph.sizeText)\n")
    if !graph.folding.isEmpty { text.add("%% folded - \(graph.folding), -v folds nothing\n") }
    for (number, node) in graph.nodes.enumerated() { add(node, number, to: &text) }
    for edge in graph.edges {
      let condition = edge.conditions.text
      let arrow = condition.isEmpty ? "-->" : "-. \"\(condition)\" .->"
      text.add("t\(edge.from) \(arrow) t\(edge.to)\n")
    }
    let used = Set(graph.nodes.compactMap { $0.status?.shade })
    for shade in GraphShade.allCases where used.contains(shade) {
      let (fill, frame) = shade.colors
      text.add(
        "classDef \(shade.rawValue) fill:\(fill),stroke:\(frame),color:#000\(frameStyle(shade))\n")
    }
    return text.take()
  }

  private static func frameStyle(_ shade: GraphShade) -> String {
    switch shade {
    case .good, .odd: ""
    case .bad: ",stroke-width:5px"
    case .live: ",stroke-width:3px"
    case .waits: ",stroke-dasharray:6 4"
    case .skipped: ",stroke-dasharray:2 3"
    }
  }

  private static func add(_ node: DrawnGraph.Node, _ number: Int, to text: inout TextBuffer) {
    var short = node
    short.name = GraphLabel.shortened(node.name)
    var label = GraphLabel.mermaid(short.title)
    if !node.note.isEmpty { label += "<br>\(node.note)" }
    let status = node.status
    if let status { label += "<br>\(status.words)" }
    let (open, close) =
      switch node.kind {
      case .task(.download): ("[(", ")]")
      case .task(.approve): ("{{", "}}")
      case .task: ("(", ")")
      case .family, .group, .rest: ("[[", "]]")
      }
    text.add("t\(number)\(open)\"\(label)\"\(close)")
    if let status { text.add(":::\(status.shade.rawValue)") }
    text.endLine()
  }
}
