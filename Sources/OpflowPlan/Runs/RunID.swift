internal import OpflowBase

/// `YYYYMMDD-HHMMSS-xxxx`: the run's start (UTC) and four hexadecimal digits. IDs sort by age.
package struct RunID: Hashable, Comparable, Sendable, CustomStringConvertible {
  /// Since the epoch.
  package let seconds: Int64
  package let serial: UInt16

  /// Clamped to the years 1970 to 9999.
  package init(seconds: Int64, serial: UInt16) {
    self.seconds = min(max(seconds, 0), Self.lastSecond)
    self.serial = serial
  }

  private static let lastSecond: Int64 = 253_402_300_799

  /// Above `newest` even if the clock went back.
  package static func next(after newest: RunID?, nowMilliseconds: Int64, random: UInt16) -> RunID {
    let id = RunID(seconds: nowMilliseconds / 1000, serial: random)
    guard let newest, id <= newest else { return id }
    return newest.serial < .max
      ? RunID(seconds: newest.seconds, serial: newest.serial + 1)
      : RunID(seconds: newest.seconds + 1, serial: 0)
  }

  package static let byteCount = 20

  package init?(_ text: some StringProtocol) {
    var text = String(text)
    guard let id = text.withUTF8({ RunID(bytes: UnsafeRawBufferPointer($0)) }) else { return nil }
    self = id
  }

  /// Avoids a string per run folder.
  package init?(bytes: UnsafeRawBufferPointer) {
    let dash = UInt8(ascii: "-")
    guard bytes.count == Self.byteCount, bytes[8] == dash, bytes[15] == dash,
      let date = Self.decimal(bytes[0..<8]), let time = Self.decimal(bytes[9..<15]),
      let serial = Self.hexadecimal(bytes[16...])
    else { return nil }
    let (hour, minute, second) = (time / 10_000, time / 100 % 100, time % 100)
    let day = (year: date / 10_000, month: date / 100 % 100, day: date % 100)
    let days = Self.days(year: day.year, month: day.month, day: day.day)
    guard days >= 0, Self.date(days: days) == day, hour < 24, minute < 60, second < 60 else {
      return nil
    }
    self.init(seconds: days * 86_400 + hour * 3600 + minute * 60 + second, serial: serial)
  }

  private static func decimal(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64? {
    var value: Int64 = 0
    for digit in digits {
      guard digit >= 48, digit <= 57 else { return nil }
      value = value * 10 + Int64(digit - 48)
    }
    return value
  }

  private static func hexadecimal(_ digits: Slice<UnsafeRawBufferPointer>) -> UInt16? {
    var value: UInt16 = 0
    for digit in digits {
      switch digit {
      case 48...57: value = value << 4 | UInt16(digit - 48)
      case 97...102: value = value << 4 | UInt16(digit - 87)
      default: return nil
      }
    }
    return value
  }

  package var description: String {
    let (year, month, day) = Self.date(days: seconds / 86_400)
    let time = seconds % 86_400
    var bytes: [UInt8] = []
    Self.append(year, digits: 4, to: &bytes)
    Self.append(month, digits: 2, to: &bytes)
    Self.append(day, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    Self.append(time / 3600, digits: 2, to: &bytes)
    Self.append(time / 60 % 60, digits: 2, to: &bytes)
    Self.append(time % 60, digits: 2, to: &bytes)
    bytes.append(UInt8(ascii: "-"))
    Hexadecimal.append(UInt64(serial), digitCount: 4, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  package static func < (a: RunID, b: RunID) -> Bool {
    (a.seconds, a.serial) < (b.seconds, b.serial)
  }

  private static func append(_ value: Int64, digits: Int, to bytes: inout [UInt8]) {
    var divisor: Int64 = 1
    for _ in 1..<digits { divisor *= 10 }
    while divisor > 0 {
      bytes.append(48 + UInt8(truncatingIfNeeded: value / divisor % 10))
      divisor /= 10
    }
  }

  // The proleptic Gregorian calendar in eras of 400 years from March 1st, so a leap day is the last
  // day of its year.

  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let year = month <= 2 ? year - 1 : year
    let era = year / 400
    let yearOfEra = year - era * 400
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }

  private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let days = days + 719_468
    let era = days / 146_097
    let dayOfEra = days - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted < 10 ? shifted + 3 : shifted - 9
    return (
      yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1
    )
  }
}

/// `--run NAME` accepts the name in place of the ID of an open run.
package enum RunName {
  package static let mostBytes = 100

  package static let rule =
    "1 to \(mostBytes) letters, digits, `.`, `_` and `-`, starts with a letter, a digit or `_`,"
    + " and does not look like the ID of a run"

  package static func isValid(_ text: String) -> Bool {
    guard let first = text.utf8.first, first != UInt8(ascii: "."), first != UInt8(ascii: "-") else {
      return false
    }
    return text.utf8.count <= mostBytes && text.utf8.allSatisfy(RequestID.mayContain)
      && RunID(text) == nil
  }
}

package enum RunState: String, Sendable, CaseIterable {
  case running, succeeded, failed, cancelled, interrupted
}

/// A run that `opflow serve` started waits for more tasks.
package enum RunOpenness: Sendable {
  /// Ends when no task is left.
  case ordinary
  /// Ends when it is closed and no task is left.
  case open
  /// Only the run's own tasks can add tasks.
  case closed
}

/// The last value of a name counts, in any order of names.
package enum SetValues {
  /// One `NAME=VALUE` per name, sorted.
  package static func normal(_ values: [String]) -> [String] {
    if values.count < 2 { return values }
    var last: [String: String] = [:]
    for value in values { last[name(value)] = value }
    return last.sorted { $0.key < $1.key }.map(\.value)
  }

  private static func name(_ value: String) -> String {
    String(decoding: value.utf8.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
  }
}

/// When a journal is synced to disk.
package enum Durability: String, CaseIterable, Sendable {
  case none
  /// At most 10 ms after a write.
  case group
  /// Before opflow acts on a line.
  case each
}
