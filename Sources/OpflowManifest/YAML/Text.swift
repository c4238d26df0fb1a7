internal import CYAML

/// Bytes that stay in place while a manifest is compiled: a part of the manifest itself, of
/// libyaml's decoded texts or of a `TextStore`.
// SAFETY: all three are owned by the compilation, which no text outlives.
typealias Text = UnsafeRawBufferPointer

extension UnsafeRawBufferPointer {
  var string: String { String(decoding: self, as: UTF8.self) }

  func part(_ range: Range<Int>) -> Text { Text(rebasing: self[range]) }

  static func == (text: Text, word: StaticString) -> Bool {
    guard text.count == word.utf8CodeUnitCount else { return false }
    // SAFETY: both hold as many bytes, and a literal lives as long as the program.
    return cyaml_equal(text.baseAddress, word.utf8Start, text.count) != 0
  }

  func isSame(as other: Text) -> Bool {
    // SAFETY: both hold as many bytes.
    count == other.count && cyaml_equal(baseAddress, other.baseAddress, count) != 0
  }

  func hasPrefix(_ word: StaticString) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    return part(0..<word.utf8CodeUnitCount) == word
  }

  func hasSuffix(_ word: StaticString) -> Bool {
    guard count >= word.utf8CodeUnitCount else { return false }
    return part((count - word.utf8CodeUnitCount)..<count) == word
  }

  /// Without blanks, tabs and line ends around it.
  var trimmed: Text {
    var start = 0
    var end = count
    while start < end, Character8.isBlank(self[start]) { start += 1 }
    while end > start, Character8.isBlank(self[end - 1]) { end -= 1 }
    return part(start..<end)
  }
}

/// Classes of ASCII characters.
enum Character8 {
  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 32 || byte == 9 || byte == 10 || byte == 13
  }
  static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
  static func isLetter(_ byte: UInt8) -> Bool {
    (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90)
  }
  static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte >= 97 && byte <= 102) || (byte >= 65 && byte <= 70)
  }
  /// What a name in an expression begins with.
  static func beginsName(_ byte: UInt8) -> Bool { isLetter(byte) || byte == 95 }
  /// What a name in an expression goes on with.
  static func continuesName(_ byte: UInt8) -> Bool {
    beginsName(byte) || isDigit(byte) || byte == 45
  }
}
