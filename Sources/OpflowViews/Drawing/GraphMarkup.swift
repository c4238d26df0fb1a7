package import OpflowJournal
package import OpflowPlan

/// The DOT language (graphviz.org/doc/info/lang.html), with dependencies on the left.
package enum GraphDot {
  package static func text(_ graph: DrawnGraph) -> [UInt8] {
    var text = TextBuffer()
    let name = GraphLabel.dot(graph.name)
    // Names do not contain line feeds.
    text.add("// \(name): \(graph.sizeText)\n")
    if !graph.folding.isEmpty { text.add("// collapsed: \(graph.folding); -v shows everything\n") }
    text.add("digraph \"\(name)\" {\n  rankdir=LR;\n")
    var label = name
    if let run = graph.run { label += "\\nrun \(GraphLabel.dot(run.id)): \(run.state.rawValue)" }
    if !graph.folding.isEmpty { label += "\\ncollapsed: \(graph.folding)" }
    text.add("  label=\"\(label)\"; labelloc=t; fontname=\"sans-serif\";\n")
    text.add("  node [shape=box, style=\"rounded,filled\", fillcolor=\"#ffffff\", ")
    text.add("fontname=\"sans-serif\"];\n  edge [fontname=\"sans-serif\", fontsize=10];\n")
    for (number, node) in graph.nodes.enumerated() { add(node, number, to: &text) }
    for edge in graph.edges {
      text.add("  t\(edge.from) -> t\(edge.to)")
      let condition = edge.conditions.text
      if !condition.isEmpty { text.add(" [label=\"\(condition)\", style=dashed]") }
      text.add(";\n")
    }
    text.add("}\n")
    return text.take()
  }

  private static func add(_ node: DrawnGraph.Node, _ number: Int, to text: inout TextBuffer) {
    let label = node.label(GraphLabel.dot, lineBreak: "\\n")
    var attributes: [String] = []
    if let shade = node.status?.shade {
      attributes.append("fillcolor=\"\(shade.look.fill)\", color=\"\(shade.look.frame)\"")
      switch shade {
      case .good, .odd: break
      case .bad: attributes.append("penwidth=3, peripheries=2")
      case .live: attributes.append("penwidth=3")
      case .waits: attributes.append("style=\"rounded,filled,dashed\"")
      case .skipped: attributes.append("style=\"rounded,filled,dotted\"")
      }
    }
    switch node.kind {
    case .task(.download): attributes.append("shape=cylinder")
    case .task(.approve): attributes.append("shape=hexagon")
    case .matrixGroup, .group, .rest: attributes.append("shape=folder")
    case .task: break
    }
    if GraphLabel.shortened(node.name) != node.name {
      attributes.append("tooltip=\"\(GraphLabel.dot(node.name))\"")
    }
    let rest = attributes.map { ", \($0)" }.joined()
    text.add("  t\(number) [label=\"\(label)\"\(rest)];\n")
  }
}

/// A Mermaid flowchart, rendered by GitHub, GitLab and others from a `mermaid` code block.
///
/// Nodes are `t0`, `t1`…: Mermaid reserves words such as `end`, and reads `o` and `x` after a line
/// as arrow heads.
package enum GraphMermaid {
  /// Mermaid fails on longer text.
  static let mostBytes = 50_000

  /// `isWhole` does not fold, even for Mermaid's limits.
  package static func text(
    _ plan: Plan, included: TaskSet, status: RunStatus?, isWhole: Bool
  ) -> (graph: DrawnGraph, bytes: [UInt8]) {
    var limits = isWhole ? GraphFolding.Limits.none : .mermaid
    while true {
      let graph = GraphFolding.graph(plan, included: included, status: status, limits: limits)
      let bytes = text(graph)
      if isWhole || bytes.count <= mostBytes || graph.nodes.count < 2 { return (graph, bytes) }
      limits.nodes = graph.nodes.count * 3 / 4
    }
  }

  static func text(_ graph: DrawnGraph) -> [UInt8] {
    var text = TextBuffer()
    text.add("flowchart LR\n")
    text.add("%% \(GraphLabel.mermaid(graph.name)) - \(graph.sizeText)\n")
    if !graph.folding.isEmpty { text.add("%% collapsed - \(graph.folding), -v shows everything\n") }
    for (number, node) in graph.nodes.enumerated() { add(node, number, to: &text) }
    for edge in graph.edges {
      let condition = edge.conditions.text
      let arrow = condition.isEmpty ? "-->" : "-. \"\(condition)\" .->"
      text.add("t\(edge.from) \(arrow) t\(edge.to)\n")
    }
    let used = Set(graph.nodes.compactMap { $0.status?.shade })
    for shade in GraphShade.allCases where used.contains(shade) {
      let (_, _, _, fill, frame) = shade.look
      let style = "fill:\(fill),stroke:\(frame),color:#000\(frameStyle(shade))"
      text.add("classDef \(shade.rawValue) \(style)\n")
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
    let label = node.label(GraphLabel.mermaid, lineBreak: "<br>")
    let (open, close) =
      switch node.kind {
      case .task(.download): ("[(", ")]")
      case .task(.approve): ("{{", "}}")
      case .task: ("(", ")")
      case .matrixGroup, .group, .rest: ("[[", "]]")
      }
    text.add("t\(number)\(open)\"\(label)\"\(close)")
    if let status = node.status { text.add(":::\(status.shade.rawValue)") }
    text.endLine()
  }
}
