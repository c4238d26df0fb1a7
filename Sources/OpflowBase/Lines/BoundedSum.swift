extension FixedWidthInteger {
  /// A saturating sum: numbers in a journal are untrusted and must not trap a view.
  package func plus(_ other: Self) -> Self {
    let (sum, isTooMuch) = addingReportingOverflow(other)
    return !isTooMuch ? sum : other < 0 ? .min : .max
  }

  package func minus(_ other: Self) -> Self {
    let (difference, isTooMuch) = subtractingReportingOverflow(other)
    return !isTooMuch ? difference : other < 0 ? .max : .min
  }
}
