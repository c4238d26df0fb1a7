internal import OpflowCore

/// Times for programs (RFC 3339, UTC).
enum UTCText {
  /// Returns `2026-01-02T03:04:05Z`.
  static func text(milliseconds: Int64) -> String {
    let digits = Array(RunID(seconds: milliseconds / 1000, serial: 0).description)
    func part(_ range: Range<Int>) -> String { String(digits[range]) }
    return "\(part(0..<4))-\(part(4..<6))-\(part(6..<8))"
      + "T\(part(9..<11)):\(part(11..<13)):\(part(13..<15))Z"
  }
}
