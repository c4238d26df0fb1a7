/// Plain scalars in the core schema (YAML 1.2.2, 10.3.2).
enum CoreSchema {
  enum ScalarType: Equatable {
    case null
    case boolean(Bool)
    case integer
    case float
    case string
  }

  static func type(of text: ByteView) -> ScalarType {
    guard let first = text.first else { return .null }
    switch first {
    case UInt8(ascii: "~"), UInt8(ascii: "n"), UInt8(ascii: "N"):
      return isNull(text) ? .null : .string
    case UInt8(ascii: "t"), UInt8(ascii: "T"), UInt8(ascii: "f"), UInt8(ascii: "F"):
      return boolean(text).map { .boolean($0) } ?? .string
    case UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), 48...57:
      if isInteger(text) { return .integer }
      return isFloat(text) ? .float : .string
    default: return .string
    }
  }

  static func isNull(_ text: ByteView) -> Bool {
    switch text.count {
    case 0: true
    case 1: text[0] == UInt8(ascii: "~")
    case 4: text == "null" || text == "Null" || text == "NULL"
    default: false
    }
  }

  static func boolean(_ text: ByteView) -> Bool? {
    switch text.count {
    case 4: text == "true" || text == "True" || text == "TRUE" ? true : nil
    case 5: text == "false" || text == "False" || text == "FALSE" ? false : nil
    default: nil
    }
  }

  /// Nil if the text is not an integer or does not fit.
  static func integer(_ text: ByteView) -> Int64? {
    guard isInteger(text) else { return nil }
    if text.hasPrefix("0o") { return Int64(text.part(2..<text.count).string, radix: 8) }
    if text.hasPrefix("0x") { return Int64(text.part(2..<text.count).string, radix: 16) }
    let length = signLength(text)
    // 18 digits always fit.
    guard text.count - length <= 18 else { return Int64(text.string) }
    var value: Int64 = 0
    for digit in text[length...] { value = value * 10 + Int64(digit - 48) }
    return text.first == UInt8(ascii: "-") ? -value : value
  }

  static func number(_ text: ByteView) -> Double? {
    if let integer = integer(text) { return Double(integer) }
    guard isFloat(text), let value = Double(text.string), value.isFinite else { return nil }
    return value
  }

  private static func isInteger(_ text: ByteView) -> Bool {
    if text.count > 2, text.hasPrefix("0o") {
      return text[2...].allSatisfy { $0 >= 48 && $0 <= 55 }
    }
    if text.count > 2, text.hasPrefix("0x") {
      return text[2...].allSatisfy(ASCII.isHexadecimal)
    }
    let digits = text[signLength(text)...]
    return !digits.isEmpty && digits.allSatisfy(ASCII.isDigit)
  }

  private static func isFloat(_ text: ByteView) -> Bool {
    let unsigned = text.part(signLength(text)..<text.count)
    if unsigned == ".inf" || unsigned == ".Inf" || unsigned == ".INF" { return true }
    if text == ".nan" || text == ".NaN" || text == ".NAN" { return true }
    var position = digits(of: unsigned, from: 0)
    var digitCount = position
    if position < unsigned.count, unsigned[position] == UInt8(ascii: ".") {
      let end = digits(of: unsigned, from: position + 1)
      digitCount += end - position - 1
      position = end
    }
    if digitCount == 0 { return false }
    if position == unsigned.count { return true }
    guard unsigned[position] == 101 || unsigned[position] == 69 else { return false }
    position += 1
    if position < unsigned.count, unsigned[position] == 43 || unsigned[position] == 45 {
      position += 1
    }
    return position < unsigned.count && digits(of: unsigned, from: position) == unsigned.count
  }

  private static func signLength(_ text: ByteView) -> Int {
    text.first == UInt8(ascii: "+") || text.first == UInt8(ascii: "-") ? 1 : 0
  }

  private static func digits(of text: ByteView, from start: Int) -> Int {
    var position = start
    while position < text.count, ASCII.isDigit(text[position]) { position += 1 }
    return position
  }
}
