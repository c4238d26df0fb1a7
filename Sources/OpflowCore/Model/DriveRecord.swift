/// A drive of a run, as far as its lines are there.
package struct DriveRecord: Sendable {
  /// From 1.
  package let number: Int
  /// Since the epoch; of one whose first line is lost, when it was heard of first.
  package let begunMilliseconds: Int64
  /// What it was begun by, as far as that said so.
  package let trace: TraceParent?
  /// Tasks whose earlier result it took over.
  package let reused: Int
  /// Since the epoch, and how; nil while it runs, or when it died.
  package internal(set) var close: (milliseconds: Int64, entry: CloseEntry)?
  /// Signals that concerned the run as a whole, in their order.
  package internal(set) var signals: [Signal] = []

  package struct Signal: Sendable {
    /// Since the epoch.
    package let milliseconds: Int64
    package let effect: Effect
  }

  package enum Effect: Sendable, Equatable {
    /// It began to end the drive.
    case stop(signal: Int32)
    /// The coordinator stood still, and went on.
    case pause, proceed
  }

  init(_ number: Int, at milliseconds: Int64, trace: TraceParent? = nil, reused: Int = 0) {
    self.number = number
    begunMilliseconds = milliseconds
    self.trace = trace
    self.reused = reused
  }

  /// Of more a journal tells that no program wrote.
  private static let mostSignals = 1000

  mutating func note(_ effect: Effect, at milliseconds: Int64) {
    if signals.count >= Self.mostSignals { return }
    signals.append(Signal(milliseconds: milliseconds, effect: effect))
  }
}
