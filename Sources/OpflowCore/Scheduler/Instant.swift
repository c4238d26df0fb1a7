/// A moment of the monotonic clock, in nanoseconds from a start that means nothing.
package struct Instant: Hashable, Comparable, Sendable, BitwiseCopyable {
  package var nanoseconds: Int64
  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  package func advanced(byMilliseconds milliseconds: Int64) -> Instant {
    let (product, overflow) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
    if overflow { return Instant(nanoseconds: .max) }
    let (sum, overflowed) = nanoseconds.addingReportingOverflow(product)
    return Instant(nanoseconds: overflowed ? .max : sum)
  }
}
