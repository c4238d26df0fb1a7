extension FixedWidthInteger {
  /// A saturating sum. Numbers in a journal are untrusted, and a view that adds them up must not
  /// trap.
  package func plus(_ other: Self) -> Self {
    let (sum, isTooMuch) = addingReportingOverflow(other)
    return !isTooMuch ? sum : other < 0 ? .min : .max
  }

  package func minus(_ other: Self) -> Self {
    let (difference, isTooMuch) = subtractingReportingOverflow(other)
    return !isTooMuch ? difference : other < 0 ? .max : .min
  }
}
