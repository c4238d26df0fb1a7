/// The ranges of numbers, for readers and key tables.
enum KeyBounds {
  static var maxParallel: ClosedRange<Int64> { 1...1_000_000 }
  static var maxFailures: ClosedRange<Int64> { 0...1_000_000_000 }
  static var keepRuns: ClosedRange<Int64> { 1...1_000_000 }
  static var retries: ClosedRange<Int64> { 0...1_000_000 }
  static var backoff: ClosedRange<Double> { 1...1000 }
  static var jitter: ClosedRange<Double> { 0...1 }
  /// 0 is success.
  static var exitCode: ClosedRange<Int64> { 1...255 }
  static var priority: ClosedRange<Int64> { -1000...1000 }
  static var port: ClosedRange<Int64> { 1...65535 }
  static var signal: ClosedRange<Int64> { 1...64 }
  /// The bounds of a `range`.
  static var axis: ClosedRange<Int64> { -1_000_000_000_000_000...1_000_000_000_000_000 }
}
