extension FixedWidthInteger {
  /// The sum, or the number of the type that is next to it: numbers of a journal are nobody's promise, and a
  /// view of one that adds them up must come to its end.
  func plus(_ other: Self) -> Self {
    let (sum, isTooMuch) = addingReportingOverflow(other)
    return !isTooMuch ? sum : other < 0 ? .min : .max
  }

  /// The difference, likewise.
  func minus(_ other: Self) -> Self {
    let (difference, isTooMuch) = subtractingReportingOverflow(other)
    return !isTooMuch ? difference : other < 0 ? .max : .min
  }
}
