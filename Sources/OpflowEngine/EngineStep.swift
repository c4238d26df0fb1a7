package import OpflowJournal
package import OpflowPlan
package import OpflowWire

/// The caller's next action, after all that it depends on.
package enum EngineStep: Equatable, Sendable {
  /// A line was added to the journal, even if it cannot be written: update views.
  case tell(JournalEntry)
  /// It was prefetched.
  case began(TaskID, attempt: Int32)
  /// Answered by `launched` and later `workerReady`, or by `launchFailed`.
  case launch(WorkerID, WorkerKind, SiteID)
  /// Send this worker's commands to that client: it is one of its slots.
  case seat(WorkerID, HostID)
  /// Kill it, though its task may still run; answered by `workerLost` once no process is left.
  case discard(WorkerID)
  /// Answered by `withdrawn` before the next step.
  case withdraw(Withdrawal)
  /// Append `unwritten` to the journal; answered by `wrote` or `journalFailed` before the next
  /// step.
  case write
  /// Answered by `synced` or `journalFailed`.
  case sync(upTo: UInt64, SyncKind)
  /// Its lines are written, and synced if required.
  case order(WorkerID, WorkerOrder)
  /// If the request was applied, its line is written, and synced if required.
  case answer(ClientID, OrderID, OrderAnswer)
  /// No line follows.
  case dismiss
  /// The last step.
  case finish(CloseEntry)
  /// The last step before another session in this process, which takes these services over.
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
  /// The answer to `launch`: the process exists.
  case launched(WorkerID, WorkerEntry)
  case wrote
  case synced(upTo: UInt64)
  case journalFailed
}
