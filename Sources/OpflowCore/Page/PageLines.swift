/// Lines of text in the data of a page, of which each mostly begins and ends as the one before it does: of each
/// stands there what is its own, and how many characters at both ends are those of the one before.
///
/// The page's script has the other half (`readLines` of `PageScript.data`).
struct PageLines {
  private var heads = PageDigits()
  private var tails = PageDigits()
  private var rests: [UInt8] = []
  /// The line that was added last.
  private(set) var last: [UInt8]
  /// Whether a line has anything in it.
  private(set) var hasText = false

  /// - Parameter last: the line before the first one, in the block before; empty for none.
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

  /// How many bytes a line begins and ends with as the one before it does. Of ASCII, of which the script counts as
  /// many characters.
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

  /// Of one line at least.
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
