enum ASCII {
  static func isBlank(_ byte: UInt8) -> Bool {
    byte == 32 || byte == 9 || byte == 10 || byte == 13
  }
  static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }
  static func isLetter(_ byte: UInt8) -> Bool {
    (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90)
  }
  static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte >= 97 && byte <= 102) || (byte >= 65 && byte <= 70)
  }
  /// Whether the byte can start a name.
  static func beginsName(_ byte: UInt8) -> Bool { isLetter(byte) || byte == 95 }
  /// Whether the byte can follow the first one of a name.
  static func continuesName(_ byte: UInt8) -> Bool {
    beginsName(byte) || isDigit(byte) || byte == 45
  }
}
