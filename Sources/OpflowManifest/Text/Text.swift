internal import CYAML

/// Bytes that keep their address during compilation: a part of the manifest, of the texts that
/// libyaml decoded, or of a `TextStore`.
// SAFETY: the compilation owns all three, and no `Text` outlives it.
typealias Text = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
  var string: String { String(decoding: self, as: UTF8.self) }

  func part(_ range: Range<Int>) -> Text { Text(rebasing: self[range]) }

  @inline(__always)
  static func == (text: Text, word: StaticString) -> Bool {
    guard text.count == word.utf8CodeUnitCount else { return false }
    // SAFETY: both have `text.count` bytes, and a literal is never freed.
    return cyaml_equal(text.baseAddress, word.utf8Start, text.count) != 0
  }

  /// Whether the bytes contain `word`; false if it is empty.
  func contains(_ word: Text) -> Bool {
    guard let first = word.first, word.count <= count else { return false }
    return (0...count - word.count).contains { start in
      self[start] == first && part(start..<start + word.count).isSame(as: word)
    }
  }

  func isSame(as other: Text) -> Bool {
    // SAFETY: both have `count` bytes.
    count == other.count && cyaml_equal(baseAddress, other.baseAddress, count) != 0
  }

  @inline(__always)
  func hasPrefix(_ word: StaticString) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    return part(0..<word.utf8CodeUnitCount) == word
  }

  func hasSuffix(_ word: StaticString) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    return part((count - word.utf8CodeUnitCount)..<count) == word
  }

  func hasSuffix(_ word: Text) -> Bool {
    count >= word.count && part((count - word.count)..<count).isSame(as: word)
  }

  /// The bytes without whitespace at both ends.
  var trimmed: Text {
    var start = 0
    var end = count
    while start < end, ASCII.isBlank(self[start]) { start += 1 }
    while end > start, ASCII.isBlank(self[end - 1]) { end -= 1 }
    return part(start..<end)
  }
}
