internal import OpflowBase

package struct MatrixGroupEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var firstTask: Int32
  package var instanceCount: Int32
  /// Never the empty list.
  package var axes: ListIndex
  /// One value per axis, matrix task by matrix task.
  package var firstValue: UInt32

  package init(
    name: TextRef, firstTask: Int32, instanceCount: Int32, axes: ListIndex, firstValue: UInt32
  ) {
    self.name = name
    self.firstTask = firstTask
    self.instanceCount = instanceCount
    self.axes = axes
    self.firstValue = firstValue
  }
}

package struct GlobEntry: Hashable, Sendable, BitwiseCopyable {
  package var pattern: TextRef
  package var folder: TextRef
}

package struct MatrixGroupID: Hashable, Sendable, Comparable {
  package let index: Int
  package init(_ index: Int) { self.index = index }
  package static func < (a: MatrixGroupID, b: MatrixGroupID) -> Bool { a.index < b.index }
}

extension Plan {
  package func matrixGroupName(_ matrixGroup: MatrixGroupID) -> String {
    string(matrixGroups[matrixGroup.index].name)
  }

  package static let emptyMatrixText = "its matrix is empty"

  package func instances(_ matrixGroup: MatrixGroupID) -> Range<Int> {
    let entry = matrixGroups[matrixGroup.index]
    return Int(entry.firstTask)..<(Int(entry.firstTask) + Int(entry.instanceCount))
  }

  package func matrixGroup(of task: TaskID) -> MatrixGroupID? {
    let next = matrixGroups.partitioningIndex { $0.firstTask > task.rawValue }
    guard next > 0, instances(MatrixGroupID(next - 1)).contains(task.index) else { return nil }
    return MatrixGroupID(next - 1)
  }

  package func matrixGroup(named name: UnsafeRawBufferPointer) -> MatrixGroupID? {
    matrixGroups.firstIndex { text($0.name).equals(name) }.map { MatrixGroupID($0) }
  }

  package func axes(_ matrixGroup: MatrixGroupID) -> Column<TextRef> {
    list(matrixGroups[matrixGroup.index].axes)
  }

  package func instanceValues(_ task: TaskID, of matrixGroup: MatrixGroupID) -> Column<TextRef> {
    let entry = matrixGroups[matrixGroup.index]
    let count = list(entry.axes).count
    let first = Int(entry.firstValue) + (task.index - Int(entry.firstTask)) * count
    return matrixGroupValues[first..<(first + count)]
  }

  package var foldedNames: some Sequence<String> {
    var next = 0
    return AnyIterator {
      guard next < self.taskCount else { return nil }
      let task = TaskID(next)
      guard let matrixGroup = self.matrixGroup(of: task) else {
        next += 1
        return self.nameString(task)
      }
      next = self.instances(matrixGroup).upperBound
      return self.matrixGroupName(matrixGroup)
    }
  }

  /// Matrices are in task order, disjoint, and have a value per axis.
  func validateMatrixGroups() throws(PlanError) {
    var nextTask = 0
    for entry in matrixGroups {
      guard isSound(entry.name), entry.name.length > 0, Int(entry.firstTask) >= nextTask,
        entry.instanceCount > 0, Int(entry.instanceCount) <= taskCount - Int(entry.firstTask),
        entry.axes != 0, Int(entry.axes) + 1 < listOffsets.count
      else { throw .reference(.matrixGroups) }
      nextTask = Int(entry.firstTask) + Int(entry.instanceCount)
      let count = list(entry.axes).count * Int(entry.instanceCount)
      guard Int(entry.firstValue) + count <= matrixGroupValues.count else {
        throw .reference(.matrixGroupValues)
      }
    }
    for value in matrixGroupValues where !isSound(value) { throw .reference(.matrixGroupValues) }
    for glob in globs where !(isSound(glob.pattern) && isSound(glob.folder)) {
      throw .reference(.globs)
    }
  }
}

/// The dependency graph after generators (`after` in a `matrix`) have added matrix tasks.
///
/// Before that, a dependent of the matrix depends on the generator. Then it also depends on each
/// matrix task, after its other dependencies. Exceptions: the matrix tasks themselves, and
/// generators that do not read the values (`NeedCondition.ran`). The file does not have these
/// edges.
final class InstanceNeeds: @unchecked Sendable {
  // SAFETY: @unchecked, because the memory is written in init and freed in deinit only.

  let edges: PlanEdges
  let instances: [Int32: Range<Int>]
  private let store: Store

  private final class Store {
    private var pieces: [UnsafeMutableRawPointer] = []

    func column<Record: BitwiseCopyable>(_ records: [Record]) -> Column<Record> {
      if records.isEmpty { return Column() }
      let piece = UnsafeMutableRawPointer.allocate(
        byteCount: records.count * MemoryLayout<Record>.stride, alignment: 8)
      pieces.append(piece)
      // SAFETY: the piece has room for all records and lives as long as the store.
      let base = piece.initializeMemory(as: Record.self, from: records, count: records.count)
      return Column(base: UnsafePointer(base), count: records.count)
    }

    deinit { for piece in pieces { piece.deallocate() } }
  }

