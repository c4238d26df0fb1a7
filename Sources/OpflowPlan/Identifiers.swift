/// The index of a task in manifest order. 32 bits: a million tasks are a normal plan.
public struct TaskID: Hashable, Comparable, Sendable, BitwiseCopyable {
  public var rawValue: Int32

  public init(_ rawValue: Int32) { self.rawValue = rawValue }
  public init(_ index: Int) { self.rawValue = Int32(truncatingIfNeeded: index) }

  public static let none = TaskID(Int32(-1))

  public var index: Int { Int(rawValue) }
  public var isNone: Bool { rawValue < 0 }

  public static func < (a: TaskID, b: TaskID) -> Bool { a.rawValue < b.rawValue }
}

/// One bit per task.
public struct TaskSet: Equatable, Sendable {
  @usableFromInline var words: [UInt64]
  public private(set) var count = 0

  public init(taskCount: Int) {
    words = [UInt64](repeating: 0, count: (taskCount + 63) / 64)
  }

  public static func all(taskCount: Int) -> TaskSet {
    var set = TaskSet(taskCount: taskCount)
    for word in set.words.indices {
      let left = taskCount - word * 64
      set.words[word] = left >= 64 ? .max : 1 << UInt64(left) - 1
    }
    set.count = taskCount
    return set
  }

  public mutating func grow(to taskCount: Int) {
    while words.count < (taskCount + 63) / 64 { words.append(0) }
  }

  public var isEmpty: Bool { count == 0 }

  @inlinable
  public func contains(_ task: TaskID) -> Bool {
    let word = task.index >> 6
    return word < words.count && words[word] >> UInt64(task.index & 63) & 1 == 1
  }

  @discardableResult
  public mutating func insert(_ task: TaskID) -> Bool {
    if contains(task) { return false }
    words[task.index >> 6] |= 1 << UInt64(task.index & 63)
    count += 1
    return true
  }

  public mutating func remove(_ task: TaskID) {
    guard contains(task) else { return }
    words[task.index >> 6] &= ~(1 << UInt64(task.index & 63))
    count -= 1
  }

  /// Both sets must be of the same plan.
  public func intersection(_ other: TaskSet) -> TaskSet {
    var set = self
    for index in set.words.indices { set.words[index] &= other.words[index] }
    set.count = set.words.reduce(0) { $0 + $1.nonzeroBitCount }
    return set
  }

  public mutating func formUnion(_ other: TaskSet) {
    for index in words.indices { words[index] |= other.words[index] }
    count = words.reduce(0) { $0 + $1.nonzeroBitCount }
  }

  /// Follows tasks for which `counts` is true.
  package mutating func addNeeds(of plan: Plan, where counts: (TaskID) -> Bool = { _ in true }) {
    var open = plan.tasks.map { TaskID($0) }.filter { contains($0) }
    while let task = open.popLast() {
      if !counts(task) { continue }
      for edge in plan.needs(task) {
        let need = TaskID(plan.needTargets[edge])
        if insert(need) { open.append(need) }
      }
    }
  }
}

/// The arguments after `--`, and the task that gets them.
package struct TaskArguments: Equatable, Sendable {
  package var task: TaskID
  package var words: [String]

  package init(task: TaskID, words: [String]) {
    self.task = task
    self.words = words
  }
}

/// Each number is used once in a session.
public struct WorkerID: Hashable, Sendable, BitwiseCopyable {
  public var rawValue: Int32
  public init(_ rawValue: Int32) { self.rawValue = rawValue }
  public var index: Int { Int(rawValue) }
  public static let none = WorkerID(-1)
}

/// A connection to a node, within a session. A node that reconnects gets a new ID.
public struct NodeID: Hashable, Sendable, BitwiseCopyable {
  public var rawValue: Int32
  public init(_ rawValue: Int32) { self.rawValue = rawValue }
  public var index: Int { Int(rawValue) }
  public static let local = NodeID(0)
}

/// GPUs of one node, by their index on it.
package struct DeviceSet: Hashable, Sendable, BitwiseCopyable {
  private(set) var bits: UInt64 = 0

  package static let most = 64

  package init() {}

  package init(_ numbers: some Sequence<Int>) {
    for number in numbers where (0..<Self.most).contains(number) { bits |= 1 << UInt64(number) }
  }

  package var isEmpty: Bool { bits == 0 }
  package var count: Int { bits.nonzeroBitCount }

  package var numbers: [Int] {
    var rest = bits
    var numbers: [Int] = []
    while rest != 0 {
      numbers.append(rest.trailingZeroBitCount)
      rest &= rest &- 1
    }
    return numbers
  }

  package func isDisjoint(with other: DeviceSet) -> Bool { bits & other.bits == 0 }

  package mutating func formUnion(_ other: DeviceSet) { bits |= other.bits }

  package mutating func subtract(_ other: DeviceSet) { bits &= ~other.bits }

  package mutating func takeFirstMissing(_ count: Int) -> DeviceSet {
    var taken = DeviceSet()
    for _ in 0..<count {
      let free = ~bits
      if free == 0 { break }
      let bit = free & (0 &- free)
      bits |= bit
      taken.bits |= bit
    }
    return taken
  }
}

/// A time of the monotonic clock, from an arbitrary start.
public struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
  public var nanoseconds: Int64
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  public static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  public func advanced(byMilliseconds milliseconds: Int64) -> Instant {
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? Instant(nanoseconds: .max) : advanced(byNanoseconds: product)
  }

  public func advanced(byMicroseconds microseconds: Int64) -> Instant {
    let (product, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
    return overflow ? Instant(nanoseconds: .max) : advanced(byNanoseconds: product)
  }

  public func advanced(byNanoseconds count: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
    return Instant(nanoseconds: overflow ? .max : sum)
  }
}
