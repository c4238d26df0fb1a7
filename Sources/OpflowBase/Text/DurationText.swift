/// Formats durations.
package enum DurationText {
  /// `0.12s`, `3.4s`, `42.0s`, `3m05s`, `2h07m`, `3d04h`. A negative value, from a clock set back,
  /// counts as zero.
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
