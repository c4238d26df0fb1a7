/// A 128-bit hash of everything that a plan was compiled from.
package struct PlanKey: Hashable, Sendable, CustomStringConvertible {
  package var high: UInt64
  package var low: UInt64
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
  package var description: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}
