/// The numbers that keys take, for their readers and their rows alike.
enum KeyBounds {
  static var maxParallel: ClosedRange<Int64> { 1...1_000_000 }
  static var maxFailures: ClosedRange<Int64> { 0...1_000_000_000 }
  static var keepRuns: ClosedRange<Int64> { 1...1_000_000 }
  static var retries: ClosedRange<Int64> { 0...1_000_000 }
  static var backoff: ClosedRange<Double> { 1...1000 }
  static var jitter: ClosedRange<Double> { 0...1 }
  /// 0 is no failure.
  static var exitCode: ClosedRange<Int64> { 1...255 }
  static var priority: ClosedRange<Int64> { -1000...1000 }
  static var port: ClosedRange<Int64> { 1...65535 }
  static var signal: ClosedRange<Int64> { 1...64 }
  /// Of a range of a matrix, on either side.
  static var axis: ClosedRange<Int64> { -1_000_000_000_000_000...1_000_000_000_000_000 }
}
