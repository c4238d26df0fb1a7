internal import OpflowCore
internal import OpflowSystem

/// The coordinator's end of one worker: a channel of bytes and a life. Who carries the bytes and ends
/// the life is its launcher; that may be a process of this machine with two pipes, or one of many behind
/// a stream to another machine.
///
/// States
/// ------
///
///     launch ──> talking ──> ending ──> forgotten
///
/// - *talking* from its launch on, before its hello too: what it says is believed, what is ordered is sent.
/// - *ending* once its end was ordered (`Launcher.end`), seen, or its channel was lost. Nothing that it
///   says counts any more, not even an `ended` that was on its way, and what was not sent to it is
///   dropped.
/// - *forgotten* when its launcher says that it and all below it are gone, or when that was waited for
///   long enough (`giveUpAt`). Only this is told to the engine (`workerLost`).
///
/// There is no way back: a number is given once, and a worker that was lost does not return, whatever
/// becomes of its channel. Those who let workers come back met, one after the other, a worker that came
/// back after it was told to close because the word was dropped with its channel (dask/distributed issue
/// 6263), a scheduler and a worker with two opinions of what the worker holds (5078, 5103) until coming
/// back was taken out (6361), and replacements that were started only to be stopped (hashicorp/nomad issue
/// 12680).
///
/// Who holds a task when a channel dies
/// ------------------------------------
///
/// The engine gives a task to nobody else before `workerLost`. So the answer is always "this worker,
/// until it is forgotten"; what differs is what the journal says then.
///
///     died after                          the journal has    then the task
///     launch, before the hello            nothing            is ready again; it costs nothing
///     start was journaled, order unsent   start              is interrupted: whether it ran, nobody knows
///     order sent, not read                start              the same
///     task started, `started` unread      start              the same
///     task ended, `ended` unread          start              the same: it runs again, or fails where
///                                                            `on_interrupted` says so
///     `ended` read                        success, …         is no longer this worker's
///     handed ahead, in any of these       start, ahead       is ready again
///
/// Why no task runs beside its own orphan:
///
/// - A process of this machine is gone when its end was reaped; what was below it has come to this process,
///   its subreaper, and is ended before `gone` is told.
/// - Behind a stream, `gone N` says the same of the agent's machine. When the stream dies, no `gone` comes.
///   The agent ends its workers by itself when it sees the end of the stream, or at the latest when its
///   lease runs out; they count as gone only after that (`Sites`). A
///   scheduler that hands a task on as soon as it misses a sign of life runs it twice (hashicorp/nomad
///   issue 2185).
/// - The stream may die in one direction alone. A launcher that can no longer write, or reads what makes
///   no sense, closes both, so that the agent sees it.
/// - A loss says nothing of the task: it costs no `retry`. But a task whose workers are lost again and
///   again may be why (It4innovations/hyperqueue pull request 449): the engine counts that.
final class WorkerLink {
  enum State {
    case talking
    /// Why, where anything is known.
    case ending(complaint: String?)
  }

  let id: WorkerID
  let kind: WorkerKind
  /// The number of its launcher.
  let site: Int
  var state = State.talking
  /// While it is ending: when to go on without having heard that it is gone.
  var giveUpAt = Instant(nanoseconds: .max)
  /// For the journal, with its machine; nil before its hello where only that tells.
  var entry: WorkerEntry?

  /// What it has begun to say. Links of one stream share one, since they speak one after the other.
  let inbox: Inbox
  /// Encoded orders that were not handed to the kernel.
  var outbox = FieldWriter()
  /// It is listed among those that have orders which are not sent yet.
  var isListed = false
  /// Of one that an earlier drive launched: its task, by the plan of that and of this one.
  private(set) var alias: TaskAlias?
  /// What it was told.
  private(set) var secrets: [SecretValue] = []
  /// Its number stands before each of its orders.
  fileprivate let isNumbered: Bool

  init(
    id: WorkerID, kind: WorkerKind, site: Int, entry: WorkerEntry?, inbox: Inbox,
    isNumbered: Bool = false
  ) {
    self.id = id
    self.kind = kind
    self.site = site
    self.entry = entry
    self.inbox = inbox
    self.isNumbered = isNumbered
  }

  /// The same worker in a further drive, which has its task by another number.
  func handedOn(to id: WorkerID, as own: TaskID, from earlier: TaskID) -> WorkerLink {
    let link = WorkerLink(id: id, kind: kind, site: site, entry: entry, inbox: inbox)
    link.alias = TaskAlias(own: own, told: alias?.told ?? earlier)
    link.secrets = secrets
    link.outbox = outbox
    return link
  }

  func enqueue(_ order: WorkerOrder) {
    if isNumbered { RelayLines.number(id, into: &outbox) }
    MessageCodec.encode(alias?.told(order) ?? order, into: &outbox)
  }
}

extension WorkerLink {
  /// Before any order: what it writes is without it from the first byte on.
  func enqueue(_ secret: SecretValue) {
    secrets.append(secret)
    for part in SecretPart.parts(of: secret) {
      if isNumbered { RelayLines.number(id, into: &outbox) }
      part.write(to: &outbox)
    }
  }
}

/// Where what workers say is gathered to lines.
final class Inbox {
  var lines = LineBuffer()
}

extension WorkerLink {
  static func unsendable(_ error: Errno) -> String { "orders could not be sent to it: \(error)" }
}

extension WorkerEntry {
  /// Of a worker that another process started, perhaps on another machine. When it started nobody here
  /// knows, so that its number never stands for a process of this one.
  init(behindStream hello: WorkerHello) {
    self.init(
      pid: hello.pid, startTime: 0, bootID: "",
      host: hello.host == Machine.hostName ? "" : hello.host)
  }
}
