internal import OpflowPlan
internal import OpflowSystem

/// A command that ends an agent after its stream is lost, for agents that are stopped and cannot
/// react to the heartbeat timeout. opflow waits for it, within a limit. Its success is not checked,
/// since only the timeout counts. Slurm takes twelve seconds to notice that a node has lost its
/// network; the command continues by itself.
final class SiteKiller {
  let process: StartedProcess
  private let giveUpAt: Instant

  private static let patienceMilliseconds: Int64 = 3_000

  init?(_ words: [String], complaints: ComplaintFile, at now: Instant) {
    giveUpAt = now.advanced(byMilliseconds: Self.patienceMilliseconds)
    do throws(Errno) {
      let nothing = try File.openNull()
      process = StartedProcess(
        try Program.spawn(
          searching: words, input: nothing.rawValue, output: complaints.rawDescriptor,
          error: complaints.rawDescriptor, options: .newSession))
    } catch {
      return nil
    }
  }

  /// nil once it has ended.
  var deadline: Instant? { process.hasEnded ? nil : giveUpAt }
}
