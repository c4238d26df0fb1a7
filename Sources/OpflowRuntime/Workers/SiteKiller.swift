internal import OpflowCore
internal import OpflowSystem

/// A command that is to end an agent and all below it, which is waited for, but not for ever.
///
/// Whether it did what it was to do is not asked: it may have come too late, and the lease is what counts.
final class SiteKiller {
  private let process: SpawnedProcess
  private let giveUpAt: Instant
  private var hasEnded = false

  private static let patienceMilliseconds: Int64 = 10_000

  /// nil where it cannot be started.
  init?(_ words: [String], complaints: ComplaintFile, at now: Instant) {
    giveUpAt = now.advanced(byMilliseconds: Self.patienceMilliseconds)
    do throws(Errno) {
      let nothing = try File.openNull()
      process = try Program.spawn(
        searching: words, input: nothing.rawValue, output: complaints.rawDescriptor,
        error: complaints.rawDescriptor, options: .newSession)
    } catch {
      return nil
    }
  }

  var rawDescriptor: Int32 { process.descriptor.rawValue }

  /// Returns whether it has ended.
  func reap() -> Bool {
    if hasEnded { return true }
    do throws(Errno) {
      hasEnded = try process.reap() != nil
    } catch {
      // Nobody is there to be reaped.
      hasEnded = true
    }
    return hasEnded
  }

  /// When to go on in any case; nil once it has ended.
  var deadline: Instant? { hasEnded ? nil : giveUpAt }
}
