internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowViews

/// Numbers in a page's data: five bits per character of 64, lowest first; the sixth bit means that
/// another character follows. Decoded by `PageScript.data`.
struct PageDigits {
  private(set) var bytes: [UInt8] = []

  static let alphabet: [UInt8] = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

  /// The limit of exact integers in JavaScript.
  private static let most: UInt64 = 1 << 53

  /// A negative number, as from a clock that was set back, is written as 0.
  mutating func add(_ value: some FixedWidthInteger) {
    var rest = min(UInt64(clamping: value), Self.most - 1)
    while rest >= 32 {
      bytes.append(Self.alphabet[Int(rest & 31) + 32])
      rest >>= 5
    }
    bytes.append(Self.alphabet[Int(rest)])
  }

  mutating func add(signed value: Int) { add(Self.signed(value)) }

  /// The sign is in the lowest bit.
  static func signed(_ value: Int) -> UInt64 {
    value < 0 ? UInt64(clamping: -1 - value) << 1 | 1 : UInt64(clamping: value) << 1
  }
}

/// Lines of text, each stored as its difference from the line before and the lengths of the equal
/// start and end. Decoded by `readLines` of `PageScript.data`.
struct PageLines {
  private var heads = PageDigits()
  private var tails = PageDigits()
  private var rests: [UInt8] = []
  private(set) var last: [UInt8]
  private(set) var hasText = false

  init(after last: [UInt8]) { self.last = last }

  var byteCount: Int { heads.bytes.count + tails.bytes.count + rests.count }

  mutating func add(_ line: [UInt8]) {
    let (head, tail) = Self.shared(line, last)
    heads.add(head)
    tails.add(tail)
    rests += line[head..<(line.count - tail)]
    rests.append(Field.lineFeed)
    last = line
    if !line.isEmpty { hasText = true }
  }

  /// ASCII only, so that bytes are the script's characters.
  private static func shared(_ line: [UInt8], _ last: [UInt8]) -> (head: Int, tail: Int) {
    let most = min(line.count, last.count)
    var head = 0
    while head < most, line[head] == last[head], line[head] < 128 { head += 1 }
    var tail = 0
    while tail < most - head, line[line.count - 1 - tail] == last[last.count - 1 - tail],
      line[line.count - 1 - tail] < 128
    { tail += 1 }
    return (head, tail)
  }

  func write(
    _ key: StaticString, heads headsKey: StaticString, tails tailsKey: StaticString,
    _ json: inout JSONWriter
  ) {
    json.add(key, utf8: Array(rests.dropLast()))
    json.add(headsKey, utf8: heads.bytes)
    json.add(tailsKey, utf8: tails.bytes)
  }
}

/// In plan order.
struct PageNumbers {
  let tasks: [TaskID]
  /// -1 for tasks not in the page.
  private let numbers: [Int32]

  init(_ status: RunStatus) {
    var tasks: [TaskID] = []
    var numbers = [Int32](repeating: -1, count: status.plan.taskCount)
    for task in status.plan.tasks.lazy.map({ TaskID($0) }) where status.included.contains(task) {
      numbers[task.index] = Int32(truncatingIfNeeded: tasks.count)
      tasks.append(task)
    }
    self.tasks = tasks
    self.numbers = numbers
  }

  subscript(task: TaskID) -> Int? {
    guard numbers.indices.contains(task.index), numbers[task.index] >= 0 else { return nil }
    return Int(numbers[task.index])
  }
}
