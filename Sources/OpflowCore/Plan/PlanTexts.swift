/// A text in the plan's arena.
package struct TextRef: Hashable, Sendable, BitwiseCopyable {
  package var offset: UInt32
  package var length: UInt32
  package init(offset: UInt32, length: UInt32) {
    self.offset = offset
    self.length = length
  }
  package static let empty = TextRef(offset: 0, length: 0)
}

/// The number of a list of texts in the plan; 0 is the empty list.
package typealias ListIndex = UInt32

/// The environment of tasks: a list that many tasks have, and over it one of their own. Either may be empty.
package struct EnvironmentEntry: Hashable, Sendable, BitwiseCopyable {
  package var base: UInt32
  package var own: UInt32
  package init(base: UInt32, own: UInt32) {
    self.base = base
    self.own = own
  }
}

/// A variable as a task has it.
package struct TaskVariable: Hashable, Sendable {
  package var name: TextRef
  package var value: TextRef
  /// Its place in the task's own list; nil for one of the base.
  package var place: Int?
}

/// One variable of an environment. The same name occurs once in a list.
package struct EnvironmentItem: Hashable, Sendable, BitwiseCopyable {
  package var name: TextRef
  package var value: TextRef
  package init(name: TextRef, value: TextRef) {
    self.name = name
    self.value = value
  }
}
