/// The needs of a plan's tasks, seen from both ends, and an order of the tasks that heeds them.
struct PlanEdges {
  /// The needs of task `t` are `needTargets[needOffsets[t]..<needOffsets[t + 1]]`.
  let needOffsets: Column<UInt32>
  let needTargets: Column<Int32>
  let needConditions: Column<UInt8>
  let dependentOffsets: Column<UInt32>
  let dependentTargets: Column<Int32>
  let dependentConditions: Column<UInt8>
  /// Every task after all that it needs.
  let order: Column<Int32>
  /// Needs for tasks of earlier segments, in chains.
  let outerEdges: Column<OuterEdge>
  /// By task: the first link of its chain, counted from 1; empty where there are no chains.
  let firstOuterEdge: Column<UInt32>

  /// As a plan's file has them.
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

  /// The needs for a task.
  @inline(__always)
  func dependents(_ task: TaskID) -> DependentEdges {
    let row = Int(dependentOffsets[task.index])..<Int(dependentOffsets[task.index + 1])
    return DependentEdges(row: row, outer: firstLink(of: task), chain: outerEdges)
  }

  /// The same from one of them on.
  func dependents(_ task: TaskID, from edge: Int) -> DependentEdges {
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

  /// By link of the chains: the task that is needed.
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
