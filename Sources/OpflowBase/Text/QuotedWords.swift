/// Splits words like a shell (POSIX.1-2017, XCU 2.2), without expansion of `$`, `*` and `~`.
package enum QuotedWords {
  package struct Failure: Error, Equatable {
    package let what: String
  }

  package static func split(_ text: String) throws(Failure) -> [String] {
    var words: [String] = []
    /// Nil between words; empty if quoted.
    var word: [UInt8]?
    var quote: UInt8?
    var rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      switch (byte, quote) {
      case (UInt8(ascii: "\\"), nil):
        guard let next = rest.popFirst() else {
          throw Failure(what: "nothing follows the last backslash")
        }
        if next != 0x0A { word = (word ?? []) + [next] }
      case (UInt8(ascii: "\\"), UInt8(ascii: "\"")):
        // Literal, except before these characters.
        switch rest.first {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "$"), UInt8(ascii: "`"):
          word?.append(rest.removeFirst())
        case 0x0A: rest.removeFirst()
        default: word?.append(byte)
        }
      case (_, byte): quote = nil
      case (UInt8(ascii: "'"), nil), (UInt8(ascii: "\""), nil):
        quote = byte
        word = word ?? []
      case (0x20, nil), (0x09, nil), (0x0A, nil):
        if let word { words.append(String(decoding: word, as: UTF8.self)) }
        word = nil
      default: word = (word ?? []) + [byte]
      }
    }
    if quote != nil { throw Failure(what: "a quote is not closed") }
    if let word { words.append(String(decoding: word, as: UTF8.self)) }
    return words
  }

  /// C0 except tab and newline, DEL and C1 could move the cursor.
  private static func hasControls(_ word: String) -> Bool {
    word.unicodeScalars.contains {
      $0.value < 32 && $0 != "\t" && $0 != "\n" || (127...159).contains($0.value)
    }
  }

  /// Octal escapes within `$'…'` (POSIX.1-2024, 2.2.4).
  private static func escaped(_ word: String) -> String {
    var text = "$'"
    for scalar in word.unicodeScalars {
      switch scalar {
      case "'", "\\": text += "\\\(scalar)"
      case _ where hasControls(String(scalar)):
        for byte in String(scalar).utf8 {
          text += "\\\(byte >> 6)\(byte >> 3 & 7)\(byte & 7)"
        }
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text + "'"
  }

  /// A shell reads the word back unchanged.
  package static func quoted(_ word: String) -> String {
    let isPlain =
      !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case 48...57, 65...90, 97...122: true
        case 37, 43, 44, 45, 46, 47, 58, 61, 64, 95: true
        default: false
        }
      }
    if isPlain { return word }
    if hasControls(word) { return escaped(word) }
    let parts = word.split(separator: "'", omittingEmptySubsequences: false)
    return "'" + parts.joined(separator: "'\\''") + "'"
  }
}
