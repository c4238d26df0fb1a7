internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// Holds back the report of a bad end, and all that follow, for a moment in a Slurm step. When a
/// job is cancelled, preempted or out of time, Slurm sends SIGTERM to every process of the step in
/// turn. Tasks ended by that must not count as failed, so an agent that gets the signal last
/// reports first that it is leaving.
struct AgentDoubt {
  private let isStep: Bool
  private var held = FieldWriter()
  private(set) var end: Instant?

  init(isStep: Bool = Environment.value("SLURM_STEP_ID") != nil) { self.isStep = isStep }

  /// Far longer than Slurm needs to signal all processes.
  private static let milliseconds: Int64 = 250

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
