internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// Starts, connects and ends the workers of one node. Messages need no call: the coordinator fills
/// `WorkerLink.outbox` and reads `WorkerLink.inbox`.
protocol Launcher: AnyObject {
  /// Does not wait for the worker.
  func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(LaunchFailure) -> WorkerLink

  /// The next event at `place`, which is ready. The caller handles all reports of a link before it
  /// calls again.
  func next(at place: UInt32) -> LinkNews?

  /// Sends the outbox as far as there is room. An error makes the link useless. A reader that is
  /// gone is not an error: `next` reports it.
  func send(to link: WorkerLink) throws(Errno)

  /// Kills a worker and all processes below it; drops unsent messages. Returns when to call
  /// `giveUp` unless `next` has reported its end.
  func end(_ link: WorkerLink, at now: Instant) -> Instant

  /// A worker whose end was not reported in time counts as gone. Returns warnings.
  func giveUp(_ link: WorkerLink) -> [String]

  /// The next session of this process takes the worker over.
  func release(_ link: WorkerLink)

  func regain(_ link: WorkerLink)

  /// No worker has a task yet.
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
  /// The channel is lost, though the worker may live. `complaint` is what it printed.
  case silent(WorkerLink, complaint: String?)
  /// The worker and all processes below it, except the survivors, are gone. `complaint` is the
  /// known cause.
  case gone(WorkerLink, complaint: String?, warnings: [String], survivors: LeftBehind?)
  /// The agent behind a stream said hello.
  case joined(RelayLauncher, AgentHello)
  /// A sign of life without other meaning.
  case heard
  /// The agent is ending its workers, for this reason.
  case leaving(RelayLauncher, String)
  /// The stream is lost, and with it the channels of all its workers, though they may live.
  case lost(RelayLauncher, String)
}
