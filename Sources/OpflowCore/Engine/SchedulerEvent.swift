/// The cause of a stop.
package enum StopCause: Equatable, Sendable {
  /// A signal to the coordinator, by number.
  case signal(Int32)
  /// `opflow cancel`.
  case request
  /// The journal or an output cannot be written.
  case ioError
}

/// A fact for the scheduler.
package enum SchedulerEvent: Equatable, Sendable {
  /// The session begins. Comes first, once.
  case begin
  /// A launched worker said hello.
  case workerReady(WorkerID, WorkerOffer)
  /// A worker and all its processes are gone, except those that `survived`: it ended, sent an
  /// invalid message, or was discarded.
  case workerLost(WorkerID, complaint: String)
  /// A launch failed. With `isShortage`, processes, descriptors or memory are short and a later
  /// launch may succeed.
  case launchFailed(WorkerID, complaint: String, isShortage: Bool = false)
  case started(WorkerID, TaskID, attempt: Int32)
  /// The details of a download; its end follows.
  indirect case fetched(WorkerID, TaskID, attempt: Int32, FetchRecord)
  /// Processes left behind by a task; its end follows.
  case left(WorkerID, TaskID, attempt: Int32, LeftBehind)
  /// Processes of a worker that could not be killed; its loss follows.
  case survived(WorkerID, LeftBehind)
  /// A value for other tasks; the task's end follows.
  case value(WorkerID, TaskID, attempt: Int32, TaskValue)
  /// An error in a task's values; its end follows.
  case fault(WorkerID, TaskID, attempt: Int32, what: String)
  case ended(WorkerID, TaskID, attempt: Int32, Outcome)
  case refused(WorkerID, TaskID, attempt: Int32, errorNumber: Int32, what: String)
  case revoked(WorkerID, TaskID, attempt: Int32)
  /// The worker cannot create a process now, and has not started the task.
  case lacks(WorkerID, TaskID, attempt: Int32, what: String)
  /// Inputs and outputs are recorded under this origin number; the task's end follows.
  case recorded(WorkerID, TaskID, attempt: Int32, origin: UInt64)
  /// The success is not recorded and makes nothing up to date; the task's end follows.
  case unkept(WorkerID, TaskID, attempt: Int32, what: String)
  /// The result was restored from a cache; the task's end follows.
  case restored(WorkerID, TaskID, attempt: Int32)
  case ready(WorkerID, TaskID, attempt: Int32, ports: [UInt16])
  /// A task returned that many lent tokens.
  case tokens(WorkerID, TaskID, Int32)
  /// A value of a task that may be up to date; the answer follows.
  case keptValue(WorkerID, TaskID, serial: Int32, TaskValue)
  /// The answer to an up-to-date check, by serial number.
  indirect case checked(WorkerID, TaskID, serial: Int32, CheckResult)
  /// A message or the disconnect of a client with external tasks.
  indirect case block(HostID, BlockFact)
  /// A sign of life without content.
  case heard(WorkerID)
  /// The coordinator did not run for that long: messages are still unread, and silence does not
  /// count.
  case late(nanoseconds: Int64)
  /// The time of `nextWake` has come.
  case timer
  /// Start nothing new, stop running tasks by their stop rules, then run the `finally` tasks.
  case stop(StopCause)
  /// The last client that the run is for has ended: like `stop` by SIGTERM.
  case hostsGone
  /// If only services are left that stay up: end them, except these, which pass to the next session
  /// (`passOn`).
  case endServices(but: Set<TaskID>)
  case kill
  /// Stop the process trees of all tasks, until `proceed`.
  case suspend
  case proceed
  /// The next node by number joined; nil: its first worker reports the resources.
  indirect case siteJoined(SiteID, SiteOffer?, SiteIdentity)
  /// The node is preempted or its time is over: failures there cost nothing.
  case siteLeaving(SiteID, complaint: String)
  /// The end of a node's time; nil: not limited. The session stops near the local node's end.
  case siteEnds(SiteID, Instant?)
  /// The connection is lost; the node's processes may go on until `siteLost`.
  case siteSilent(SiteID, complaint: String)
  /// The node is gone with all its processes.
  case siteLost(SiteID, complaint: String)
  /// Every requested node has joined or will not come. A lost one may come back.
  case sitesKnown
  /// No further node comes. The session stops if waiting tasks have no node in use.
  case sitesExhausted(complaint: String)
  /// The new capacity of a resource; of `cpu` and `memory`, the local node's.
  case capacity(resource: Int, UInt64)
  /// The local `cpu` that other runs use.
  case away(UInt64)
  case prioritise([TaskPriority])
  /// A control request; answered by `answer`.
  indirect case order(Order, from: ClientID)
  /// Tasks were added; answered by `answer`. The caller has asked `Engine.answer(toExtension:)`
  /// before.
  indirect case extend(RunGrowth)
  /// The answer to `EngineStep.withdraw`.
  indirect case withdrawn(Withdrawal)
}

/// A requester that waits for an answer.
package struct ClientID: Hashable, Sendable {
  package let rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// The new priority of a task.
package struct TaskPriority: Equatable, Sendable {
  package var task: TaskID
  package var priority: Int16

  package init(task: TaskID, priority: Int16) {
    self.task = task
    self.priority = priority
  }
}
