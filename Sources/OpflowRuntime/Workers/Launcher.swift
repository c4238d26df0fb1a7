internal import OpflowCore
internal import OpflowSystem

/// Starts, connects and ends the workers of one node, so that the coordinator need not know
/// transports.
///
/// No method is called per message: the coordinator itself fills `WorkerLink.outbox` and reads
/// `WorkerLink.inbox`.
protocol Launcher: AnyObject {
  /// Starts a worker, or requests one, without waiting for it.
  func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(LaunchFailure) -> WorkerLink

  /// Returns the next event at `place`, which is ready; nil if there is none for now. The caller
  /// handles all reports of a link before it calls again.
  func next(at place: UInt32) -> LinkNews?

  /// Sends the outbox as far as there is room.
  ///
  /// - Throws: An error that makes the link useless. A reader that is gone is not one: `next`
  ///   reports it.
  func send(to link: WorkerLink) throws(Errno)

  /// Kills a worker and all processes below it. Unsent messages are dropped.
  ///
  /// - Returns: The time by which `next` must report its end; after that call `giveUp`.
  func end(_ link: WorkerLink, at now: Instant) -> Instant

  /// Gives up on a worker whose end was not reported in time; it then counts as gone.
  ///
  /// - Returns: Warnings for the user.
  func giveUp(_ link: WorkerLink) -> [String]

  /// Stops listening to a worker that the next session of this process takes over.
  func release(_ link: WorkerLink)

  func regain(_ link: WorkerLink)

  /// Kills all workers, none of which has a task yet.
  func endAll()

  func cleanUp()
}

struct LaunchFailure: Error {
  let what: String
  /// It may be possible in a moment.
  var isShortage = false

  static func naming<Result: ~Copyable>(
    _ what: String, _ body: () throws(Errno) -> Result
  ) throws(LaunchFailure) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw LaunchFailure(what: "\(what): \(error)", isShortage: error.isShortage)
    }
  }
}

enum LinkNews {
  /// The worker's inbox has more.
  case spoke(WorkerLink)
  /// The worker's channel is lost, though it may live. `complaint` is what it printed, or nil.
  case silent(WorkerLink, complaint: String?)
  /// The worker and all processes below it, except the survivors, are gone. `complaint` is the
  /// known cause, or nil.
  case gone(WorkerLink, complaint: String?, warnings: [String], survivors: LeftBehind?)
  /// The agent behind a stream said hello.
  case joined(RelayLauncher, AgentHello)
  /// A sign of life of a stream, without other meaning.
  case heard
  /// The agent is ending its workers, for this reason.
  case leaving(RelayLauncher, String)
  /// The stream is lost, and with it the channels of all its workers, though they may live.
  case lost(RelayLauncher, String)
}
