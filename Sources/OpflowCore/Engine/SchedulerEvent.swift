/// Why a run is told to stop.
package enum StopCause: Equatable, Sendable {
  /// A signal to the coordinator, by number.
  case signal(Int32)
  /// `opflow cancel`.
  case request
  /// The journal cannot be written.
  case ioError
}

/// A fact that the scheduler is told.
package enum SchedulerEvent: Equatable, Sendable {
  /// The drive begins. Comes first, once.
  case begin
  /// A worker that was launched said hello.
  case workerReady(WorkerID, WorkerOffer)
  /// A worker is gone, and so is every process below it but those that `survived`: it ended, it was killed
  /// for a line that is no message, or it was discarded.
  case workerLost(WorkerID, complaint: String)
  /// It could not be launched for want of descriptors, processes or memory.
  case launchFailed(WorkerID, complaint: String)
  case started(WorkerID, TaskID, attempt: Int32)
  /// What a download did; its end follows.
  indirect case fetched(WorkerID, TaskID, attempt: Int32, FetchRecord)
  /// What was ended with a task that had left it behind, or could not be; the task's end follows.
  case left(WorkerID, TaskID, attempt: Int32, LeftBehind)
  /// What a worker leaves that could not be ended; its loss follows.
  case survived(WorkerID, LeftBehind)
  /// What a task left for others; the task's end follows.
  case value(WorkerID, TaskID, attempt: Int32, TaskValue)
  /// What is the matter with values of a task; its end follows.
  case fault(WorkerID, TaskID, attempt: Int32, what: String)
  case ended(WorkerID, TaskID, attempt: Int32, Outcome)
  case refused(WorkerID, TaskID, attempt: Int32, errorNumber: Int32, what: String)
  case revoked(WorkerID, TaskID, attempt: Int32)
  /// The worker cannot make a process for a task at the moment, and has not started it.
  case lacks(WorkerID, TaskID, attempt: Int32, what: String)
  /// What a task read and made is written down, under that number; its end follows.
  case recorded(WorkerID, TaskID, attempt: Int32, origin: UInt64)
  /// It is not, so that the success makes nothing up to date; the task's end follows.
  case unkept(WorkerID, TaskID, attempt: Int32, what: String)
  /// The task did not run: its result came from a cache; its end follows.
  case restored(WorkerID, TaskID, attempt: Int32)
  /// A service is ready.
  case ready(WorkerID, TaskID, attempt: Int32, ports: [UInt16])
  /// So many of the tokens came back that were lent to a task.
  case tokens(WorkerID, TaskID, Int32)
  /// What a task left that may be up to date; the answer follows.
  case keptValue(WorkerID, TaskID, serial: Int32, TaskValue)
  /// The answer to the question with that number, whether a task is up to date.
  indirect case checked(WorkerID, TaskID, serial: Int32, CheckResult)
  /// A program that has blocks says something, or is gone.
  indirect case block(HostID, BlockFact)
  /// The worker said something that decides nothing: it lives.
  case heard(WorkerID)
  /// The coordinator did not run for so long, when it was to: what workers said meanwhile is yet to
  /// be read, and what they did not say counts against none.
  case late(nanoseconds: Int64)
  /// `nextWake` has come.
  case timer
  /// Start nothing new and end what runs by its stop rule; `finally` tasks run.
  case stop(StopCause)
  /// The last program has ended that the run is for: as `stop` by SIGTERM, unless it is stopped already.
  case hostsGone
  /// Where nothing is left but services that stay: they stay no longer, but for these, which go on when the
  /// drive has ended (`passOn`). Else nothing.
  case endServices(but: Set<TaskID>)
  /// End everything at once.
  case kill
  /// Stop the process trees of all tasks, and let them go on.
  case suspend
  case proceed
  /// A further machine is there, the next one by number; nil: its first worker tells what it has.
  indirect case siteJoined(SiteID, SiteOffer?, SiteIdentity)
  /// It was preempted, or its time is over: nothing new starts there, and what ends badly there costs nothing.
  case siteLeaving(SiteID, complaint: String)
  /// Its time is over then, by what is known now; nil: it is not limited. Near the end of that of the coordinator's own
  /// machine the drive is stopped.
  case siteEnds(SiteID, Instant?)
  /// The stream to a machine is lost, and what it has may go on: it is lost later.
  case siteSilent(SiteID, complaint: String)
  /// A machine is gone, and so is every process that a worker of it had.
  case siteLost(SiteID, complaint: String)
  /// Every machine that was asked for has been there, or does not come: what any of them has is known. One that was
  /// lost may come back.
  case sitesKnown
  /// No further machine comes, as far as the host knows; why, for people. May be told while some are there: where
  /// none is left for what waits, the drive stops.
  case sitesExhausted(complaint: String)
  /// There is that much of a resource of the plan by now; of `cpu` and `memory` on this machine.
  case capacity(resource: Int, UInt64)
  /// Others have that much of this machine's `cpu` now.
  case away(UInt64)
  case prioritise([TaskPriority])
  /// Somebody asks for something; answered by `answer`.
  indirect case order(Order, from: ClientID)
  /// Tasks were added to the plan; answered by `answer`. The host has asked before whether they may be
  /// (`Engine.answer(toExtension:)`).
  indirect case extend(RunGrowth)
  /// What became of `EngineStep.withdraw`.
  indirect case withdrawn(Withdrawal)
}

/// Who waits for the answer to an order, as the host knows them.
package struct ClientID: Hashable, Sendable {
  package let rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// A priority that a task has by now.
package struct TaskPriority: Equatable, Sendable {
  package var task: TaskID
  package var priority: Int16

  package init(task: TaskID, priority: Int16) {
    self.task = task
    self.priority = priority
  }
}
