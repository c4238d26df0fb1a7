/// What names a plan: 128 bits over all that it was compiled from.
package struct PlanKey: Hashable, Sendable, CustomStringConvertible {
  package var high: UInt64
  package var low: UInt64
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }
  /// 32 hexadecimal digits.
  package var description: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}
