internal import OpflowBase
package import OpflowPlan

/// Ascending task numbers of a plan: `0-4,7`. A few bytes may name all numbers: check `last` before
/// you expand them.
package struct TaskRanges: Equatable, Sendable {
  /// Neither adjacent nor empty.
  package private(set) var ranges: [ClosedRange<Int32>] = []

  package init() {}

  package init(_ tasks: some Sequence<TaskID>) {
    for task in tasks { append(task.rawValue...task.rawValue) }
  }

  package var isEmpty: Bool { ranges.isEmpty }
  package var count: Int { ranges.reduce(0) { $0 + $1.count } }

  package var last: TaskID { ranges.last.map { TaskID($0.upperBound) } ?? .none }

  package var tasks: [TaskID] {
    var tasks: [TaskID] = []
    tasks.reserveCapacity(count)
    for range in ranges {
      for number in range { tasks.append(TaskID(number)) }
    }
    return tasks
  }

  private mutating func append(_ range: ClosedRange<Int32>) {
    guard let last = ranges.last else {
      ranges.append(range)
      return
    }
    precondition(range.lowerBound > last.upperBound, "tasks stand in ascending order")
    if range.lowerBound == last.upperBound + 1 {
      ranges[ranges.count - 1] = last.lowerBound...range.upperBound
    } else {
      ranges.append(range)
    }
  }

  // MARK: - Text

  func write(to writer: inout FieldWriter) {
    var isFirst = true
    for range in ranges {
      if !isFirst { writer.raw(",") }
      isFirst = false
      writer.number(range.lowerBound)
      if range.count > 1 {
        writer.raw("-")
        writer.number(range.upperBound)
      }
    }
  }

  init?(_ field: UnsafeRawBufferPointer) {
    var start = 0
    while start <= field.count {
      let end = field.position(of: UInt8(ascii: ","), from: start)
      guard let range = Self.range(field.part(start, end)) else { return nil }
      if let last = ranges.last, range.lowerBound <= last.upperBound { return nil }
      append(range)
      start = end + 1
    }
  }

  private static func range(_ text: UnsafeRawBufferPointer) -> ClosedRange<Int32>? {
    let dash = text.position(of: UInt8(ascii: "-"), from: 0)
    guard let first = natural(text.part(0, dash)) else { return nil }
    if dash == text.count { return first...first }
    guard let last = natural(text.part(dash + 1, text.count)), last >= first else { return nil }
    return first...last
  }

  private static func natural(_ digits: UnsafeRawBufferPointer) -> Int32? {
    digits.natural.flatMap { Int32(exactly: $0) }
  }
}
