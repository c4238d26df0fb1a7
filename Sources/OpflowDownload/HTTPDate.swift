internal import OpflowBase

/// HTTP dates (RFC 9110, 5.6.7) in all three required forms.
package enum HTTPDate {
  private static let months = Array("janfebmaraprmayjunjulaugsepoctnovdec".utf8)

  /// Returns seconds since the epoch; nil if invalid.
  ///
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`, `Sun Nov  6 08:49:37 1994`
  ///
  /// The common form, twice in most responses, is read without copying.
  package static func seconds(_ text: String) -> Int64? {
    if let common = text.utf8.withContiguousStorageIfAvailable(common), let common { return common }
    return anyForm(Array(text.utf8))
  }

  private static func common(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard bytes.count == 29, bytes[3] == 44, bytes[4] == 32, bytes[7] == 32, bytes[11] == 32,
      bytes[16] == 32, bytes[19] == 58, bytes[22] == 58, bytes[25] == 32,
      let month = month(bytes[8], bytes[9], bytes[10])
    else { return nil }
    func number(_ place: Int, _ count: Int) -> Int {
      var value = 0
      for byte in bytes[place..<place + count] {
        guard byte >= 48, byte <= 57 else { return -1 }
        value = value * 10 + Int(byte - 48)
      }
      return value
    }
    return seconds(
      year: number(12, 4), month: month, day: number(5, 2), hour: number(17, 2),
      minute: number(20, 2), second: number(23, 2))
  }

  private static func anyForm(_ bytes: [UInt8]) -> Int64? {
    let words = bytes.split { $0 == 32 || $0 == 44 || $0 == 45 }
    guard words.count >= 5 else { return nil }
    let day: Int?
    let month: Int?
    let year: Int?
    let clock: ArraySlice<UInt8>
    if let number: Int = Field.number(words[1]) {
      (day, month, year, clock) = (number, Self.month(words[2]), Field.number(words[3]), words[4])
    } else {
      (day, month, year, clock) = (
        Field.number(words[2]), Self.month(words[1]), Field.number(words[4]), words[3]
      )
    }
    let parts = clock.split(separator: 58)
    guard parts.count == 3, let day, let month, let year, let hour: Int = Field.number(parts[0]),
      let minute: Int = Field.number(parts[1]), let second: Int = Field.number(parts[2])
    else { return nil }
    return seconds(
      year: year, month: month, day: day, hour: hour, minute: minute, second: second)
  }

  private static func seconds(
    year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int
  ) -> Int64? {
    guard (1...31).contains(day), (0...23).contains(hour), (0...59).contains(minute),
      (0...60).contains(second), (0...9999).contains(year)
    else { return nil }
    // Of two digits, 70 to 99 mean the last century.
    let fullYear = year < 70 ? year + 2000 : year < 100 ? year + 1900 : year
    return daysSinceEpoch(year: fullYear, month: month, day: day) * 86_400
      + Int64(hour * 3600 + minute * 60 + second)
  }

  private static func month(_ word: ArraySlice<UInt8>) -> Int? {
    guard word.count == 3, let first = word.first, let last = word.last else { return nil }
    return month(first, word[word.startIndex + 1], last)
  }

  /// From 1.
  private static func month(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> Int? {
    let name = Self.name(first | 0x20, second | 0x20, third | 0x20)
    for month in 0..<12 {
      let place = 3 * month
      if name == Self.name(months[place], months[place + 1], months[place + 2]) {
        return month + 1
      }
    }
    return nil
  }

  private static func name(_ first: UInt8, _ second: UInt8, _ third: UInt8) -> UInt32 {
    UInt32(first) << 16 | UInt32(second) << 8 | UInt32(third)
  }

  /// Gregorian; years start in March, so that a leap day comes last.
  private static func daysSinceEpoch(year: Int, month: Int, day: Int) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = (shifted >= 0 ? shifted : shifted - 399) / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Int64(era * 146_097 + dayOfEra - 719_468)
  }
}

/// How long a server asks to wait (RFC 9110, 10.2.3).
package enum RetryAfter {
  package static let longestMilliseconds: Int64 = 24 * 3600 * 1000

  /// From `nowSeconds` on, not negative; nil if invalid.
  package static func milliseconds(_ field: String, nowSeconds: Int64) -> Int64? {
    let text = Array(field.utf8.drop { $0 == 32 }.prefix { $0 != 32 })
    if !text.isEmpty, text.allSatisfy({ (48...57).contains($0) }) {
      guard let seconds: Int64 = Field.number(text) else { return longestMilliseconds }
      return min(seconds, longestMilliseconds / 1000) * 1000
    }
    guard let date = HTTPDate.seconds(field) else { return nil }
    return min(max(0, date - nowSeconds), longestMilliseconds / 1000) * 1000
  }
}
