import OpflowBase
import OpflowDownload
import OpflowPlan
import OpflowWire
import OpflowWorker

/// The current plan of a session, for workers that open it on demand.
final class PlanSource: @unchecked Sendable {
  // SAFETY: @unchecked, because one thread simulates a run.
  var plan: Plan
  /// By number, including tasks that have yet to be added.
  var tasks: [SimulatedManifest.Task]
  init(_ plan: Plan, _ tasks: [SimulatedManifest.Task]) {
    self.plan = plan
    self.tasks = tasks
  }
}

/// A worker with the real decisions and simulated processes or transfers.
struct SimulatedWorker {
  enum Phase {
    /// It has yet to say hello.
    case launching
    case talking
    /// It was stopped with a signal, without noticing.
    case frozen
    /// It was killed or has left; its reports are unread, and its processes still run.
    case dead
    /// The coordinator has forgotten it.
    case gone
  }

  private(set) var id: WorkerID
  let kind: WorkerKind
  let node: NodeID
  var phase = Phase.launching
  /// Unread messages, and since when there have always been some.
  private(set) var inbox: [WorkerMessage] = []
  private(set) var behindSince: Instant?
  /// Ports of services, from messages since its last start.
  var ports: [TaskID: [UInt16]] = [:]
  /// The tokens of a task with a jobserver, from the message before its start.
  var tokens: (task: TaskID, own: Int32)?
  /// Unread reports.
  var outbox: [WorkerReport] = []
  // Only the one of its kind is used.
  var commands: SimulatedCommands
  var downloads: SimulatedDownloads

  init(
    id: WorkerID, kind: WorkerKind, node: NodeID, plan: PlanSource
  ) {
    self.id = id
    self.kind = kind
    self.node = node
    commands = SimulatedCommands(plan)
    downloads = SimulatedDownloads(plan)
  }

  /// Returns the same worker with its number in the next session.
  func handedOn(to id: WorkerID) -> SimulatedWorker {
    var worker = self
    worker.id = id
    return worker
  }

  /// The time of its next own action, or nil.
  var deadline: Instant? {
    switch kind {
    case .command, .terminal, .service: commands.state.deadline
    case .download: downloads.state.deadline
    case .check, .block: nil
    }
  }

  /// Kills it and drops its unread reports.
  mutating func die() {
    phase = .dead
    outbox.removeAll()
  }

  /// Passes an event to a command worker and returns the trees that the event ended.
  mutating func tell(_ event: WorkerEvent, at now: Instant) -> [SimulatedTree.End] {
    let (ends, leaves) = commands.tell(event, at: now, into: &outbox)
    if leaves { phase = .dead }
    return ends
  }

  /// Passes an event to a download worker.
  mutating func tell(
    _ event: DownloadWorkerEvent, at now: Instant
  ) throws(Finding) -> [SimulatedDownloads.Sight] {
    try downloads.tell(event, at: now, into: &outbox)
  }

  /// Forgets its tasks after it has left or was killed.
  mutating func forgetTasks() {
    commands.tree = nil
    downloads.transfers = []
  }

  /// Takes the next report, through the codec if `overWire`.
  mutating func takeReport(overWire: Bool) throws(Finding) -> WorkerReport {
    let report = outbox.removeFirst()
    guard overWire else { return report }
    var writer = FieldWriter()
    MessageCodec.encode(report, into: &writer)
    let decoded = writer.bytes.withUnsafeBytes {
      MessageCodec.report(UnsafeRawBufferPointer(rebasing: $0.dropLast()))
    }
    guard decoded == report else { throw Finding("the wire turned \(report) into another report") }
    return report
  }

  mutating func receive(_ message: WorkerMessage, at now: Instant) {
    if inbox.isEmpty { behindSince = now }
    inbox.append(message)
  }

  mutating func takeMessage(overWire: Bool) throws(Finding) -> WorkerMessage {
    let message = inbox.removeFirst()
    if inbox.isEmpty { behindSince = nil }
    guard overWire else { return message }
    var writer = FieldWriter()
    MessageCodec.encode(message, into: &writer)
    let decoded = writer.bytes.withUnsafeBytes {
      MessageCodec.message(UnsafeRawBufferPointer(rebasing: $0.dropLast()))
    }
    guard decoded == message else {
      throw Finding("the wire turned \(message) into another message")
    }
    return message
  }
}
