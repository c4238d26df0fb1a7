/// The byte strings (words) that reveal a secret.
///
/// Escapes are decoded before. Hexadecimal and base64 at its three alignments are words of their
/// own; a base64 word has only the digits that the value determines, so up to four bits at its ends
/// stay visible.
package enum SecretWords {
  /// Encodings of shorter values would match everywhere.
  static let shortestEncodedBytes = 8

  /// For encoded lines of all values. Each costs a worker up to 5 KB, and a bundle of certificates
  /// has a thousand.
  static let mostEncodedLines = 4096

  static func words(of values: [[UInt8]]) -> [[UInt8]] {
    var words: [[UInt8]] = []
    var room = mostEncodedLines
    for value in values { add(value, &room, to: &words) }
    return words
  }

  /// Shells (`echo $KEY`, `read`) and other programs strip spaces around a value.
  private static func add(_ value: [UInt8], _ room: inout Int, to words: inout [[UInt8]]) {
    // `$(…)` strips newlines.
    let ends = value.reversed().prefix { $0 == 10 || $0 == 13 }.count
    let core = value.count - ends >= SecretValue.shortestBytes ? Array(value.dropLast(ends)) : value
    let inner = Array(core[...].trimmed)
    for word in inner == core ? [core] : [core, inner]
    where word.count >= SecretValue.shortestBytes {
      add(word, leastBytes: SecretValue.shortestBytes, to: &words)
      if word.count >= shortestEncodedBytes { words += encodings(of: word) }
    }
    guard core.contains(10) else { return }
    for line in core.split(separator: 10).map(\.trimmed) where line.count >= shortestEncodedBytes {
      add(Array(line), leastBytes: shortestEncodedBytes, to: &words)
      if room == 0 { continue }
      room -= 1
      words += encodings(of: Array(line))
    }
  }

  /// Adds the word; its form from `echo $KEY`, with each run of spaces as one; and its forms in
  /// names, where a byte that is not UTF-8 is replaced.
  private static func add(_ word: [UInt8], leastBytes: Int, to words: inout [[UInt8]]) {
    words.append(word)
    if String(validating: word, as: UTF8.self) == nil {
      words.append(Array(String(decoding: word, as: UTF8.self).utf8))
      words.append(Array(NameCharacters.text(word).utf8))
    }
    let parts = word.split { $0 == 32 || $0 == 9 || $0 == 10 }
    let single = Array(parts.joined(separator: CollectionOfOne(32)))
    if single != word, single.count >= leastBytes { words.append(single) }
  }

  private static func encodings(of value: [UInt8]) -> [[UInt8]] {
    var words = ["0123456789abcdef", "0123456789ABCDEF"].map { digits in
      let digits = Array(digits.utf8)
      return value.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    }
    for (place, marks) in ["+/", "-_"].enumerated() {
      let alphabet = Array(Self.letters.utf8) + Array(marks.utf8)
      for before in 0..<3 {
        let digits = base64([UInt8](repeating: 0, count: before) + value, alphabet)
        let first = (before * 8 + 5) / 6
        let last = (before + value.count) * 8 / 6
        let own = Array(digits[first..<last])
        // Otherwise both alphabets give the same word.
        if place == 1, !own.contains(where: { marks.utf8.contains($0) }) { continue }
        words.append(own)
      }
      let whole = base64(value, alphabet)
      words.append(whole)
      if whole.count % 4 != 0 {
        words.append(whole + [UInt8](repeating: UInt8(ascii: "="), count: 4 - whole.count % 4))
      }
    }
    return words
  }

  private static let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

  /// Without trailing `=`.
  static func base64(_ bytes: [UInt8], _ alphabet: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count * 4 / 3 + 2)
    var bits: UInt32 = 0
    var count: UInt32 = 0
    for byte in bytes {
      bits = bits << 8 | UInt32(byte)
      count += 8
      while count >= 6 {
        count -= 6
        result.append(alphabet[Int(bits >> count & 63)])
      }
    }
    if count > 0 { result.append(alphabet[Int(bits << (6 - count) & 63)]) }
    return result
  }
}

extension ArraySlice<UInt8> {
  fileprivate var trimmed: ArraySlice<UInt8> {
    func isBlank(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 10 || byte == 13 }
    guard let last = lastIndex(where: { !isBlank($0) }) else { return [] }
    return self[..<(last + 1)].drop(while: isBlank)
  }
}
