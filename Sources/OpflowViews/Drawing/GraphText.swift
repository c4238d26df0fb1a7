internal import OpflowPlan

/// A graph as text, each node once, below its dependencies.
///
/// A node with one dependency follows it: after an arrow, or as a branch next to others. A node
/// with several dependencies starts a block, which names them. Nodes without dependents share a
/// line if their dependencies are equal.
package struct GraphText {
  private let graph: DrawnGraph
  private let palette: Palette
  private let showsAll: Bool
  /// nil without a terminal: names stay whole.
  private let columns: Int?
  /// Per node: dependents without another dependency.
  private let children: [[Int]]
  private var text = TextBuffer()
  private var lineCount = 0
  private var shownTasks = 0
  /// Too deep for a branch.
  private var postponed: [Int] = []

  /// The width without a terminal.
  private static let usualColumns = 100
  private static let mostLines = 200
  private static let mostNames = 12

  package init(_ graph: DrawnGraph, showsAll: Bool, color: Bool, columns: Int?) {
    self.graph = graph
    self.showsAll = showsAll
    self.columns = columns
    palette = Palette(isOn: color)
    var children = [[Int]](repeating: [], count: graph.nodes.count)
    for node in graph.nodes.indices {
      let needs = graph.needs(node)
      // Folding may have made cycles.
      if needs.count == 1, let need = needs.first, need.from < node {
        children[need.from].append(node)
      }
    }
    self.children = children
  }

  package mutating func write() -> [UInt8] {
    writeHeading()
    var blocks: [[Int]] = []
    var places: [[Int]: Int] = [:]
    for node in graph.nodes.indices where !isChild(node) {
      if children[node].isEmpty {
        // Equal dependencies share a block.
        let key = graph.needs(node).flatMap { [$0.from, Int($0.conditions.rawValue)] }
        if let place = places[key] {
          blocks[place].append(node)
          continue
        }
        places[key] = blocks.count
      }
      blocks.append([node])
    }
    for block in blocks where hasRoom {
      if let only = block.first, block.count == 1 { writeTree(only) } else { writeList(block) }
    }
    let left = graph.taskCount - shownTasks
    if left > 0 {
      let tasks = left == 1 ? "1 more task" : "\(left) more tasks"
      text.add(palette.dim("… and \(tasks) (-v shows all)") + "\n")
    }
    writeLegend()
    return text.take()
  }

  private var hasRoom: Bool { showsAll || lineCount < Self.mostLines }
  private var width: Int { max(columns ?? Self.usualColumns, 20) }

  private func isChild(_ node: Int) -> Bool {
    let needs = graph.needs(node)
    guard needs.count == 1, let need = needs.first else { return false }
    return need.from < node
  }

  private mutating func writeHeading() {
    text.add(palette.bold(graph.name) + ": \(graph.sizeText)")
    if let run = graph.run { text.add("; run \(run.id) \(palette.painted(run.state.rawValue))") }
    text.endLine()
    if !graph.folding.isEmpty {
      text.add(palette.dim("collapsed: \(graph.folding); -v shows everything") + "\n")
    }
    text.endLine()
  }

  private mutating func writeLegend() {
    let used = Set(graph.nodes.compactMap { $0.status?.shade })
    if used.isEmpty { return }
    text.endLine()
    let entries = GraphShade.allCases.filter(used.contains).map { shade in
      var line = StyledLine(shade.look.sign, shade.look.style)
      line.add(" \(shade.look.meaning)")
      return Item("", line)
    }
    write(entries.enumerated().map { $0 == 0 ? $1 : Item("  ", $1.line) }, first: "", others: "")
  }

  // MARK: - Blocks

  private struct Branch {
    let nodes: [Int]
    let first: String
    let others: String
    let depth: Int
  }

  private mutating func writeTree(_ root: Int) {
    postponed = [root]
    var next = 0
    while next < postponed.count, hasRoom {
      writeBranches(Branch(nodes: [postponed[next]], first: "", others: "", depth: 0))
      next += 1
    }
  }

  private mutating func writeBranches(_ root: Branch) {
    var open = [root]
    while let branch = open.popLast(), hasRoom {
      guard let first = branch.nodes.first, branch.nodes.count == 1 else {
        writeNames(branch.nodes, after: [], first: branch.first, others: branch.others)
        continue
      }
      var chain = [first]
      var last = first
      while let only = children[last].first, children[last].count == 1 {
        chain.append(only)
        last = only
      }
      let isRoot = branch.depth == 0
      write(chainItems(chain, isRoot: isRoot), first: branch.first, others: branch.others + "  ")
      open += branches(of: last, branch).reversed()
    }
  }

  /// Names at the start and end of a longer chain.
  private static let mostOfChain = (first: 30, last: 5)

  /// `a  after x, y → b → c`.
  private mutating func chainItems(_ chain: [Int], isRoot: Bool) -> [Item] {
    var items: [Item] = []
    var left = 0
    for (place, node) in chain.enumerated() {
      shownTasks += graph.nodes[node].taskCount
      let isShown =
        showsAll || place < Self.mostOfChain.first || place >= chain.count - Self.mostOfChain.last
        || isInteresting(node) && items.count < 2 * Self.mostOfChain.first
      if !isShown {
        left += graph.nodes[node].taskCount
        continue
      }
      if left > 0 { items.append(Item(" → ", StyledLine("… \(left) more", .dim))) }
      left = 0
      items.append(Item(place == 0 ? "" : " → ", label(node, asChild: place > 0 || !isRoot)))
      if place == 0, isRoot { items += afterItems(graph.needs(node)) }
    }
    return items
  }

  /// Deeper branches start a block.
  private var mostDepth: Int { max(3, min(12, width / 8)) }

  private mutating func branches(of node: Int, _ parent: Branch) -> [Branch] {
    let all = children[node]
    let leaves = all.filter { children[$0].isEmpty }
    var groups = all.filter { !children[$0].isEmpty }.map { [$0] }
    if parent.depth + 1 >= mostDepth {
      postponed += groups.joined()
      groups = []
    }
    if leaves.count > 2 { groups.append(leaves) } else { groups += leaves.map { [$0] } }
    return groups.enumerated().map { index, nodes in
      let isLast = index == groups.count - 1
      return Branch(
        nodes: nodes, first: parent.others + (isLast ? "└─ " : "├─ "),
        others: parent.others + (isLast ? "   " : "│  "), depth: parent.depth + 1)
    }
  }

  /// Nodes with equal dependencies, without dependents. Indentation would mean a dependent.
  private mutating func writeList(_ nodes: [Int]) {
    guard let first = nodes.first else { return }
    writeNames(nodes, after: afterItems(graph.needs(first)), first: "", others: "")
  }

  private mutating func writeNames(_ nodes: [Int], after: [Item], first: String, others: String) {
    let most = showsAll ? nodes.count : max(Self.mostNames, interesting(nodes))
    var items: [Item] = []
    // Do not omit failures.
    let shown = nodes.count <= most ? nodes : Array(ranked(nodes).prefix(most))
    for node in shown {
      items.append(Item(items.isEmpty ? "" : ", ", label(node, asChild: after.isEmpty)))
      shownTasks += graph.nodes[node].taskCount
    }
    if shown.count < nodes.count {
      let rest = Set(nodes).subtracting(shown).reduce(0) { $0 + graph.nodes[$1].taskCount }
      shownTasks += rest
      items.append(Item(" ", StyledLine("… and \(rest) more", .dim)))
    }
    write(items + after, first: first, others: others)
  }

  private func interesting(_ nodes: [Int]) -> Int {
    min(50, nodes.count { isInteresting($0) })
  }

  private func isInteresting(_ node: Int) -> Bool {
    switch graph.nodes[node].status?.shade {
    case .bad, .live, .odd: true
    case .good, .waits, .skipped, nil: false
    }
  }

  private func ranked(_ nodes: [Int]) -> [Int] {
    nodes.filter(isInteresting) + nodes.filter { !isInteresting($0) }
  }

  /// `after a, b (failure)`; may be empty.
  private func afterItems(_ needs: ArraySlice<DrawnGraph.Edge>) -> [Item] {
    guard !needs.isEmpty else { return [] }
    let most = showsAll || needs.count <= Self.mostNames ? needs.count : Self.mostNames / 2
    var items: [Item] = []
    for (index, edge) in needs.prefix(most).enumerated() {
      var line = StyledLine()
      if index == 0 { line.add("after ", .dim) }
      line.add(shortName(graph.nodes[edge.from]))
      let condition = edge.conditions.text
      if !condition.isEmpty { line.add(" (on \(condition))", .dim) }
      items.append(Item(index == 0 ? "  " : ", ", line))
    }
    if needs.count > most {
      items.append(Item(" ", StyledLine("… and \(needs.count - most) more", .dim)))
    }
    return items
  }

  // MARK: - Lines

  /// Omitted at the start of a line.
  private struct Item {
    let separator: String
    let line: StyledLine

    init(_ separator: String, _ line: StyledLine) {
      self.separator = separator
      self.line = line
    }
  }

  private func shortName(_ node: DrawnGraph.Node) -> String {
    let name = TextWidth.expandingTabs(node.name) + (node.kind == .group ? "/" : "")
    return columns == nil ? name : TextWidth.cutMiddle(name, to: max(8, width / 2))
  }

  /// `asChild`: the position shows the dependency, not the condition.
  private func label(_ number: Int, asChild: Bool = false) -> StyledLine {
    let node = graph.nodes[number]
    var line = StyledLine()
    let status = node.status
    if let status { line.add("\(status.shade.look.sign) ", status.shade.look.style) }
    line.add(shortName(node))
    var notes: [String] = []
    switch node.kind {
    case .task: break
    case .matrixGroup, .group, .rest: notes.append("\(node.taskCount) tasks")
    }
    if !node.note.isEmpty { notes.append(node.note) }
    if let status, node.taskCount > 1 { notes.append(status.words) }
    if asChild, let edge = graph.needs(number).first {
      let condition = edge.conditions.text
      if !condition.isEmpty { notes.append("on \(condition)") }
    }
    if !notes.isEmpty { line.add(" (\(notes.joined(separator: "; ")))", .dim) }
    return line
  }

  private mutating func write(_ items: [Item], first: String, others: String) {
    var isFirst = true
    var used = 0
    for item in items {
      let separatorWidth = TextWidth.of(item.separator)
      let isNew = !isFirst && used + separatorWidth + item.line.width > width
      if isFirst {
        text.add(palette.dim(first))
        used = TextWidth.of(first)
      } else if isNew {
        // A comma ends a line; an arrow starts one.
        if item.separator.hasPrefix(",") { text.add(",") }
        endLine()
        text.add(palette.dim(others))
        used = TextWidth.of(others)
        let arrow = item.separator.hasPrefix(" →") ? "→ " : ""
        text.add(palette.dim(arrow))
        used += TextWidth.of(arrow)
      } else {
        text.add(palette.dim(item.separator))
        used += separatorWidth
      }
      isFirst = false
      let line = columns == nil ? item.line : item.line.cut(to: max(8, width - used))
      text.add(line.text(palette))
      used += item.line.width
    }
    endLine()
  }

  private mutating func endLine() {
    text.endLine()
    lineCount += 1
  }
}
