struct PlanEdges {
  /// Task `t` depends on `needTargets[needOffsets[t]..<needOffsets[t + 1]]`.
  let needOffsets: Column<UInt32>
  let needTargets: Column<Int32>
  let needConditions: Column<UInt8>
  let dependentOffsets: Column<UInt32>
  let dependentTargets: Column<Int32>
  let dependentConditions: Column<UInt8>
  let order: Column<Int32>
  /// Chains of dependents from later segments.
  let outerEdges: Column<OuterEdge>
  /// Per task: its first link, from 1. Empty without chains.
  let firstOuterEdge: Column<UInt32>

  init(_ sections: PlanSections) throws(PlanError) {
    needOffsets = try sections.column(.needOffsets, count: sections.taskCount + 1)
    needTargets = try sections.column(.needTargets, rows: needOffsets)
    needConditions = try sections.column(.needConditions, count: needTargets.count)
    dependentOffsets = try sections.column(.dependentOffsets, count: sections.taskCount + 1)
    dependentTargets = try sections.column(.dependentTargets, rows: dependentOffsets)
    dependentConditions = try sections.column(.dependentConditions, count: dependentTargets.count)
    order = try sections.column(.topologicalOrder, count: sections.taskCount)
    outerEdges = try sections.column(.outerEdges) { $0.dependent }
    firstOuterEdge = try sections.column(
      .firstOuterEdge, count: sections.hasRoom ? sections.taskCount : 0)
  }

  init(
    needOffsets: Column<UInt32>, needTargets: Column<Int32>, needConditions: Column<UInt8>,
    dependentOffsets: Column<UInt32>, dependentTargets: Column<Int32>,
    dependentConditions: Column<UInt8>, order: Column<Int32>
  ) {
    self.needOffsets = needOffsets
    self.needTargets = needTargets
    self.needConditions = needConditions
    self.dependentOffsets = dependentOffsets
    self.dependentTargets = dependentTargets
    self.dependentConditions = dependentConditions
    self.order = order
    outerEdges = Column()
    firstOuterEdge = Column()
  }

  @inline(__always)
  func needs(_ task: TaskID) -> Range<Int> {
    Int(needOffsets[task.index])..<Int(needOffsets[task.index + 1])
  }

  @inline(__always)
  func dependents(_ task: TaskID) -> DependentEdges {
    let row = Int(dependentOffsets[task.index])..<Int(dependentOffsets[task.index + 1])
    return DependentEdges(row: row, outer: firstLink(of: task), chain: outerEdges)
  }

  package func dependents(_ task: TaskID, from edge: Int) -> DependentEdges {
    let end = Int(dependentOffsets[task.index + 1])
    if edge < DependentEdges.firstOuter {
      return DependentEdges(row: edge..<end, outer: firstLink(of: task), chain: outerEdges)
    }
    let outer = UInt32(truncatingIfNeeded: edge - DependentEdges.firstOuter + 1)
    return DependentEdges(row: end..<end, outer: outer, chain: outerEdges)
  }

  @inline(__always)
  private func firstLink(of task: TaskID) -> UInt32 {
    firstOuterEdge.isEmpty ? 0 : firstOuterEdge[task.index]
  }

  /// The dependency of each link.
  var outerTargets: [TaskID] {
    var targets = [TaskID](repeating: .none, count: outerEdges.count)
    if outerEdges.isEmpty { return targets }
    for index in 0..<(dependentOffsets.count - 1) {
      for edge in dependents(TaskID(index)) where edge >= DependentEdges.firstOuter {
        targets[edge - DependentEdges.firstOuter] = TaskID(index)
      }
    }
    return targets
  }
}

