internal import CYAML

/// Lines and columns of a manifest.
struct SourceText {
  let bytes: Text

  struct Position: Equatable {
    /// From 1.
    var line: Int
    /// From 1, in characters (Unicode scalars).
    var column: Int
  }

  /// The bytes kept on each side of a place, since a line may be very long. This is more than is
  /// shown, so that secrets are seen whole.
  private static let keptBytes = 4096

  /// Computes all positions in one pass over the manifest.
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
      // A byte order mark does not count as a character.
      let mark = line == 1 && end > 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 1 : 0
      positions[offset] = Position(line: line, column: max(1, column - mark))
    }
    return positions
  }

  /// Returns the line without its newline, cut to `keptBytes` on each side.
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

  static func lineCount(of text: Text) -> Int {
    // SAFETY: counts within `text`.
    cyaml_count_lines(text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count)
  }

  static func characterCount(of text: Text) -> Int {
    // SAFETY: counts within `text`.
    cyaml_count_characters(text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count)
  }

  /// Returns the range behind the last line feed.
  private static func lastLine(of text: Text) -> Range<Int> {
    // SAFETY: searches within `text`.
    cyaml_line_start(text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count)..<text.count
  }
}
