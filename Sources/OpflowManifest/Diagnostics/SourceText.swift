internal import CYAML
internal import OpflowBase

struct SourceText {
  let bytes: ByteView

  struct Position: Equatable {
    /// From 1.
    var line: Int
    /// From 1, in Unicode scalars.
    var column: Int
  }

  /// Bytes kept on each side of a place: more than is shown, to find secrets whole.
  private static let keptBytes = 4096

  func positions(of offsets: some Sequence<Int>) -> [Int: Position] {
    var positions: [Int: Position] = [:]
    var at = 0
    var line = 1
    var column = 1
    for offset in Set(offsets).sorted() {
      let end = min(max(offset, 0), bytes.count)
      let between = bytes.part(at..<end)
      let lines = Self.lineCount(of: between)
      if lines > 0 {
        line += lines
        column = 1 + Self.characterCount(of: between.part(Self.lastLine(of: between)))
      } else {
        column += Self.characterCount(of: between)
      }
      at = end
      // A byte order mark is not a character.
      let mark = line == 1 && end > 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 1 : 0
      positions[offset] = Position(line: line, column: max(1, column - mark))
    }
    return positions
  }

  func line(at offset: Int) -> SourceLine {
    let offset = min(offset, bytes.count)
    let window = bytes.part(max(0, offset - Self.keptBytes)..<offset)
    var start = offset - window.count + Self.lastLine(of: window).lowerBound
    var end = offset
    while end < min(bytes.count, offset + Self.keptBytes), bytes[end] != 10 { end += 1 }
    while start < offset, bytes[start] & 0xC0 == 0x80 { start += 1 }
    while end > offset, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
    if end > start, bytes[end - 1] == 13 { end -= 1 }
    return SourceLine(text: bytes.part(start..<end), start: start)
  }

  static func lineCount(of text: ByteView) -> Int {
    // SAFETY: counts within `text`.
    cyaml_count_lines(text.start, text.count)
  }

  static func characterCount(of text: ByteView) -> Int {
    // SAFETY: counts within `text`.
    cyaml_count_characters(text.start, text.count)
  }

  private static func lastLine(of text: ByteView) -> Range<Int> {
    // SAFETY: searches within `text`.
    cyaml_line_start(text.start, text.count)..<text.count
  }
}

struct Secret {
  enum Extent {
    /// An address with a password, possibly malformed: to its last `@`, or to the end of the line.
    /// `end` is nil if the source differs from the value.
    case credentials(end: Int?)
    case rest
  }

  var place: Place
  var extent: Extent
}

struct SourceLine {
  let text: ByteView
  let start: Int

  /// Also returns the number of characters before `place`.
  func shown(_ place: Int, hiding secrets: [Secret]) -> (text: String, before: Int) {
    let place = min(max(0, place - start), text.count)
    var line = ""
    var before: Int?
    var end = 0
    for range in hidden(secrets) {
      if before == nil, place < range.upperBound {
        let seen = text.part(end..<max(end, min(place, range.lowerBound)))
        before = line.unicodeScalars.count + SourceText.characterCount(of: seen)
      }
      line += text.part(end..<range.lowerBound).string + Credentials.mark
      end = range.upperBound
    }
    let seen = text.part(end..<max(end, place))
    let count = before ?? line.unicodeScalars.count + SourceText.characterCount(of: seen)
    return Self.near(count, in: line + text.part(end..<text.count).string)
  }

  private static func near(_ place: Int, in line: String) -> (text: String, before: Int) {
    let characters = line.unicodeScalars
    let start = max(0, place - keptCharacters)
    let kept = characters.dropFirst(start).prefix(place - start + keptCharacters)
    return (String(kept), place - start)
  }

  private static let keptCharacters = 400

  private func hidden(_ secrets: [Secret]) -> [Range<Int>] {
    let found = Credentials.ranges(in: text) + secrets.compactMap { range(of: $0) }
    var ranges: [Range<Int>] = []
    for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) {
      if let last = ranges.last, range.lowerBound <= last.upperBound {
        ranges[ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        ranges.append(range)
      }
    }
    return ranges
  }

  private func range(of secret: Secret) -> Range<Int>? {
    let from = secret.place.offset - start
    guard from >= 0, from < text.count else { return nil }
    switch secret.extent {
    case .rest: return from..<text.count
    case .credentials(let end):
      let end = min(text.count, max(from, (end ?? .max) - start))
      let value = text.part(from..<end)
      let at = value.lastIndex(of: UInt8(ascii: "@")).map { from + $0 } ?? text.count
      let scheme = value.firstIndex(of: UInt8(ascii: "/")).map { from + $0 } ?? at
      // The scheme is shown because it helps to find the error.
      let isScheme =
        scheme > from && scheme + 1 < at && text[scheme - 1] == UInt8(ascii: ":")
        && text[scheme + 1] == UInt8(ascii: "/")
      return (isScheme ? scheme + 2 : from)..<max(at, from)
    }
  }
}
