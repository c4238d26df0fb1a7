internal import OpflowCore
internal import OpflowSystem

/// Starts, carries and ends the workers of one site, by whatever reaches that: the coordinator knows no
/// transports.
///
/// Its descriptors are in the drive's `Watch`, as those of its site. Nothing here is called for each
/// message: orders gather in `WorkerLink.outbox`, and reports are taken out of `WorkerLink.inbox`, by
/// the coordinator itself.
protocol Launcher: AnyObject {
  /// Starts a worker, or asks for one, without waiting for it.
  func launch(_ worker: WorkerID, _ kind: WorkerKind) throws(LaunchFailure) -> WorkerLink

  /// What there is to hear where `place` is ready, one thing after the other; nil: no more for now.
  /// What a link has said is taken before the next one is asked for.
  func next(at place: UInt32) -> LinkNews?

  /// Sends what is in its outbox, as far as there is room; the rest follows by itself.
  ///
  /// - Throws: what makes the link useless. That nobody reads any more does not: `next` tells it.
  func send(to link: WorkerLink) throws(Errno)

  /// Ends a worker at once, and all below it. What it is still to be told is dropped.
  ///
  /// - Returns: until when `next` is to tell that it is gone; `giveUp` follows.
  func end(_ link: WorkerLink, at now: Instant) -> Instant

  /// It was not told to be gone. From now on it counts as that.
  ///
  /// - Returns: what is to be told of it.
  func giveUp(_ link: WorkerLink) -> [String]

  /// Nobody listens to a worker any more, until a further drive of this process does.
  func release(_ link: WorkerLink)

  /// Listens to it after all.
  func regain(_ link: WorkerLink)

  /// Ends all workers, which were given nothing to do yet.
  func endAll()

  /// No worker is left.
  func cleanUp()
}

/// Why there is no worker, in words for a person.
struct LaunchFailure: Error {
  let what: String

  /// What `body` gives, or a failure that names what was attempted.
  static func naming<Result: ~Copyable>(
    _ what: String, _ body: () throws(Errno) -> Result
  ) throws(LaunchFailure) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw LaunchFailure(what: "\(what): \(error)")
    }
  }
}

/// What a launcher has heard.
enum LinkNews {
  /// Its inbox has more.
  case spoke(WorkerLink)
  /// Nothing more will be heard of it, though it may live. What it said for a reason, or nil.
  case silent(WorkerLink, complaint: String?)
  /// It is gone, and so is all below it but the survivors. What is known of why, or nil.
  case gone(WorkerLink, complaint: String?, warnings: [String], survivors: LeftBehind?)
  /// Of a stream: the agent behind it is there.
  case joined(RelayLauncher, AgentHello)
  /// Of a stream: a sign of life that says nothing else.
  case heard
  /// Of a stream: the agent ends its workers; why, for people.
  case leaving(RelayLauncher, String)
  /// Of a stream: nothing more will be heard of any of its workers, though they may live.
  case lost(RelayLauncher, String)
}
