package import OpflowPlan

package struct DriveRecord: Sendable {
  package let number: Int
  /// Since the epoch; of its first known line if the first is lost.
  package let begunMilliseconds: Int64
  package let trace: TraceParent?
  package let reused: Int
  /// Since the epoch; nil while it runs or if it died.
  package internal(set) var close: (milliseconds: Int64, entry: CloseEntry)?
  package internal(set) var signals: [Signal] = []

  package struct Signal: Sendable {
    package let milliseconds: Int64
    package let effect: Effect
  }

  package enum Effect: Sendable, Equatable {
    case stop(signal: Int32)
    case pause, proceed
  }

  package init(_ number: Int, at milliseconds: Int64, trace: TraceParent? = nil, reused: Int = 0) {
    self.number = number
    begunMilliseconds = milliseconds
    self.trace = trace
    self.reused = reused
  }

  /// Bounds the memory for a forged journal.
  private static let mostSignals = 1000

  mutating func note(_ effect: Effect, at milliseconds: Int64) {
    if signals.count >= Self.mostSignals { return }
    signals.append(Signal(milliseconds: milliseconds, effect: effect))
  }
}
