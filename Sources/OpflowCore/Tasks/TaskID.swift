/// The number of a task within its plan: its position in the order of the manifest.
///
/// A million tasks are a normal plan, so ids are 32 bits wide and index columns directly.
package struct TaskID: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var rawValue: Int32

  package init(_ rawValue: Int32) { self.rawValue = rawValue }
  package init(_ index: Int) { self.rawValue = Int32(truncatingIfNeeded: index) }

  /// Stands where a record speaks of no task.
  package static let none = TaskID(Int32(-1))

  package var index: Int { Int(rawValue) }
  package var isNone: Bool { rawValue < 0 }

  package static func < (a: TaskID, b: TaskID) -> Bool { a.rawValue < b.rawValue }
}
