/// Lower-case, of fixed width, as in journals and plan keys.
public enum Hexadecimal {
  public static let digits: [UInt8] = Array("0123456789abcdef".utf8)

  public static func text(_ value: UInt64) -> String {
    var bytes: [UInt8] = []
    append(value, digitCount: 16, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  public static func append(_ value: UInt64, digitCount: Int, to bytes: inout [UInt8]) {
    var shift = digitCount * 4
    while shift > 0 {
      shift -= 4
      let nibble = UInt8(truncatingIfNeeded: value >> UInt64(shift)) & 15
      bytes.append(nibble < 10 ? 48 + nibble : 87 + nibble)
    }
  }

  /// Accepts both cases.
  public static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 97...102: byte - 87
    case 65...70: byte - 55
    default: nil
    }
  }

  /// 1 to 16 lower-case digits; nil for other input.
  public static func value(_ bytes: some Collection<UInt8>) -> UInt64? {
    if bytes.isEmpty || bytes.count > 16 { return nil }
    var value: UInt64 = 0
    for byte in bytes {
      switch byte {
      case 48...57: value = value << 4 | UInt64(byte - 48)
      case 97...102: value = value << 4 | UInt64(byte - 87)
      default: return nil
      }
    }
    return value
  }

  /// Reads eight bytes at a time without unpredictable branches.
  public static func value(_ bytes: UnsafeRawBufferPointer) -> UInt64? {
    if bytes.isEmpty || bytes.count > 16 { return nil }
    guard let high = bytes.eight(at: 0).hexadecimal(min(bytes.count, 8)) else { return nil }
    if bytes.count <= 8 { return UInt64(high) }
    let rest = bytes.count - 8
    return bytes.eight(at: 8).hexadecimal(rest).map {
      UInt64(high) << UInt64(rest * 4) | UInt64($0)
    }
  }
}

extension FixedWidthInteger {
  /// Saturates: numbers in a journal are untrusted and must not trap a view.
  public func plus(_ other: Self) -> Self {
    let (sum, isTooMuch) = addingReportingOverflow(other)
    return !isTooMuch ? sum : other < 0 ? .min : .max
  }

  public func minus(_ other: Self) -> Self {
    let (difference, isTooMuch) = subtractingReportingOverflow(other)
    return !isTooMuch ? difference : other < 0 ? .max : .min
  }
}
