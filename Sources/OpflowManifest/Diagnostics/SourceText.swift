internal import CYAML

/// Lines and columns of a manifest.
struct SourceText {
  let bytes: Text

  /// Line and column from 1; columns are counted in characters (Unicode scalars).
  func position(of offset: Int) -> (line: Int, column: Int) {
    let offset = min(offset, bytes.count)
    let start = lineStart(offset)
    let before = Self.lineCount(of: bytes.part(0..<start))
    let characters = bytes[start..<offset].count { $0 & 0xC0 != 0x80 }
    let mark = start == 0 && bytes.starts(with: [0xEF, 0xBB, 0xBF]) && offset > 0 ? 1 : 0
    return (before + 1, characters - mark + 1)
  }

  /// The text of the line that holds `offset`, without its end.
  func line(at offset: Int) -> Text {
    let offset = min(offset, bytes.count)
    let start = lineStart(offset)
    var end = offset
    while end < bytes.count, bytes[end] != 10 { end += 1 }
    if end > start, bytes[end - 1] == 13 { end -= 1 }
    return bytes.part(start..<max(start, end))
  }

  /// Line feeds in a text.
  static func lineCount(of text: Text) -> Int {
    // SAFETY: counts within `text`.
    cyaml_count_lines(text.baseAddress?.assumingMemoryBound(to: UInt8.self), text.count)
  }

  private func lineStart(_ offset: Int) -> Int {
    var start = offset
    while start > 0, bytes[start - 1] != 10 { start -= 1 }
    return start
  }
}
