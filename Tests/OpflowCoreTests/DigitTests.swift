import Testing

@testable import OpflowCore

/// Digits that are read eight at a time: every byte at every place.
@Suite struct DigitTests {
  private func hexadecimal(_ bytes: [UInt8]) -> UInt64? {
    bytes.withUnsafeBytes { ByteWindow($0)?.hexadecimal(0, digitCount: bytes.count) }
  }

  private func decimal(_ bytes: [UInt8]) -> UInt64? {
    bytes.withUnsafeBytes {
      let eight = $0.eight(at: 0)
      return eight.digitCount == 8 ? eight.decimal(8) : nil
    }
  }

  @Test func `hexadecimal digits are lower-case letters and decimal digits only`() {
    let digits = Array("0123456789abcdef".utf8)
    for place in 0..<16 {
      for byte in UInt8.min...UInt8.max {
        var text = Array("fedcba9876543210".utf8)
        text[place] = byte
        let value = digits.firstIndex(of: byte).map { value in
          let shift = UInt64(60 - place * 4)
          return 0xfedc_ba98_7654_3210 & ~(15 << shift) | UInt64(value) << shift
        }
        #expect(hexadecimal(text) == value, "byte \(byte) at \(place)")
      }
    }
  }

  @Test func `digits of any number make a number`() {
    for count in 1...16 {
      let text = String("8f07a1c2e3d4b596".prefix(count))
      #expect(hexadecimal(Array(text.utf8)) == UInt64(text, radix: 16))
    }
  }

  @Test func `eight decimal digits are no other bytes`() {
    for place in 0..<8 {
      for byte in UInt8.min...UInt8.max {
        var text = Array("90817263".utf8)
        text[place] = byte
        let value = byte >= 48 && byte <= 57 ? UInt64(String(decoding: text, as: UTF8.self)) : nil
        #expect(decimal(text) == value, "byte \(byte) at \(place)")
      }
    }
    #expect(decimal(Array("1234567".utf8)) == nil)
  }
}
