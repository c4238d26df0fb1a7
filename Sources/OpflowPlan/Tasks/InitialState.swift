/// The state of a task at the start of a session.
package enum InitialState: UInt8, Sendable {
  case run
  /// A `finally` task when tasks were named: runs if a dependency ran, otherwise is skipped.
  case afterNeeds
  case succeeded, upToDate, failedAllowed, skipped
  /// A service that nothing used in an earlier session.
  case unused
  /// Has a result and `inputs`: checked by content when ready.
  case recheck
  /// Keeps its result if all dependencies keep theirs; a `finally` task, if nothing starts.
  case later
  /// A `finally` task when tasks were named: keeps its result unless a dependency runs.
  case laterAfterNeeds
  /// Because of its dependencies, in an earlier session.
  case skippedUpstream
  /// A service that still runs and that this session takes over.
  case stays
  /// Ran at a crash and has `on_interrupted: fail`: fails when the session starts.
  case interrupted
  /// In an earlier session, which counted the failure.
  case failed
  /// From a crashed session that this one continues; may be retried.
  case stillFailed, stillCancelled, stillUpstream
  /// By `--skip`.
  case skipOption
  /// By `--skip` in this session only.
  case skipOnce
  /// Not part of the run, or excluded by `--only` with nothing left to do.
  case excluded
  /// Excluded by `--only`; succeeded earlier.
  case leftDone
  /// Excluded by `--only`; the run then counts as failed or unfinished.
  case leftFailed, leftUpstream, leftOpen
}

extension InitialState {
  /// Without a request of the user.
  package var mayStart: Bool {
    switch self {
    case .run, .afterNeeds, .recheck, .later, .laterAfterNeeds, .stays: true
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream, .interrupted,
      .failed, .stillFailed, .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded,
      .leftDone, .leftFailed, .leftUpstream, .leftOpen:
      false
    }
  }

  /// Keeps an earlier result that is not a failure.
  package var isReused: Bool {
    switch self {
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream: true
    case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .interrupted, .failed, .stillFailed,
      .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded, .leftDone, .stays,
      .leftFailed, .leftUpstream, .leftOpen:
      false
    }
  }

  package var isLeftOut: Bool {
    switch self {
    case .excluded, .leftDone, .leftFailed, .leftUpstream, .leftOpen: true
    case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .succeeded, .upToDate,
      .failedAllowed, .skipped, .unused, .skippedUpstream,
      .interrupted, .failed, .stillFailed, .stillCancelled, .stillUpstream, .skipOption, .skipOnce,
      .stays:
      false
    }
  }
}
