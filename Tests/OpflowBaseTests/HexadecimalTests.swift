import OpflowBase
import Testing

@Suite("Hexadecimal numbers")
struct HexadecimalTests {
  @Test func `bytes in memory are read as any others`() {
    var texts = [
      "", "0", "f", "g", "0123456789abcdef", "0123456789abcdef0", "A", "/", ":", "`", "ab\u{0}",
    ]
    for length in 1...16 {
      for _ in 0..<40 {
        var digits = (0..<length).map { _ in Hexadecimal.digits.randomElement() ?? 0 }
        texts.append(String(decoding: digits, as: UTF8.self))
        digits[Int.random(in: 0..<length)] = UInt8.random(in: 0...127)
        texts.append(String(decoding: digits, as: UTF8.self))
      }
    }
    for text in texts {
      let bytes = Array(text.utf8)
      #expect(
        bytes.withUnsafeBytes { Hexadecimal.value($0) } == Hexadecimal.value(bytes), "\(text)")
    }
  }
}
