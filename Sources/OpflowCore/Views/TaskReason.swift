/// One of the things that together say why a task is where it is.
struct TaskReason: Equatable {
  enum Kind: String {
    /// It waits.
    case paused, stopping, retry, needs, holdup, finally, terminal, offer
    case resources, machine, unknown, queue, priority, handed
    /// It runs.
    case running, suspended, gate
    /// It has an end, or none, of a run that has one.
    case succeeded, reused, failed, skipped, cancelled, unstarted, interrupted, outside
    /// Why a resume took it back, and what the next one would do.
    case rerun, stale, resume

    /// The word in JSON.
    var word: String { rawValue }
  }

  let kind: Kind
  let text: String
  /// What several tasks of a family share of it, where their times and places differ.
  let shared: String
  /// The tasks that it speaks of.
  let tasks: [TaskID]

  init(_ kind: Kind, _ text: String, shared: String? = nil, tasks: [TaskID] = []) {
    self.kind = kind
    self.text = text
    self.shared = shared ?? text
    self.tasks = tasks
  }
}

/// What a resume of a run would do with one of its tasks.
package enum ResumeFate: Sendable, Equatable {
  /// It would run; for that reason, where it has a result or was cut short.
  case runs(Transition?)
  /// It would run, since its files are not as they were; what of them, for people: of some nothing is known.
  case runsChanged(String)
  /// It would run, unless what runs before it leaves what is there.
  case runsUnless(TaskID)
  case keeps
  /// It is up to date, though this run has no result of it.
  case upToDate
  /// It keeps what it has if its inputs and outputs are as they were.
  case checks
  /// It keeps what it has if all that it needs does.
  case keepsLater
  /// It would be skipped, since that cannot be met.
  case blocked(TaskID)
  /// It would fail before it starts; for people.
  case unfit(String)
  /// It would fail at once: it was cut short, and is not to be run twice.
  case fails
  /// It would stay failed until somebody asks for it.
  case staysFailed
  /// It is no part of what the resume would do.
  case leaves
  /// The manifest does not have it any more.
  case gone
  /// A task added it that would run again.
  case addedAnew
  /// The manifest cannot be used; why is told elsewhere.
  case unknown
}
