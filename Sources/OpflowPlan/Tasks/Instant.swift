/// A time of the monotonic clock, from an arbitrary start.
package struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var nanoseconds: Int64
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  package func advanced(byMilliseconds milliseconds: Int64) -> Instant {
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? Instant(nanoseconds: .max) : advanced(byNanoseconds: product)
  }

  package func advanced(byMicroseconds microseconds: Int64) -> Instant {
    let (product, overflow) = microseconds.multipliedReportingOverflow(by: 1000)
    return overflow ? Instant(nanoseconds: .max) : advanced(byNanoseconds: product)
  }

  package func advanced(byNanoseconds count: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(count)
    return Instant(nanoseconds: overflow ? .max : sum)
  }
}
