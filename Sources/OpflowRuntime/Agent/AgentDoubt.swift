internal import OpflowCore
internal import OpflowSystem

/// What an agent in a step of Slurm has heard, and does not say for a moment: that something ended
/// badly, and all that came after it.
///
/// Slurm sends TERM to every process of a step when its job is cancelled, preempted or out of time, to
/// tasks and workers too, and one after the other. What ends of that is not to count as a failure, and
/// the agent does not know before its own turn comes: then it says first that it leaves.
struct AgentDoubt {
  private let isStep: Bool
  private var held = FieldWriter()
  /// When it is over; nil where there is none.
  private(set) var end: Instant?

  /// - Parameter isStep: whether Slurm has the agent.
  init(isStep: Bool = Environment.value("SLURM_STEP_ID") != nil) { self.isStep = isStep }

  /// Many times what Slurm needs to get round, and little beside what a failure costs.
  private static let milliseconds: Int64 = 250

  /// Holds back what stands behind `start`, where that is bad or follows something bad.
  mutating func take(
    from start: Int, of output: inout FieldWriter, isBad: Bool, at now: Instant
  ) {
    guard isStep, isBad || end != nil else { return }
    if end == nil { end = now.advanced(byMilliseconds: Self.milliseconds) }
    output.moveEnd(from: start, to: &held)
  }

  mutating func release(into output: inout FieldWriter) {
    output.append(held)
    held.removeAll()
    end = nil
  }
}
