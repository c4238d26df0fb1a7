import OpflowBase
import Testing

@testable import OpflowManifest

@Suite struct ForeignScriptTests {
  /// A look at each byte.
  private func naively(_ text: [UInt8]) -> Bool {
    for offset in text.indices.dropFirst() {
      let (last, byte) = (text[offset - 1], text[offset])
      let before = offset > 1 ? text[offset - 2] : 0
      let rest = text[(offset + 1)...]
      if byte == UInt8(ascii: "{"), last == byte, before != UInt8(ascii: "$") { return true }
      if last == UInt8(ascii: "$") {
        if byte == UInt8(ascii: "(") { return true }
        let names = ["vars.", "matrix.", "env."]
        if byte == UInt8(ascii: "{"), names.contains(where: { rest.starts(with: $0.utf8) }) {
          return true
        }
      }
      if (last, byte) == (0xC2, 0xA0) || (last, byte) == (0xE2, 0x80) { return true }
    }
    return false
  }

  @Test func `what a file may hold of other tools is found as by a look at each byte`() {
    let pieces: [[UInt8]] =
      ["{", "{{", "$", "$$", "(", "vars.", "matrix.", "env.", "x", "\n"].map { Array($0.utf8) }
      + [[0xC2], [0xA0], [0xE2], [0x80]]
    var random = SplitMix64(seed: 7)
    var found = 0
    for _ in 0..<20_000 {
      let text = (0..<random.next() % 7).flatMap { _ in
        pieces[Int(random.next() % UInt64(pieces.count))]
      }
      let may = text.withUnsafeBytes { ForeignScript.mayStand(in: $0) }
      #expect(may == naively(text), "\(text)")
      if may { found += 1 }
    }
    #expect((2_000..<18_000).contains(found))
  }

  @Test func `what a file has none of is known, wherever its pieces are read`() throws {
    // Longer than the pieces in which libyaml asks for a file.
    let filler = String(repeating: "x", count: 70)
    let pieces = ["{", "{{", "$", "${{", "é", "a", "b c", "\n  \(filler)"]
    var random = SplitMix64(seed: 11)
    var seen: Set<[Bool]> = []
    for round in 0..<400 {
      let rare = pieces[Int(random.next() % 5)]
      var text = "a: |\n  \(filler)"
      for _ in 0..<(round % 5 == 0 ? 600 : 6) {
        let isRare = random.next() % 40 == 0
        text += isRare ? rare : pieces[5 + Int(random.next() % 3)]
      }
      let marks = try values(of: text).document.marks
      let expected = [
        text.utf8.contains(UInt8(ascii: "$")), text.contains("{{"),
        text.utf8.allSatisfy { $0 < 0x80 },
      ]
      #expect([marks.hasDollars, marks.hasBracePairs, marks.isASCII] == expected, "\(text)")
      seen.insert(expected)
    }
    #expect(seen.count >= 5)
    // An escape in the file is part of the text.
    #expect(try values(of: "a: \"\\x24HOME\"").document.marks.hasDollars)
    #expect(try !values(of: "a: b").document.marks.hasDollars)
  }
}
