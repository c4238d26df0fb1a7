/// Splits words like a shell, with quotes and backslashes (POSIX.1-2017, XCU 2.2), but without
/// expansion: `$`, `*` and `~` are literal.
enum QuotedWords {
  struct Failure: Error, Equatable {
    let what: String
  }

  static func split(_ text: String) throws(Failure) -> [String] {
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
        // In double quotes it is literal, except before these characters.
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
}
