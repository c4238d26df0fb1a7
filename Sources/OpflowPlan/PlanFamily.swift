internal import OpflowBase

/// A matrix. Its matrix tasks are consecutive.
package struct FamilyEntry: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var firstTask: Int32
  package var legCount: Int32
  /// Never the empty list.
  package var axes: ListIndex
  /// In `familyValues`: one value per axis, matrix task by matrix task.
  package var firstValue: UInt32

  package init(
    name: TextRef, firstTask: Int32, legCount: Int32, axes: ListIndex, firstValue: UInt32
  ) {
    self.name = name
    self.firstTask = firstTask
    self.legCount = legCount
    self.axes = axes
    self.firstValue = firstValue
  }
}

package struct GlobEntry: Hashable, Sendable, BitwiseCopyable {
  package var pattern: TextRef
  package var folder: TextRef
}

package struct FamilyID: Hashable, Sendable, Comparable {
  package let index: Int
  package init(_ index: Int) { self.index = index }
  package static func < (a: FamilyID, b: FamilyID) -> Bool { a.index < b.index }
}

extension Plan {
  package func familyName(_ family: FamilyID) -> String { string(families[family.index].name) }

  /// For a generator that found nothing to generate.
  package static let emptyMatrixText = "empty matrix: it has no legs"

  package func legs(_ family: FamilyID) -> Range<Int> {
    let entry = families[family.index]
    return Int(entry.firstTask)..<(Int(entry.firstTask) + Int(entry.legCount))
  }

  package func family(of task: TaskID) -> FamilyID? {
    let next = families.partitioningIndex { $0.firstTask > task.rawValue }
    guard next > 0, legs(FamilyID(next - 1)).contains(task.index) else { return nil }
    return FamilyID(next - 1)
  }

  package func family(named name: UnsafeRawBufferPointer) -> FamilyID? {
    families.firstIndex { text($0.name).equals(name) }.map { FamilyID($0) }
  }

  package func axes(_ family: FamilyID) -> Column<TextRef> { list(families[family.index].axes) }

  package func legValues(_ task: TaskID, of family: FamilyID) -> Column<TextRef> {
    let entry = families[family.index]
    let count = list(entry.axes).count
    let first = Int(entry.firstValue) + (task.index - Int(entry.firstTask)) * count
    return familyValues[first..<(first + count)]
  }

  /// In task order; a matrix counts as one name.
  package var foldedNames: some Sequence<String> {
    var next = 0
    return AnyIterator {
      guard next < self.taskCount else { return nil }
      let task = TaskID(next)
      guard let family = self.family(of: task) else {
        next += 1
        return self.nameString(task)
      }
      next = self.legs(family).upperBound
      return self.familyName(family)
    }
  }

  /// Matrices are in task order, disjoint, and have a value per axis.
  func validateFamilies() throws(PlanError) {
    var nextTask = 0
    for entry in families {
      guard isSound(entry.name), entry.name.length > 0, Int(entry.firstTask) >= nextTask,
        entry.legCount > 0, Int(entry.legCount) <= taskCount - Int(entry.firstTask),
        entry.axes != 0, Int(entry.axes) + 1 < listOffsets.count
      else { throw .reference(.families) }
      nextTask = Int(entry.firstTask) + Int(entry.legCount)
      let count = list(entry.axes).count * Int(entry.legCount)
      guard Int(entry.firstValue) + count <= familyValues.count else {
        throw .reference(.familyValues)
      }
    }
    for value in familyValues where !isSound(value) { throw .reference(.familyValues) }
    for glob in globs where !(isSound(glob.pattern) && isSound(glob.folder)) {
      throw .reference(.globs)
    }
  }
}

/// The dependency graph after generators (`after` in a `matrix`) have added matrix tasks.
///
/// Before that, a dependent of the matrix depends on the generator; afterwards also on each matrix
/// task, behind its other dependencies. Exceptions: the matrix tasks themselves, and generators
/// that do not read the values (`NeedCondition.ran`). The file does not have these edges.
final class LegNeeds: @unchecked Sendable {
  // SAFETY: @unchecked, because the memory is written in init and freed in deinit only.

  let edges: PlanEdges
  let legs: [Int32: Range<Int>]
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

