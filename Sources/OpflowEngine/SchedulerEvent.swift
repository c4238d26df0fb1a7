package import OpflowPlan
package import OpflowWire

package enum StopCause: Equatable, Sendable {
  /// To the coordinator, by number.
  case signal(Int32)
  /// `opflow cancel`.
  case request
  /// The journal or an output cannot be written.
  case ioError
}

package enum SchedulerEvent: Equatable, Sendable {
  /// Comes first, once.
  case begin
  /// It said hello.
  case workerReady(WorkerID, WorkerOffer)
  /// It ended, sent an invalid message, or was discarded; all its processes are gone, except those
  /// that `survived`.
  case workerLost(WorkerID, complaint: String)
  /// With `isShortage`, processes, descriptors or memory are short and a later launch may succeed.
  case launchFailed(WorkerID, complaint: String, isShortage: Bool = false)
  case started(WorkerID, TaskID, attempt: Int32)
  /// Details of a download; the task's end follows.
  indirect case fetched(WorkerID, TaskID, attempt: Int32, FetchRecord)
  /// A task left them behind; its end follows.
  case left(WorkerID, TaskID, attempt: Int32, LeftBehind)
  /// They could not be killed; the worker's loss follows.
  case survived(WorkerID, LeftBehind)
  /// A value for other tasks; the task's end follows.
  case value(WorkerID, TaskID, attempt: Int32, TaskValue)
  /// An error in its values; its end follows.
  case fault(WorkerID, TaskID, attempt: Int32, what: String)
  case ended(WorkerID, TaskID, attempt: Int32, Outcome)
  case refused(WorkerID, TaskID, attempt: Int32, errorNumber: Int32, what: String)
  case revoked(WorkerID, TaskID, attempt: Int32)
  /// It cannot create a process now; the task has not started.
  case lacks(WorkerID, TaskID, attempt: Int32, what: String)
  /// Inputs and outputs are recorded under this origin number; the end follows.
  case recorded(WorkerID, TaskID, attempt: Int32, origin: UInt64)
  /// The success makes nothing up to date; the end follows.
  case unkept(WorkerID, TaskID, attempt: Int32, what: String)
  /// From a cache; the end follows.
  case restored(WorkerID, TaskID, attempt: Int32)
  case ready(WorkerID, TaskID, attempt: Int32, ports: [UInt16])
  /// A task returned that many lent tokens.
  case tokens(WorkerID, TaskID, Int32)
  /// Of a task that may be up to date; the answer follows.
  case keptValue(WorkerID, TaskID, serial: Int32, TaskValue)
  /// The answer to an up-to-date check.
  indirect case checked(WorkerID, TaskID, serial: Int32, CheckResult)
  /// From a client with external tasks.
  indirect case block(HostID, BlockFact)
  /// Without content.
  case heard(WorkerID)
  /// The coordinator did not run for that long: messages are unread, and silence does not count.
  case late(nanoseconds: Int64)
  /// `nextWake` has come.
  case timer
  /// Start nothing new, stop running tasks by their stop rules, then run `finally` tasks.
  case stop(StopCause)
  /// The last client of the run has ended: like `stop` by SIGTERM.
  case hostsGone
  /// If only services that stay up are left: end all but these, which pass to the next session.
  case endServices(but: Set<TaskID>)
  case kill
  /// Stop all process trees until `proceed`.
  case suspend
  case proceed
  /// The next node by number; nil: its first worker reports the resources.
  indirect case siteJoined(SiteID, SiteOffer?, SiteIdentity)
  /// It is preempted or its time is over: failures there cost nothing.
  case siteLeaving(SiteID, complaint: String)
  /// Nil: not limited. Near the local node's end the session stops.
  case siteEnds(SiteID, Instant?)
  /// The connection is lost; processes there may go on until `siteLost`.
  case siteSilent(SiteID, complaint: String)
  /// With all its processes.
  case siteLost(SiteID, complaint: String)
  /// Every requested node has joined or will not come; a lost one may come back.
  case sitesKnown
  /// The session stops if waiting tasks have no node in use.
  case sitesExhausted(complaint: String)
  /// `cpu` and `memory`: of the local node.
  case capacity(resource: Int, UInt64)
  /// The local `cpu` that other runs use.
  case away(UInt64)
  case prioritise([TaskPriority])
  /// Answered by `answer`.
  indirect case order(Order, from: ClientID)
  /// The caller has asked `Engine.answer(toExtension:)` before; answered by `answer`.
  indirect case extend(RunGrowth)
  /// The answer to `EngineStep.withdraw`.
  indirect case withdrawn(Withdrawal)
}

/// A requester that waits for an answer.
package struct ClientID: Hashable, Sendable {
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
