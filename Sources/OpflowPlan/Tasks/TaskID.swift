/// The index of a task in manifest order. 32 bits: a million tasks are a normal plan.
package struct TaskID: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: Int32

  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package init(_ index: Int) { self.rawValue = Int32(truncatingIfNeeded: index) }

  /// For records without a task.
  package static let none = TaskID(Int32(-1))

  package var index: Int { Int(rawValue) }
  package var isNone: Bool { rawValue < 0 }

  package static func < (a: TaskID, b: TaskID) -> Bool { a.rawValue < b.rawValue }
}
