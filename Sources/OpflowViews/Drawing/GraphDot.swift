internal import OpflowCore

/// The DOT language (graphviz.org/doc/info/lang.html), with dependencies on the left.
package enum GraphDot {
  package static func text(_ graph: DrawnGraph) -> [UInt8] {
    var text = TextBuffer()
    let name = GraphLabel.dot(graph.name)
    // Names do not contain line feeds.
    text.add("// \(name): \(graph.sizeText)\n")
    if !graph.folding.isEmpty { text.add("// folded: \(graph.folding); -v folds nothing\n") }
    text.add("digraph \"\(name)\" {\n  rankdir=LR;\n")
    var label = name
    if let run = graph.run { label += "\\nrun \(GraphLabel.dot(run.id)): \(run.state.rawValue)" }
    if !graph.folding.isEmpty { label += "\\nfolded: \(graph.folding)" }
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
    var label = GraphLabel.dot(shortTitle(node))
    if !node.note.isEmpty { label += "\\n\(node.note)" }
    var attributes: [String] = []
    if let (shade, words) = node.status {
      label += "\\n\(words)"
      attributes.append("fillcolor=\"\(shade.colors.fill)\", color=\"\(shade.colors.frame)\"")
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
    case .family, .group, .rest: attributes.append("shape=folder")
    case .task: break
    }
    if GraphLabel.shortened(node.name) != node.name {
      attributes.append("tooltip=\"\(GraphLabel.dot(node.name))\"")
    }
    let rest = attributes.map { ", \($0)" }.joined()
    text.add("  t\(number) [label=\"\(label)\"\(rest)];\n")
  }

  private static func shortTitle(_ node: DrawnGraph.Node) -> String {
    var node = node
    node.name = GraphLabel.shortened(node.name)
    return node.title
  }
}
