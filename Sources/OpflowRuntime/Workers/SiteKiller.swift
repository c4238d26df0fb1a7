internal import OpflowCore
internal import OpflowSystem

/// A command that is to end an agent and all below it, which is waited for, but not for ever.
///
/// Whether it did what it was to do is not asked: it may have come too late, and the lease is what counts. It is for
/// agents that do not heed theirs since they are stopped. Slurm takes twelve seconds to find that a node has no network, and
/// whoever has none hears of no order either; the command goes on by itself.
final class SiteKiller {
  let process: StartedProcess
  private let giveUpAt: Instant

  private static let patienceMilliseconds: Int64 = 3_000

  /// nil where it cannot be started.
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

  /// When to go on in any case; nil once it has ended.
  var deadline: Instant? { process.hasEnded ? nil : giveUpAt }
}
