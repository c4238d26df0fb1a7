package enum CountText {
  /// `12,345`
  package static func grouped(_ count: Int) -> String {
    let digits = Array("\(count)")
    return digits.indices.map { index in
      let follows = digits.count - index
      return follows % 3 == 0 && index > 0 ? ",\(digits[index])" : "\(digits[index])"
    }.joined()
  }

  package static func tasks(_ count: Int) -> String {
    count == 1 ? "1 task" : "\(grouped(count)) tasks"
  }

  package static func failures(_ count: Int) -> String {
    "\(grouped(count)) \(count == 1 ? "failure" : "failures")"
  }

  package static func moreFailures(_ count: Int) -> String {
    "\(grouped(count)) more \(count == 1 ? "failure" : "failures")"
  }
}

package enum SizeText {
  private static let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"]

  /// `512MiB`, `1.5GiB`.
  package static func text(bytes: UInt64) -> String {
    let (whole, tenth, unit) = parts(bytes)
    return tenth == 0 ? "\(whole)\(units[unit])" : "\(whole).\(tenth)\(units[unit])"
  }

  /// `512.0MiB`, `1.5GiB`: a constant width for a size that changes. Bytes do not have a fraction.
  package static func steady(bytes: UInt64) -> String {
    let (whole, tenth, unit) = parts(bytes)
    return unit == 0 ? "\(whole)B" : "\(whole).\(tenth)\(units[unit])"
  }

  private static func parts(_ bytes: UInt64) -> (whole: UInt64, tenth: UInt64, unit: Int) {
    var unit = 0
    var whole = bytes
    var rest: UInt64 = 0
    while whole >= 1024, unit + 1 < units.count {
      rest = whole % 1024
      whole /= 1024
      unit += 1
    }
    return (whole, rest * 10 / 1024, unit)
  }
}

package enum DurationText {
  /// `0.12s`, `3.4s`, `42.0s`, `3m05s`, `2h07m`, `3d04h`. A negative value, from a clock set back,
  /// becomes zero.
  package static func text(milliseconds: Int64) -> String {
    let value = max(0, milliseconds)
    switch value {
    case ..<1000: return "0.\(padded(value / 10))s"
    case ..<60_000: return "\(value / 1000).\(value % 1000 / 100)s"
    default: return text(wholeSeconds: value / 1000)
    }
  }

  package static func text(microseconds: Int64) -> String {
    text(milliseconds: microseconds / 1000)
  }

  /// `8s`, `3m05s`, `2h07m`, `3d04h`.
  package static func text(wholeSeconds: Int64) -> String {
    let value = max(0, wholeSeconds)
    switch value {
    case ..<60: return "\(value)s"
    case ..<3600: return "\(value / 60)m\(padded(value % 60))s"
    case ..<86_400: return "\(value / 3600)h\(padded(value / 60 % 60))m"
    default: return "\(value / 86_400)d\(padded(value / 3600 % 24))h"
    }
  }

  private static func padded(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
