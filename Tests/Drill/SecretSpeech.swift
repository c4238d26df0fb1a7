import Foundation

/// A text in all encodings that programs print, written without opflow's own code.
package enum SecretSpeech {
  /// A string that a task may print.
  package struct Word {
    /// The value's encoding with its context.
    package var printed: [UInt8]
    /// The part that may not occur anywhere.
    package var secret: [UInt8]

    init(_ printed: [UInt8], secret: [UInt8]? = nil) {
      self.printed = printed
      self.secret = secret ?? printed
    }

    init(_ printed: String, secret: String? = nil) {
      self.init(Array(printed.utf8), secret: secret.map { Array($0.utf8) })
    }
  }

  package static func words(_ value: [UInt8], _ numbers: inout DrillNumbers) -> [Word] {
    var words = [Word(value)]
    for style in ["%02x", "%02X"] {
      let digits = value.map { String(format: style, $0) }.joined()
      words += [Word(digits), Word(broken(digits, after: 32), secret: digits)]
    }
    for before in 0..<3 {
      for isURL in [false, true] { words.append(base64(value, before, isURL, &numbers)) }
    }
    words.append(Word(value.map { String(format: "%%%02X", $0) }.joined()))
    words.append(Word(value.map { String(format: "%%%02x", $0) }.joined()))
    words.append(Word(value.map { String(format: "\\x%02x", $0) }.joined()))
    words.append(Word(value.map { String(format: "\\%03o", $0) }.joined()))
    words.append(Word(value.flatMap { isPlain($0) ? [$0] : [92, $0] }))
    words.append(Word(value.flatMap { $0 == 39 ? Array("'\\''".utf8) : [$0] }))
    words.append(Word(value.flatMap { $0 == 34 || $0 == 92 ? [92, $0] : [$0] }))
    words.append(Word(value.flatMap { $0 == 32 ? [43] : percent($0) }))
    words.append(Word(value.flatMap { names[$0].map { Array($0.utf8) } ?? [$0] }))
    if value.allSatisfy({ $0 < 128 }) {
      words.append(Word(value.map { String(format: "\\u%04x", $0) }.joined()))
      words.append(Word(value.map { "&#\($0);" }.joined()))
      words.append(Word(value.map { String(format: "&#x%X;", $0) }.joined()))
    }
    return words
  }

  private static let names: [UInt8: String] = [
    60: "&lt;", 62: "&gt;", 38: "&amp;", 34: "&quot;", 39: "&apos;",
  ]

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 48...57, 65...90, 95, 97...122, 128...255: true
    default: false
    }
  }

  private static func percent(_ byte: UInt8) -> [UInt8] {
    isPlain(byte) && byte < 128 ? [byte] : Array(String(format: "%%%02X", byte).utf8)
  }

  private static func broken(_ text: String, after count: Int) -> String {
    var lines: [Substring] = []
    var rest = text[...]
    while !rest.isEmpty {
      lines.append(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return lines.joined(separator: "\n")
  }

  /// Encodes the value within other bytes; only digits that depend on the value alone are secret.
  private static func base64(
    _ value: [UInt8], _ before: Int, _ isURL: Bool, _ numbers: inout DrillNumbers
  ) -> Word {
    let around = (0..<before + Int.random(in: 0..<4, using: &numbers)).map { _ in
      UInt8.random(in: 0...255, using: &numbers)
    }
    let bytes = around.prefix(before) + value + around.dropFirst(before)
    var text = Data(bytes).base64EncodedString()
    if isURL { text = String(text.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }) }
    let first = (before * 8 + 5) / 6
    let last = (before + value.count) * 8 / 6
    let own = String(text.dropFirst(first).prefix(last - first))
    return Word(
      Bool.random(using: &numbers) ? broken(text, after: 20) : text, secret: own)
  }
}