  /// nil without generated matrix tasks. `written` are the edges from the file, not validated.
  init?(
    _ written: PlanEdges, instances: [Int32: Range<Int>], makesInstances: (Int) -> Bool
  ) throws(PlanError) {
    if instances.isEmpty { return nil }
    let count = written.needOffsets.count - 1
    var offsets: [UInt32] = [0]
    var targets: [Int32] = []
    var conditions: [UInt8] = []
    offsets.reserveCapacity(count + 1)
    targets.reserveCapacity(written.needTargets.count)
    conditions.reserveCapacity(written.needTargets.count)
    for task in 0..<count {
      let (start, end) = (Int(written.needOffsets[task]), Int(written.needOffsets[task + 1]))
      guard start <= end, end <= written.needTargets.count else { throw .reference(.needOffsets) }
      var further: [(instances: Range<Int>, condition: UInt8)] = []
      for edge in start..<end {
        let target = written.needTargets[edge]
        guard target >= 0, Int(target) < count else { throw .reference(.needTargets) }
        var condition = written.needConditions[edge]
        let waits = !makesInstances(task) || condition == NeedCondition.ran.rawValue
        if let made = instances[target], !made.contains(task), waits {
          further.append((made, condition))
          // The generator may have succeeded; its matrix tasks have to fail instead.
          if condition == NeedCondition.failure.rawValue {
            condition = NeedCondition.finished.rawValue
          }
        }
        targets.append(target)
        conditions.append(condition)
      }
      for (made, condition) in further {
        guard targets.count + made.count < Int(UInt32.max) else { throw .reference(.needTargets) }
        targets += made.map { Int32(truncatingIfNeeded: $0) }
        conditions += repeatElement(condition, count: made.count)
      }
      offsets.append(UInt32(truncatingIfNeeded: targets.count))
    }
    let dependents = Graph.reversed(offsets: offsets, targets: targets)
    guard
      case .topological(let order) = Graph.order(
        needOffsets: offsets, needTargets: targets, dependentOffsets: dependents.offsets,
        dependentTargets: dependents.sources)
    else { throw .reference(.topologicalOrder) }
    let store = Store()
    edges = PlanEdges(
      needOffsets: store.column(offsets), needTargets: store.column(targets),
      needConditions: store.column(conditions), dependentOffsets: store.column(dependents.offsets),
      dependentTargets: store.column(dependents.sources),
      dependentConditions: store.column(dependents.edges.map { conditions[Int($0)] }),
      order: store.column(order))
    self.store = store
    self.instances = instances
  }
}

extension Plan {
  package var hasInstanceMakers: Bool { manifest.hasInstanceMakers == 1 }

  /// The matrix has the task's name.
  @inline(__always)
  package func makesInstances(_ task: TaskID) -> Bool {
    hasInstanceMakers && flags(task).makesInstances
  }

  /// Also true before the generator's success.
  package func hasEmptyMatrix(_ task: TaskID) -> Bool {
    makesInstances(task) && instances(madeBy: task) == nil
  }

  /// The state that views show. For the journal, an empty matrix is a success, which a resume does
  /// not repeat; views show it as skipped.
  @inline(__always)
  package func shown(_ state: TaskState, of task: TaskID) -> TaskState {
    state == .succeeded && hasEmptyMatrix(task) ? .skipped : state
  }

  /// The matrix tasks that `task` depends on are not yet in this plan.
  package func lacksInstances(_ task: TaskID) -> Bool {
    guard hasInstanceMakers, !makesInstances(task) else { return false }
    return needs(task).contains { hasEmptyMatrix(TaskID(needTargets[$0])) }
  }

  /// Excludes generated matrix tasks.
  package func declaredNeeds(of task: TaskID) -> [TaskID] {
    written.needs(task).map { TaskID(written.needTargets[$0]) }
  }

  package func instances(madeBy task: TaskID) -> Range<Int>? {
    instanceNeeds?.instances[task.rawValue]
  }

  package var hasMadeInstances: Bool { instanceNeeds != nil }

  /// `first` must be the start of a segment.
  package func order(addedFrom first: Int) -> Column<Int32> { written.order[first..<taskCount] }

  static func findInstanceNeeds(
    _ sections: PlanSections, hasInstanceMakers: Bool, _ written: PlanEdges, names: Column<TextRef>,
    _ flags: Column<UInt16>, _ matrixGroups: Column<MatrixGroupEntry>, _ nameTable: Column<Int32>,
    _ arena: Column<UInt8>
  ) throws(PlanError) -> InstanceNeeds? {
    guard sections.hasRoom, hasInstanceMakers, !matrixGroups.isEmpty else { return nil }
    func text(_ ref: TextRef) -> UnsafeRawBufferPointer? {
      guard Int(ref.offset) + Int(ref.length) <= arena.count else { return nil }
      return arena.raw(offset: Int(ref.offset), length: Int(ref.length))
    }
    var instances: [Int32: Range<Int>] = [:]
    for matrixGroup in matrixGroups {
      let (first, count) = (Int(matrixGroup.firstTask), Int(matrixGroup.instanceCount))
      guard let name = text(matrixGroup.name), first >= 0, count > 0,
        count <= sections.taskCount - first
      else { throw .reference(.matrixGroups) }
      let maker = task(named: name, in: nameTable, taskCount: sections.taskCount) {
        text(names[Int($0)]) ?? UnsafeRawBufferPointer(start: nil, count: 0)
      }
      guard let maker, TaskFlags(rawValue: flags[maker.index]).makesInstances, maker.index < first
      else { continue }
      instances[maker.rawValue] = first..<(first + count)
    }
    return try InstanceNeeds(written, instances: instances) {
      TaskFlags(rawValue: flags[$0]).makesInstances
    }
  }
}
