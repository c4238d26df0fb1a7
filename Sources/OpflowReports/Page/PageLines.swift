internal import OpflowCore
internal import OpflowViews

/// Lines of text in a page's data, each stored as what differs from the one before, and the lengths
/// of the equal start and end. Decoded by `readLines` of `PageScript.data`.
struct PageLines {
  private var heads = PageDigits()
  private var tails = PageDigits()
  private var rests: [UInt8] = []
  private(set) var last: [UInt8]
  private(set) var hasText = false

  /// - Parameter last: of the block before; empty for none.
  init(after last: [UInt8]) { self.last = last }

  var byteCount: Int { heads.bytes.count + tails.bytes.count + rests.count }

  /// - Parameter line: without a line feed.
  mutating func add(_ line: [UInt8]) {
    let (head, tail) = Self.shared(line, last)
    heads.add(head)
    tails.add(tail)
    rests += line[head..<(line.count - tail)]
    rests.append(Field.lineFeed)
    last = line
    if !line.isEmpty { hasText = true }
  }

  /// The equal bytes at start and end. ASCII only, so that they are the script's characters.
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

  /// Requires at least one line.
  func write(
    _ key: StaticString, heads headsKey: StaticString, tails tailsKey: StaticString,
    _ json: inout JSONWriter
  ) {
    json.key(key)
    rests.dropLast().withUnsafeBytes { json.string($0) }
    json.key(headsKey)
    heads.bytes.withUnsafeBytes { json.string($0) }
    json.key(tailsKey)
    tails.bytes.withUnsafeBytes { json.string($0) }
  }
}
