/// What the host of an engine is to do next. The order of the steps is the engine's: none comes before
/// what it follows from was done.
package enum EngineStep: Equatable, Sendable {
  /// A line was added to the journal's: for views, which are to hear of it whether or not it can be
  /// written.
  case tell(JournalEntry)
  /// A worker has begun with a task that it was handed ahead.
  case began(TaskID, attempt: Int32)
  /// Start a worker on that machine; answered by `launched`, and later `workerReady`, or by `launchFailed`.
  case launch(WorkerID, WorkerKind, SiteID)
  /// What is ordered to that worker goes to that program: it has blocks, and came by itself.
  case seat(WorkerID, HostID)
  /// Kill the worker, whose task may still run; answered by `workerLost` when nothing of it is left.
  case discard(WorkerID)
  /// Give tasks other names in the plan's file; answered by `withdrawn` before the next step.
  case withdraw(Withdrawal)
  /// Append `unwritten` to the journal; answered by `wrote` or `journalFailed` before the next step.
  case write
  /// Make the journal last up to that place; answered by `synced` or `journalFailed`.
  case sync(upTo: UInt64, SyncKind)
  /// All lines that the order follows from are written, and synced where that is asked for.
  case order(WorkerID, WorkerOrder)
  /// What became of an order; where it was obeyed, its line is written, and synced where that is asked
  /// for.
  case answer(ClientID, OrderID, OrderAnswer)
  /// All is done and no line follows: the workers may leave.
  case dismiss
  /// The last step.
  case finish(CloseEntry)
  /// The last step of a drive that another one follows at once, in this process: that takes over these services,
  /// the workers of which were not told to leave by `dismiss`.
  case passOn([HeldService])
}

/// How a host is to make its journal last.
package enum SyncKind: Sendable {
  /// Before any task may start: with all else that a resume looks for.
  case first
  /// Beside everything else.
  case grouped
  /// The run has ended, and is to be told of when that is done.
  case last
}

/// A fact that an engine is told.
package enum EngineFact: Sendable {
  case scheduler(SchedulerEvent)
  /// What became of `launch`: there is a process.
  case launched(WorkerID, WorkerEntry)
  /// What became of `write`.
  case wrote
  /// What became of `sync`.
  case synced(upTo: UInt64)
  /// The journal cannot be relied on any more.
  case journalFailed
}
