/// A dependency of a segment's task on a task outside the segment.
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

/// A task's dependents: those of its own segment, then those of later ones in order.
package struct DependentEdges: Sequence, IteratorProtocol {
  /// Edges from here on are links.
  static let firstOuter = 1 << 40

  private var row: Range<Int>
  /// From 1.
  private var outer: UInt32
  private let chain: Column<OuterEdge>

  /// - Parameter outer: the first link, from 1; ignored beyond the chain's end.
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

  /// Outside the segment; numbered after the dependencies in it.
  func outerNeeds(_ task: TaskID) -> Column<OuterNeed> {
    let first = outerNeeds.partitioningIndex { $0.task >= task.rawValue }
    return outerNeeds[first..<outerNeeds.partitioningIndex { $0.task > task.rawValue }]
  }

  /// By number among all of the task's dependencies.
  package func needName(_ number: Int, of task: TaskID) -> UnsafeRawBufferPointer {
    let own = needs(task)
    return number < own.count
      ? nameBytes(TaskID(needTargets[own.lowerBound + number]))
      : text(outerNeeds(task)[number - own.count].name)
  }
}
