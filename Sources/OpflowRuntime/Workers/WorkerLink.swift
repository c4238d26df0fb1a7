internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The coordinator's end of one worker: a byte channel and a state. The launcher carries the bytes
/// and ends the worker, a local process with two pipes or one of many behind a node's stream.
///
/// States
/// ------
///
///     launch ──> talking ──> ending ──> forgotten
///
/// - *talking* from launch on, even before the hello: reports are accepted and messages sent.
/// - *ending* once the end was requested (`Launcher.end`) or seen, or the channel was lost. Reports
///   are ignored, even an `ended` in flight, and unsent messages are dropped.
/// - *forgotten* when the launcher reports that all processes of the worker are gone, or after the
///   time limit (`giveUpAt`). Only this reaches the engine (`workerLost`).
///
/// Worker numbers are used once, and a lost worker does not return. Projects that let workers
/// return had
///
/// - a worker that came back because the message to close was lost with its channel
///   (dask/distributed issue 6263);
/// - a scheduler and a worker that disagreed about the worker's tasks (5078, 5103), until returning
///   was removed (6361);
/// - replacements that were started only to be stopped (hashicorp/nomad issue 12680).
///
/// Who holds a task when a channel breaks
/// --------------------------------------
///
/// The engine gives a task to another worker only after `workerLost`, so this worker holds it until
/// it is forgotten. The journal differs:
///
///     broken after                     the journal has   then the task
///     launch, before the hello         nothing           is ready again, at no cost
///     start journaled, message unsent  start             is interrupted: it may have run
///     message sent, unread             start             the same
///     task started, `started` unread   start             the same
///     task ended, `ended` unread       start             the same: it runs again, or fails if
///                                                        `on_interrupted` says so
///     `ended` read                     success, …        no longer belongs to this worker
///     prefetched, in any of these      start, ahead      is ready again
///
/// A task never runs beside its own orphan:
///
/// - A local worker is gone when it was reaped. Its processes were reparented to this process, the
///   subreaper, and are ended before `gone` is reported.
/// - Behind a stream, `gone N` means the same on the agent's machine. If the stream is lost, no
///   `gone` comes: the agent ends its workers at end-of-file, or at the latest when its heartbeat
///   timeout expires; only then are they gone (`Nodes`). A scheduler that reassigns a task after a
///   missed heartbeat runs it twice (hashicorp/nomad issue 2185).
/// - A stream may break in one direction only. A launcher that cannot write, or reads nonsense,
///   closes both.
/// - A loss costs no `retry`. But a task may cause repeated losses of its workers
///   (It4innovations/hyperqueue pull request 449), so the engine counts losses.
final class WorkerLink {
  enum State {
    case talking
    case ending(complaint: String?)
  }

  let id: WorkerID
  let kind: WorkerKind
  let node: Int
  var state = State.talking
  /// While ending: when to stop waiting for the end.
  var giveUpAt = Instant(nanoseconds: .max)
  /// nil before the hello if only the hello can tell.
  var entry: WorkerEntry?

  /// Unread reports. Links of one stream share an inbox, which holds one worker's line at a time.
  let inbox: Inbox
  var outbox = FieldWriter()
  var isListed = false
  /// For a worker of an earlier session: its task's number in that plan and in this plan.
  private(set) var alias: TaskAlias?
  private(set) var secrets: [SecretValue] = []
  /// The worker's number precedes each message.
  fileprivate let isNumbered: Bool

  init(
    id: WorkerID, kind: WorkerKind, node: Int, entry: WorkerEntry?, inbox: Inbox,
    isNumbered: Bool = false
  ) {
    self.id = id
    self.kind = kind
    self.node = node
    self.entry = entry
    self.inbox = inbox
    self.isNumbered = isNumbered
  }

  /// Returns this worker for a further session, where its task has another number.
  func handedOn(to id: WorkerID, as own: TaskID, from earlier: TaskID) -> WorkerLink {
    let link = WorkerLink(id: id, kind: kind, node: node, entry: entry, inbox: inbox)
    link.alias = TaskAlias(own: own, told: alias?.told ?? earlier)
    link.secrets = secrets
    link.outbox = outbox
    return link
  }

  func enqueue(_ message: WorkerMessage) {
    if isNumbered { RelayLines.number(id, into: &outbox) }
    MessageCodec.encode(alias?.told(message) ?? message, into: &outbox)
  }
}

extension WorkerLink {
  /// Sends a secret before any other message, so that the worker masks it from the first byte.
  func enqueue(_ secret: SecretValue) {
    secrets.append(secret)
    for part in SecretPart.parts(of: secret) {
      if isNumbered { RelayLines.number(id, into: &outbox) }
      part.write(to: &outbox)
    }
  }
}

final class Inbox {
  var lines = LineBuffer()
}

extension WorkerLink {
  static func unsendable(_ error: Errno) -> String { "cannot send to it: \(error)" }
}

extension WorkerEntry {
  /// For a worker that another process started, perhaps on another machine; `bootID` is of the
  /// agent's machine.
  init(behindStream hello: WorkerHello, bootID: String) {
    self.init(
      pid: hello.pid, startTime: hello.startTime, bootID: bootID, autogroup: hello.autogroup,
      host: hello.host)
  }
}
