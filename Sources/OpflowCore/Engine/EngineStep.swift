/// The next thing that the caller of an engine does. A step comes after all that it depends on.
package enum EngineStep: Equatable, Sendable {
  /// Tells views that a line was added to the journal, even if it cannot be written.
  case tell(JournalEntry)
  /// A worker has begun a prefetched task.
  case began(TaskID, attempt: Int32)
  /// Launch a worker; answered by `launched` and later `workerReady`, or by `launchFailed`.
  case launch(WorkerID, WorkerKind, SiteID)
  /// Send the worker's commands to that client: the worker is one of its slots.
  case seat(WorkerID, HostID)
  /// Kill the worker, whose task may still run; answered by `workerLost` when no process is left.
  case discard(WorkerID)
  /// Rename tasks in the plan file; answered by `withdrawn` before the next step.
  case withdraw(Withdrawal)
  /// Append `unwritten` to the journal; answered by `wrote` or `journalFailed` before the next
  /// step.
  case write
  /// Sync the journal up to that offset; answered by `synced` or `journalFailed`.
  case sync(upTo: UInt64, SyncKind)
  /// Send the command; its lines are written, and synced if required.
  case order(WorkerID, WorkerOrder)
  /// Answer a request; if it was applied, its line is written, and synced if required.
  case answer(ClientID, OrderID, OrderAnswer)
  /// Let the workers leave: no line follows.
  case dismiss
  /// The last step.
  case finish(CloseEntry)
  /// The last step of a session that another one follows in this process: it takes over these
  /// services, whose workers `dismiss` did not end.
  case passOn([HeldService])
}

/// The occasion of a sync of the journal.
package enum SyncKind: Sendable {
  /// Sync before any task starts, with all files that a resume reads.
  case first
  /// Sync in the background.
  case grouped
  /// Sync at the end of the run, which is reported after it.
  case last
}

/// A fact for the engine.
package enum EngineFact: Sendable {
  case scheduler(SchedulerEvent)
  /// The answer to `launch`: the process exists.
  case launched(WorkerID, WorkerEntry)
  case wrote
  case synced(upTo: UInt64)
  /// The journal is unusable.
  case journalFailed
}
