package import OpflowCore

/// One of the reasons for a task's state.
struct TaskReason: Equatable {
  enum Kind: String {
    /// Waiting.
    case paused, stopping, retry, needs, holdup, finally, terminal, offer
    case resources, machine, unknown, queue, priority, handed
    /// Running.
    case running, suspended, gate
    /// Ended, or not run before the run ended.
    case succeeded, reused, failed, skipped, cancelled, unstarted, interrupted, outside
    /// Why the task ran again, and what a resume would do.
    case rerun, stale, resume

    var word: String { rawValue }
  }

  let kind: Kind
  let text: String
  /// The part of it that matrix tasks with other times and places share.
  let shared: String
  let tasks: [TaskID]

  init(_ kind: Kind, _ text: String, shared: String? = nil, tasks: [TaskID] = []) {
    self.kind = kind
    self.text = text
    self.shared = shared ?? text
    self.tasks = tasks
  }
}

/// What a resume would do with a task of the run.
package enum ResumeFate: Sendable, Equatable {
  /// It would run; the reason is set if it has a result or was interrupted.
  case runs(Transition?)
  /// It would run because of its files; the text says what changed, if that is known.
  case runsChanged(String)
  /// It would run, unless this dependency leaves its outputs as they are.
  case runsUnless(TaskID)
  case keeps
  /// It is up to date, although this run has no result of it.
  case upToDate
  /// It keeps its result if its inputs and outputs are unchanged.
  case checks
  /// It keeps its result if all of its dependencies do.
  case keepsLater
  /// It would be skipped because of this dependency.
  case blocked(TaskID)
  /// It would fail before it starts, with this message.
  case unfit(String)
  /// It would fail at once: it was interrupted and must not run twice.
  case fails
  /// It stays failed until a user asks to run it again.
  case staysFailed
  /// The resume would leave it out.
  case leaves
  /// The manifest no longer has it.
  case gone
  /// The task that added it would run again.
  case addedAnew
  /// The manifest cannot be used; the reason is reported elsewhere.
  case unknown
}