/// Iterative: a chain of a million tasks does not overflow the stack.
package enum Graph {
  package enum Ordering: Equatable, Sendable {
    case topological([Int32])
    case cycle([Int32])
  }

  /// Kahn's algorithm over compressed sparse rows: task `t` depends on the targets from
  /// `offsets[t]` up to `offsets[t + 1]`; dependents likewise.
  package static func order(
    needOffsets: [UInt32], needTargets: [Int32],
    dependentOffsets: [UInt32], dependentTargets: [Int32]
  ) -> Ordering {
    let count = needOffsets.count - 1
    var missing = [UInt32](repeating: 0, count: count)
    var order: [Int32] = []
    order.reserveCapacity(count)
    for task in 0..<count {
      missing[task] = needOffsets[task + 1] - needOffsets[task]
      if missing[task] == 0 { order.append(Int32(truncatingIfNeeded: task)) }
    }
    var next = 0
    while next < order.count {
      let task = Int(order[next])
      next += 1
      for edge in Int(dependentOffsets[task])..<Int(dependentOffsets[task + 1]) {
        let dependent = Int(dependentTargets[edge])
        missing[dependent] -= 1
        if missing[dependent] == 0 { order.append(dependentTargets[edge]) }
      }
    }
    if order.count == count { return .topological(order) }
    return .cycle(cycle(among: missing, needOffsets: needOffsets, needTargets: needTargets))
  }

  /// Each remaining task has a remaining dependency, which leads into a cycle.
  private static func cycle(
    among missing: [UInt32], needOffsets: [UInt32], needTargets: [Int32]
  ) -> [Int32] {
    guard var task = missing.firstIndex(where: { $0 > 0 }) else { return [] }
    var position = [Int32](repeating: -1, count: missing.count)
    var path: [Int32] = []
    while position[task] < 0 {
      position[task] = Int32(truncatingIfNeeded: path.count)
      path.append(Int32(truncatingIfNeeded: task))
      let needs = needTargets[Int(needOffsets[task])..<Int(needOffsets[task + 1])]
      guard let blocked = needs.first(where: { missing[Int($0)] > 0 }) else { return path }
      task = Int(blocked)
    }
    return Array(path[Int(position[task])...])
  }

  /// Rows keep the sources' order; `edges` holds the original index of each edge.
  package static func reversed(
    offsets: [UInt32], targets: [Int32]
  ) -> (offsets: [UInt32], sources: [Int32], edges: [UInt32]) {
    let count = offsets.count - 1
    var reversedOffsets = [UInt32](repeating: 0, count: count + 1)
    for target in targets { reversedOffsets[Int(target) + 1] += 1 }
    for task in 0..<count { reversedOffsets[task + 1] += reversedOffsets[task] }
    var cursor = reversedOffsets
    var sources = [Int32](repeating: 0, count: targets.count)
    var edges = [UInt32](repeating: 0, count: targets.count)
    for task in 0..<count {
      for edge in Int(offsets[task])..<Int(offsets[task + 1]) {
        let target = Int(targets[edge])
        let place = Int(cursor[target])
        cursor[target] += 1
        sources[place] = Int32(truncatingIfNeeded: task)
        edges[place] = UInt32(truncatingIfNeeded: edge)
      }
    }
    return (reversedOffsets, sources, edges)
  }
}

package struct OuterNeed: Hashable, Sendable, BitwiseCopyable {
  package var task: Int32
  var condition: UInt32
  package var name: TextRef

  package init(task: TaskID, name: TextRef, on condition: NeedCondition) {
    self.task = task.rawValue
    self.condition = UInt32(condition.rawValue)
    self.name = name
  }
}

/// A link in a task's chain of dependents from later segments.
package struct OuterEdge: Hashable, Sendable, BitwiseCopyable {
  var dependent: Int32
  var condition: UInt32
  /// The next link, from 1; 0 until it is added.
  var next: UInt32 = 0

  static let placeOfNext = 8
}

/// First the dependents in the task's own segment, then those in later segments.
package struct DependentEdges: Sequence, IteratorProtocol {
  /// Edges from here on are links.
  static let firstOuter = 1 << 40

  private var row: Range<Int>
  private var outer: UInt32
  private let chain: Column<OuterEdge>

  /// `outer` is from 1; ignored beyond the chain's end.
  @inline(__always)
  init(row: Range<Int>, outer: UInt32, chain: Column<OuterEdge>) {
    self.row = row
    self.outer = outer
    self.chain = chain
  }

  @inline(__always)
  package mutating func next() -> Int? {
    if let edge = row.first {
      row = (edge + 1)..<row.upperBound
      return edge
    }
    return outer == 0 ? nil : nextOuter()
  }

  private mutating func nextOuter() -> Int? {
    let index = Int(outer) - 1
    guard index < chain.count else { return nil }
    // Links must increase, so that a damaged chain cannot loop.
    let next = chain[index].next
    outer = next > outer ? next : 0
    return Self.firstOuter + index
  }

  package var isEmpty: Bool { row.isEmpty && (outer == 0 || Int(outer) > chain.count) }

  /// Visits at most `count + 1` edges.
  package func isLonger(than count: Int) -> Bool {
    if row.count > count { return true }
    return outer != 0 && dropFirst(count).contains { _ in true }
  }
}

extension Plan {
  @inline(__always)
  package func dependents(_ task: TaskID) -> DependentEdges { edges.dependents(task) }

  package func dependents(_ task: TaskID, from edge: Int) -> DependentEdges {
    edges.dependents(task, from: edge)
  }

  @inline(__always)
  package func dependent(_ edge: Int) -> TaskID {
    edge < DependentEdges.firstOuter
      ? TaskID(edges.dependentTargets[edge])
      : TaskID(edges.outerEdges[edge - DependentEdges.firstOuter].dependent)
  }

  @inline(__always)
  package func dependentCondition(_ edge: Int) -> NeedCondition {
    checked(
      NeedCondition(
        rawValue: edge < DependentEdges.firstOuter
          ? edges.dependentConditions[edge]
          : UInt8(truncatingIfNeeded: edges.outerEdges[edge - DependentEdges.firstOuter].condition))
    )
  }

  /// Numbered after the dependencies in the segment.
  func outerNeeds(_ task: TaskID) -> Column<OuterNeed> {
    let first = outerNeeds.partitioningIndex { $0.task >= task.rawValue }
    return outerNeeds[first..<outerNeeds.partitioningIndex { $0.task > task.rawValue }]
  }

  package func needName(_ number: Int, of task: TaskID) -> UnsafeRawBufferPointer {
    let own = needs(task)
    return number < own.count
      ? nameBytes(TaskID(needTargets[own.lowerBound + number]))
      : text(outerNeeds(task)[number - own.count].name)
  }
}
