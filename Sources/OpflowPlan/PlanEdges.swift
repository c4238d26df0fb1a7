/// The dependency graph in both directions, and a topological order.
struct PlanEdges {
  /// Task `t` needs `needTargets[needOffsets[t]..<needOffsets[t + 1]]`.
  let needOffsets: Column<UInt32>
  let needTargets: Column<Int32>
  let needConditions: Column<UInt8>
  let dependentOffsets: Column<UInt32>
  let dependentTargets: Column<Int32>
  let dependentConditions: Column<UInt8>
  let order: Column<Int32>
  /// Chains of dependents from later segments.
  let outerEdges: Column<OuterEdge>
  /// By task: its first link, from 1. Empty without chains.
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

  /// Without chains.
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

  /// By link: the task that is needed.
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
