/// A string in the plan's arena.
package struct TextRef: Hashable, Sendable, BitwiseCopyable {
  package var offset: UInt32
  package var length: UInt32
  package init(offset: UInt32, length: UInt32) {
    self.offset = offset
    self.length = length
  }
  package static let empty = TextRef(offset: 0, length: 0)
}

/// A list of strings; 0 is the empty list.
package typealias ListIndex = UInt32

/// A shared list of variables, overridden by the task's own.
package struct EnvironmentEntry: Hashable, Sendable, BitwiseCopyable {
  package var base: UInt32
  package var own: UInt32
  package init(base: UInt32, own: UInt32) {
    self.base = base
    self.own = own
  }
}

/// A variable after the task's own list has overridden the base.
package struct TaskVariable: Hashable, Sendable {
  package var name: TextRef
  package var value: TextRef
  /// In the task's own list; nil if it comes from the base.
  package var place: Int?
}

/// A name occurs at most once per list.
package struct EnvironmentItem: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var value: TextRef
  package init(name: TextRef, value: TextRef) {
    self.name = name
    self.value = value
  }
}
