import Testing

@testable import OpflowBase

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

  @Test func `as many decimal digits as stand in front are counted and read`() {
    for count in 0...8 {
      for next in [0, 9, 10, 13, 45, 47, 58, 97, 176, 255] as [UInt8] {
        let text = Array("90817263".utf8.prefix(count)) + [next, 49, 49, 49, 49, 49, 49, 49]
        let eight = text.withUnsafeBytes { $0.eight(at: 0) }
        #expect(eight.digitCount == count, "\(next) behind \(count)")
        #expect(eight.decimal(count) == UInt64("0" + "90817263".prefix(count)))
      }
    }
  }

  @Test func `a number written in hexadecimal is read as it was`() {
    for number in [0, 1, 9, 10, 15, 16, 0x89ab_cdef, 0xfedc_ba98, .max] as [UInt32] {
      let text = EightBytes.hexadecimal(of: number)
      let digits = (0..<8).map { text[$0] }
      let padded = String(repeating: "0", count: 8) + String(number, radix: 16)
      #expect(digits == Array(padded.utf8.suffix(8)))
    }
  }

  @Test func `a byte is found in what is left of a text`() {
    for count in 0...20 {
      for place in 0..<count {
        var text = [UInt8](repeating: 8, count: count)
        text[place] = 9
        for start in 0...count {
          let found = text.withUnsafeBytes { $0.position(of: 9, from: start) }
          #expect(found == (start <= place ? place : count))
        }
      }
    }
  }

  @Test func `texts are the same only when each byte is`() {
    for count in 0...20 {
      let text = [UInt8](repeating: 7, count: count)
      #expect(text.withUnsafeBytes { one in Array(text).withUnsafeBytes { one.equals($0) } })
      for place in 0..<count {
        var other = text
        other[place] = 8
        #expect(!text.withUnsafeBytes { one in other.withUnsafeBytes { one.equals($0) } })
      }
    }
  }

  @Test func `the number at the end of a text is read up to the byte before it`() {
    for place in 0..<8 {
      for byte in UInt8.min...UInt8.max {
        var text = Array("20471953".utf8)
        text[place] = byte
        let digits = text.reversed().prefix { (48...57).contains($0) }.reversed()
        let number = digits.reduce(UInt64(0)) { $0 * 10 + UInt64($1 - 48) }
        let read = text.withUnsafeBytes { $0.eight(at: 0).decimalAtEnd }
        #expect(read == number, "byte \(byte) at \(place)")
      }
    }
  }
}