  /// Nil without generated matrix tasks.
  ///
  /// - Parameter written: the edges from the file, not validated.
  init?(
    _ written: PlanEdges, legs: [Int32: Range<Int>], makesLegs: (Int) -> Bool
  ) throws(PlanError) {
    if legs.isEmpty { return nil }
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
      var further: [(legs: Range<Int>, condition: UInt8)] = []
      for edge in start..<end {
        let target = written.needTargets[edge]
        guard target >= 0, Int(target) < count else { throw .reference(.needTargets) }
        var condition = written.needConditions[edge]
        let waits = !makesLegs(task) || condition == NeedCondition.ran.rawValue
        if let made = legs[target], !made.contains(task), waits {
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
      needConditions: store.column(conditions),
      dependentOffsets: store.column(dependents.offsets),
      dependentTargets: store.column(dependents.sources),
      dependentConditions: store.column(dependents.edges.map { conditions[Int($0)] }),
      order: store.column(order))
    self.store = store
    self.legs = legs
  }
}

extension Plan {
  package var hasLegMakers: Bool { manifest.hasLegMakers == 1 }

  /// The matrix has the task's name.
  @inline(__always)
  package func makesLegs(_ task: TaskID) -> Bool { hasLegMakers && flags(task).makesLegs }

  /// Before a generator's success none yet, afterwards none at all.
  package func hasEmptyMatrix(_ task: TaskID) -> Bool {
    makesLegs(task) && legs(madeBy: task) == nil
  }

  /// The state that views show: a matrix that came out empty is a success in the journal, which a
  /// resume does not repeat, but shown as skipped.
  @inline(__always)
  package func shown(_ state: TaskState, of task: TaskID) -> TaskState {
    state == .succeeded && hasEmptyMatrix(task) ? .skipped : state
  }

  /// This plan does not have them yet.
  package func lacksLegs(_ task: TaskID) -> Bool {
    guard hasLegMakers, !makesLegs(task) else { return false }
    return needs(task).contains { hasEmptyMatrix(TaskID(needTargets[$0])) }
  }

  /// From the manifest, without generated matrix tasks.
  package func declaredNeeds(of task: TaskID) -> [TaskID] {
    written.needs(task).map { TaskID(written.needTargets[$0]) }
  }

  /// Nil if none yet.
  package func legs(madeBy task: TaskID) -> Range<Int>? { legNeeds?.legs[task.rawValue] }

  package var hasMadeLegs: Bool { legNeeds != nil }

  /// In topological order. `first` must be the start of a segment.
  package func order(addedFrom first: Int) -> Column<Int32> { written.order[first..<taskCount] }

  static func findLegNeeds(
    _ sections: PlanSections, hasLegMakers: Bool, _ written: PlanEdges, names: Column<TextRef>,
    _ flags: Column<UInt16>, _ families: Column<FamilyEntry>, _ nameTable: Column<Int32>,
    _ arena: Column<UInt8>
  ) throws(PlanError) -> LegNeeds? {
    // The initial plan of a run has no generated tasks.
    guard sections.hasRoom, hasLegMakers, !families.isEmpty else { return nil }
    func text(_ ref: TextRef) -> UnsafeRawBufferPointer? {
      guard Int(ref.offset) + Int(ref.length) <= arena.count else { return nil }
      return arena.raw(offset: Int(ref.offset), length: Int(ref.length))
    }
    var legs: [Int32: Range<Int>] = [:]
    for family in families {
      let (first, count) = (Int(family.firstTask), Int(family.legCount))
      guard let name = text(family.name), first >= 0, count > 0,
        count <= sections.taskCount - first
      else { throw .reference(.families) }
      let maker = task(named: name, in: nameTable, taskCount: sections.taskCount) {
        text(names[Int($0)]) ?? UnsafeRawBufferPointer(start: nil, count: 0)
      }
      guard let maker, TaskFlags(rawValue: flags[maker.index]).makesLegs, maker.index < first else {
        continue
      }
      legs[maker.rawValue] = first..<(first + count)
    }
    return try LegNeeds(written, legs: legs) { TaskFlags(rawValue: flags[$0]).makesLegs }
  }
}
