/// A need of a segment's task for one that is not of the segment.
package struct OuterNeed: Hashable, Sendable, BitwiseCopyable {
  /// Of the segment.
  var task: Int32
  /// The raw value of a `NeedCondition`.
  var condition: UInt32
  /// Of the task that is needed.
  var name: TextRef

  package init(task: TaskID, name: TextRef, on condition: NeedCondition) {
    self.task = task.rawValue
    self.condition = UInt32(condition.rawValue)
    self.name = name
  }
}

/// A need for a task of an earlier segment, as that task sees it: a link of a chain.
package struct OuterEdge: Hashable, Sendable, BitwiseCopyable {
  var dependent: Int32
  /// The raw value of a `NeedCondition`.
  var condition: UInt32
  /// The next link, counted from 1. It is written when that one comes to be; 0 before.
  var next: UInt32 = 0

  /// Of `next` in the record.
  static let placeOfNext = 8
}

/// Numbers of the needs for one task, by which a plan tells who has the need and on which condition: those
/// of the task's own segment first, then those of later ones in the order in which they came.
package struct DependentEdges: Sequence, IteratorProtocol {
  /// Numbers from here on are links of a chain.
  static let firstOuter = 1 << 40

  private var row: Range<Int>
  /// Counted from 1.
  private var outer: UInt32
  private let chain: Column<OuterEdge>

  /// - Parameter outer: the first link, counted from 1; one that is not there yet ends the chain.
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
    // Later links stand behind earlier ones, so that no chain has an end that comes back.
    let next = chain[index].next
    outer = next > outer ? next : 0
    return Self.firstOuter + index
  }

  package var isEmpty: Bool { row.isEmpty && (outer == 0 || Int(outer) > chain.count) }

  /// Whether there are more than that; looks at no more.
  func isLonger(than count: Int) -> Bool {
    if row.count > count { return true }
    return outer != 0 && dropFirst(count).contains { _ in true }
  }
}

extension Plan {
  /// The needs for a task.
  @inline(__always)
  package func dependents(_ task: TaskID) -> DependentEdges { edges.dependents(task) }

  /// The same from one of them on.
  func dependents(_ task: TaskID, from edge: Int) -> DependentEdges {
    edges.dependents(task, from: edge)
  }

  /// Who has that need.
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

  /// The needs of a segment's task for tasks of others, behind all that it needs of its own.
  func outerNeeds(_ task: TaskID) -> Column<OuterNeed> {
    let first = outerNeeds.partitioningIndex { $0.task >= task.rawValue }
    return outerNeeds[first..<outerNeeds.partitioningIndex { $0.task > task.rawValue }]
  }

  /// The id of what a task needs, by its number: those of the task's own segment come first.
  package func needName(_ number: Int, of task: TaskID) -> UnsafeRawBufferPointer {
    let own = needs(task)
    return number < own.count
      ? nameBytes(TaskID(needTargets[own.lowerBound + number]))
      : text(outerNeeds(task)[number - own.count].name)
  }
}
