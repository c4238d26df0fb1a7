import OpflowBase
import OpflowDownload
import OpflowPlan
import OpflowWire
import OpflowWorker

/// The plan of a drive as it is by now, for those that open it when they need it.
final class PlanSource: @unchecked Sendable {
  // SAFETY: @unchecked, because a life is lived by one thread.
  var plan: Plan
  /// By number, those that are still to be added among them.
  var tasks: [SimulatedManifest.Task]
  init(_ plan: Plan, _ tasks: [SimulatedManifest.Task]) {
    self.plan = plan
    self.tasks = tasks
  }
}

/// A worker with the real one's decisions, over imagined processes or transfers.
struct SimulatedWorker {
  enum Phase {
    /// It has yet to say hello.
    case launching
    case talking
    /// It was stopped: it does nothing, and cannot know that it does nothing.
    case frozen
    /// It was killed, or has left; what it said before is still to be read, and what ran below it
    /// has yet to be ended.
    case dead
    /// The coordinator has done with it: nothing of it is left.
    case gone
  }

  private(set) var id: WorkerID
  let kind: WorkerKind
  let node: NodeID
  var phase = Phase.launching
  /// Messages that it has not read, and since when there have been some all the time.
  private(set) var inbox: [WorkerMessage] = []
  private(set) var behindSince: Instant?
  /// Of services, as it was told since it was told to start something.
  var ports: [TaskID: [UInt16]] = [:]
  /// Of a task with a jobserver, as it was told before its start.
  var tokens: (task: TaskID, own: Int32)?
  /// Reports that nobody has read.
  var outbox: [WorkerReport] = []
  // Of which the one of its kind is used.
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

  /// The same worker, by its number in the drive that follows.
  func handedOn(to id: WorkerID) -> SimulatedWorker {
    var worker = self
    worker.id = id
    return worker
  }

  /// When it does something though nothing happens to it; nil for never.
  var deadline: Instant? {
    switch kind {
    case .command, .terminal, .service: commands.state.deadline
    case .download: downloads.state.deadline
    case .check, .block: nil
    }
  }

  /// It is killed, and nobody reads what it said.
  mutating func die() {
    phase = .dead
    outbox.removeAll()
  }

  /// Tells a command worker a fact.
  ///
  /// - Returns: how a tree of its ended, where the event ended one.
  mutating func tell(_ event: WorkerEvent, at now: Instant) -> [SimulatedTree.End] {
    let (ends, leaves) = commands.tell(event, at: now, into: &outbox)
    if leaves { phase = .dead }
    return ends
  }

  /// Tells a download worker a fact.
  mutating func tell(
    _ event: DownloadWorkerEvent, at now: Instant
  ) throws(Finding) -> [SimulatedDownloads.Sight] {
    try downloads.tell(event, at: now, into: &outbox)
  }

  /// It has left, or was killed, and nothing of its own is left.
  mutating func forgetTasks() {
    commands.tree = nil
    downloads.transfers = []
  }

  /// The next report, as its line says it.
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
