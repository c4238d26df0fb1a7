package import OpflowJournal
package import OpflowPlan
package import OpflowWire

package enum EngineStep: Equatable, Sendable {
  /// A line was added to the journal, even if it cannot be written: update views.
  case tell(JournalEntry)
  case began(TaskID, attempt: Int32)
  /// Answered by `launched` and later `workerReady`, or by `launchFailed`.
  case launch(WorkerID, WorkerKind, NodeID)
  /// Send this worker's commands to that client: the worker is one of its slots.
  case slot(WorkerID, ClientID)
  /// The task may still run; answered by `workerLost` once no process is left.
  case discard(WorkerID)
  /// Answered by `retracted` before the next step.
  case retract(Retraction)
  /// Append `unwritten`; answered by `wrote` or `journalFailed` before the next step.
  case write
  /// Answered by `synced` or `journalFailed`.
  case sync(upTo: UInt64, SyncKind)
  /// Its lines are written, and synced if required.
  case send(WorkerID, WorkerMessage)
  /// Its line, if any, is written, and synced if required.
  case answer(ConnectionID, RequestID, RequestAnswer)
  /// No line follows.
  case dismiss
  case finish(CloseEntry)
  /// The last step before another session in this process, which takes over these services.
  case passOn([HeldService])
}

package enum SyncKind: Sendable {
  /// Before any task starts, with all files that a resume reads.
  case first
  /// In the background.
  case grouped
  /// Before the end of the run is reported.
  case last
}

package enum EngineFact: Sendable {
  case scheduler(SchedulerEvent)
  /// The process exists.
  case launched(WorkerID, WorkerEntry)
  case wrote
  case synced(upTo: UInt64)
  case journalFailed
}

/// Decided steps, moved and not copied: a step has a hundred bytes.
final class StepQueue {
  // SAFETY: `base` has room for `capacity` steps; those from `first` to `end` are initialized. Only
  // this type uses it.
  private var base: UnsafeMutablePointer<EngineStep>
  private var capacity: Int
  private var first = 0
  private var end = 0

  init(capacity: Int = 64) {
    base = .allocate(capacity: capacity)
    self.capacity = capacity
  }

  deinit {
    (base + first).deinitialize(count: end - first)
    base.deallocate()
  }

  @inline(__always)
  var isEmpty: Bool { first == end }

  @inline(__always)
  func append(_ step: consuming EngineStep) {
    if end == capacity { makeRoom() }
    (base + end).initialize(to: step)
    end += 1
  }

  @inline(__always)
  func firstIs(_ such: (borrowing EngineStep) -> Bool) -> Bool {
    precondition(first < end)
    return such(base[first])
  }

  @inline(__always)
  func removeFirst() -> EngineStep {
    precondition(first < end)
    let place = base + first
    first += 1
    if first == end { (first, end) = (0, 0) }
    return place.move()
  }

  @inline(never)
  private func makeRoom() {
    let count = end - first
    if first >= capacity / 2 {
      base.moveInitialize(from: base + first, count: count)
    } else {
      let grown = UnsafeMutablePointer<EngineStep>.allocate(capacity: capacity * 2)
      grown.moveInitialize(from: base + first, count: count)
      base.deallocate()
      base = grown
      capacity *= 2
    }
    (first, end) = (0, count)
  }
}

package enum StopCause: Equatable, Sendable {
  case signal(Int32)
  /// `opflow cancel`.
  case request
  case ioError
}

package enum SchedulerEvent: Equatable, Sendable {
  case begin
  case workerReady(WorkerID, WorkerOffer)
  /// The worker ended, sent an invalid message, or was discarded; all its processes are gone,
  /// except those that `survived`.
  case workerLost(WorkerID, complaint: String)
  /// With `isShortage`, processes, descriptors or memory are short and a later launch may succeed.
  case launchFailed(WorkerID, complaint: String, isShortage: Bool = false)
  case started(WorkerID, TaskID, attempt: Int32)
  /// The task's end follows.
  indirect case fetched(WorkerID, TaskID, attempt: Int32, FetchRecord)
  /// The task's end follows.
  case left(WorkerID, TaskID, attempt: Int32, LeftBehind)
  /// The worker's loss follows.
  case survived(WorkerID, LeftBehind)
  /// The task's end follows.
  case value(WorkerID, TaskID, attempt: Int32, TaskValue)
  /// An error in the task's values; its end follows.
  case fault(WorkerID, TaskID, attempt: Int32, detail: String)
  case ended(WorkerID, TaskID, attempt: Int32, Outcome)
  case refused(WorkerID, TaskID, attempt: Int32, errorNumber: Int32, detail: String)
  case revoked(WorkerID, TaskID, attempt: Int32)
  /// The worker cannot create a process now; the task has not started.
  case lacks(WorkerID, TaskID, attempt: Int32, detail: String)
  /// Inputs and outputs are recorded under this origin number; the end follows.
  case recorded(WorkerID, TaskID, attempt: Int32, origin: UInt64)
  /// The success makes nothing up to date; the end follows.
  case discarded(WorkerID, TaskID, attempt: Int32, detail: String)
  case restored(WorkerID, TaskID, attempt: Int32)
  case ready(WorkerID, TaskID, attempt: Int32, ports: [UInt16])
  /// A task returned so many lent tokens.
  case tokens(WorkerID, TaskID, Int32)
  /// The answer about the task follows.
  case keptValue(WorkerID, TaskID, serial: Int32, TaskValue)
  indirect case checked(WorkerID, TaskID, serial: Int32, CheckResult)
  indirect case block(ClientID, ExternalTaskFact)
  case heard(WorkerID)
  /// The coordinator did not run for that long: messages are unread, and silence is ignored.
  case late(nanoseconds: Int64)
  /// `nextWake` has come.
  case timer
  /// Start nothing new, stop running tasks by their stop rules, then run `finally` tasks.
  case stop(StopCause)
  /// The last client of the run has ended: like `stop` by SIGTERM.
  case clientsGone
  /// If only services that stay up are left: end all but these, which pass to the next session.
  case endServices(but: Set<TaskID>)
  case kill
  case suspend
  case proceed
  /// Without an offer, the first worker reports the resources.
  indirect case nodeJoined(NodeID, NodeOffer?, NodeIdentity)
  /// The node is preempted or its time is over: failures there cost nothing.
  case nodeLeaving(NodeID, complaint: String)
  /// Nil if not limited. Near the local node's end the session stops.
  case nodeEnds(NodeID, Instant?)
  /// The connection is lost; processes there may continue until `nodeLost`.
  case nodeSilent(NodeID, complaint: String)
  case nodeLost(NodeID, complaint: String)
  /// Every requested node has joined or will not come; a lost node may come back.
  case nodesKnown
  /// The session stops if waiting tasks have no node in use.
  case nodesExhausted(complaint: String)
  /// Concerns the local node if the resource is `cpu` or `memory`.
  case capacity(resource: Int, UInt64)
  case away(UInt64)
  case prioritise([TaskPriority])
  indirect case request(ControlRequest, from: ConnectionID)
  /// `Engine.answer(toExtension:)` was asked before.
  indirect case extend(RunGrowth)
  indirect case retracted(Retraction)
}

package struct ConnectionID: Hashable, Sendable {
  package let rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

package struct TaskPriority: Equatable, Sendable {
  package var task: TaskID
  package var priority: Int16

  package init(task: TaskID, priority: Int16) {
    self.task = task
    self.priority = priority
  }
}
