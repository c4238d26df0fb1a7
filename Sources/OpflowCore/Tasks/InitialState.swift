/// The state of a task at the start of a session.
package enum InitialState: UInt8, Sendable {
  case run
  /// A `finally` task when tasks were named: runs if a dependency ran, otherwise is skipped.
  case afterNeeds
  /// Keeps its result from an earlier session.
  case succeeded, upToDate, failedAllowed, skipped
  /// A service that nothing used in an earlier session.
  case unused
  /// Has an earlier result and declares `inputs`: checked by content when ready.
  case recheck
  /// Keeps its result if all dependencies keep theirs, some of which are checked first; a `finally`
  /// task, if nothing starts. Otherwise runs.
  case later
  /// A `finally` task when tasks were named: keeps its earlier result unless a dependency runs.
  case laterAfterNeeds
  /// Skipped in an earlier session because of its dependencies, and still is.
  case skippedUpstream
  /// A service of the last session that is still running and that this one takes over.
  case stays
  /// Was running at a crash and has `on_interrupted: fail`: fails when the session starts.
  case interrupted
  /// Failed in this way in an earlier session, which counted the failure.
  case failed
  /// Keeps its unsuccessful end from a crashed session that this one continues; may be retried.
  case stillFailed, stillCancelled, stillUpstream
  /// Skipped by `--skip`.
  case skipOption
  /// Skipped by `--skip` in this session only; a later session can run it.
  case skipOnce
  /// Not part of the run, or excluded by `--only` with nothing left to do.
  case excluded
  /// Excluded by `--only`; succeeded earlier.
  case leftDone
  /// Excluded by `--only`, and without a success: the run then counts as failed or unfinished.
  case leftFailed, leftUpstream, leftOpen
}

extension InitialState {
  /// Whether the task may start in this session without a request of the user.
  package var mayStart: Bool {
    switch self {
    case .run, .afterNeeds, .recheck, .later, .laterAfterNeeds, .stays: true
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream, .interrupted,
      .failed, .stillFailed, .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded,
      .leftDone, .leftFailed, .leftUpstream, .leftOpen:
      false
    }
  }

  /// Whether the task keeps an earlier result that is not a failure.
  package var isReused: Bool {
    switch self {
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream: true
    case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .interrupted, .failed, .stillFailed,
      .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded, .leftDone, .stays,
      .leftFailed, .leftUpstream, .leftOpen:
      false
    }
  }

  /// Whether the task is not part of the session.
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
