package import OpflowPlan

/// Durations: `500ms`, `1.5s`, `5m`, `2h`, `1h30m`, `1d`, or seconds without a unit.
enum DurationText {
  /// Ten years. A longer duration is probably a typo.
  static let maximumMilliseconds: UInt64 = 10 * 366 * 86_400_000

  /// Rounds up. Returns nil for invalid text.
  static func milliseconds(_ text: ByteView) -> UInt64? {
    if text.isEmpty { return nil }
    var position = 0
    var total: UInt64 = 0
    var lastUnit = UInt64.max
    while position < text.count {
      guard let number = Decimal(text, from: position) else { return nil }
      var unitEnd = number.end
      while unitEnd < text.count, ASCII.isLetter(text[unitEnd]) { unitEnd += 1 }
      // Units must decrease, since `30m1h` is probably an error.
      guard let unit = unit(text.part(number.end..<unitEnd), isFirst: position == 0),
        unit < lastUnit, let milliseconds = number.times(unit), milliseconds <= maximumMilliseconds
      else { return nil }
      lastUnit = unit
      total += milliseconds
      position = unitEnd
    }
    return total <= maximumMilliseconds ? total : nil
  }

  private static func unit(_ text: ByteView, isFirst: Bool) -> UInt64? {
    if text.isEmpty { return isFirst ? 1000 : nil }
    if text == "ms" { return 1 }
    if text == "s" { return 1000 }
    if text == "m" { return 60_000 }
    if text == "h" { return 3_600_000 }
    if text == "d" { return 86_400_000 }
    return nil
  }
}

package enum WrittenDuration {
  /// Rounds up. Returns nil for invalid text.
  package static func milliseconds(_ text: String) -> UInt64? {
    let store = TextStore()
    return withExtendedLifetime(store) { DurationText.milliseconds(store.copy(text)) }
  }
}

/// Sizes: `512MiB`, `2GiB`, `1.5GB`, or bytes without a unit.
enum SizeText {
  private static let maximumBytes: UInt64 = 1 << 60

  /// Rounds up. Returns nil above one exbibyte, and for a fraction without a unit.
  static func bytes(_ text: ByteView) -> UInt64? {
    guard let number = Decimal(text, from: 0) else { return nil }
    if number.end == text.count, !number.isWhole { return nil }
    var unit = text.part(number.end..<text.count)
    if unit.count > 1, unit.first == 32 { unit = unit.part(1..<unit.count) }
    guard let factor = factor(unit), let bytes = number.times(factor), bytes <= maximumBytes else {
      return nil
    }
    return bytes
  }

  /// IEC 80000-13: KiB is 1024, kB (and KB) 1000.
  private static func factor(_ unit: ByteView) -> UInt64? {
    if unit.isEmpty || unit == "B" { return 1 }
    let isBinary = unit.count == 3 && unit.hasSuffix("iB")
    guard isBinary || (unit.count == 2 && unit.hasSuffix("B")) else { return nil }
    let base: UInt64 = isBinary ? 1024 : 1000
    switch unit[0] {
    case UInt8(ascii: "k") where !isBinary, UInt8(ascii: "K"): return base
    case UInt8(ascii: "M"): return base * base
    case UInt8(ascii: "G"): return base * base * base
    case UInt8(ascii: "T"): return base * base * base * base
    case UInt8(ascii: "P"): return base * base * base * base * base
    default: return nil
    }
  }
}

/// Amounts of user-defined resources: `2`, `0.5`, or a size.
package enum AmountText {
  enum Reading: Equatable {
    /// In thousandths of a unit or byte.
    case amount(UInt64)
    case tooFine
    case tooLarge
    case none
  }

  /// The largest amount whose thousandths fit in 64 bits.
  static let largest = UInt64.max / 1000

  static func thousandths(_ text: ByteView) -> Reading {
    guard let number = Decimal(text, from: 0) else { return isLong(text) ? .tooLarge : .none }
    guard number.end == text.count else {
      guard let bytes = SizeText.bytes(text) else { return .none }
      let (amount, overflow) = bytes.multipliedReportingOverflow(by: 1000)
      return overflow ? .tooLarge : .amount(amount)
    }
    if let point = text.firstIndex(of: UInt8(ascii: ".")), text.count - point > 4 {
      return .tooFine
    }
    return number.times(1000).map { .amount($0) } ?? .tooLarge
  }

  private static func isLong(_ text: ByteView) -> Bool {
    !text.isEmpty && text.allSatisfy(ASCII.isDigit)
  }
}

private struct Decimal {
  private var whole: UInt64 = 0
  /// The fraction, cut after nine digits.
  private var numerator: UInt64 = 0
  private var denominator: UInt64 = 1
  private(set) var end: Int
  var isWhole: Bool { numerator == 0 }

  init?(_ text: ByteView, from start: Int) {
    end = start
    while end < text.count, ASCII.isDigit(text[end]) {
      guard whole < 1_000_000_000_000_000_000 else { return nil }
      whole = whole * 10 + UInt64(text[end] - 48)
      end += 1
    }
    if end == start { return nil }
    guard end < text.count, text[end] == UInt8(ascii: ".") else { return }
    let fraction = end + 1
    end = fraction
    while end < text.count, ASCII.isDigit(text[end]) {
      if denominator < 1_000_000_000 {
        numerator = numerator * 10 + UInt64(text[end] - 48)
        denominator *= 10
      }
      end += 1
    }
    if end == fraction { return nil }
  }

  /// Rounds up; nil if the product does not fit.
  func times(_ factor: UInt64) -> UInt64? {
    let (product, overflow) = whole.multipliedReportingOverflow(by: factor)
    let wide = numerator.multipliedFullWidth(by: factor)
    guard !overflow, wide.high < denominator else { return nil }
    let (quotient, remainder) = denominator.dividingFullWidth(wide)
    let (sum, overflowed) = product.addingReportingOverflow(quotient + (remainder > 0 ? 1 : 0))
    return overflowed ? nil : sum
  }
}

/// Command-line values with the manifest's syntax.
package enum AskedValues {
  /// A control request may have a word for a number.
  package static func number(_ text: String, of kind: RequestNumber) -> Int64? {
    with(text) { text in
      if let level = kind.words.first(where: { text == $0.word }) { return Int64(level.value) }
      return CoreSchema.integer(text).flatMap { kind.range.contains($0) ? $0 : nil }
    }
  }

  /// Parses an amount in the resource's unit (`ResourceEntry`): a whole number for `cpu` and
  /// `download`, a size for `memory`, else a size or a number with up to three decimals.
  package static func amount(_ text: String, ofResource resource: UInt32) -> UInt64? {
    with(text) { text in
      switch resource {
      case ResourceEntry.memory: return SizeText.bytes(text)
      case ResourceEntry.cpu, ResourceEntry.download:
        guard let number = CoreSchema.integer(text), (0...1_000_000).contains(number) else {
          return nil
        }
        return UInt64(number)
      default:
        guard case .amount(let amount) = AmountText.thousandths(text) else { return nil }
        return amount
      }
    }
  }

  private static func with<Result>(_ text: String, _ body: (ByteView) -> Result) -> Result {
    Array(text.utf8).withUnsafeBytes(body)
  }
}
