/// How a task enters a drive of the run.
package enum InitialState: UInt8, Sendable {
  /// It is to be run.
  case run
  /// A `finally` task of a run of named tasks: it runs when one of its needs ran, else it is skipped.
  case afterNeeds
  /// It keeps the result of an earlier drive.
  case succeeded, upToDate, failedAllowed, skipped
  /// The same, of a service that nothing came to need.
  case unused
  /// It has the result of an earlier drive and declares `inputs`: it is checked by content when it is ready.
  case recheck
  /// It keeps the result of an earlier drive if all that it needs keeps its own, some of which is to be
  /// checked by content, and a `finally` task if nothing starts; else it runs again.
  case later
  /// A `finally` task of a run of named tasks that keeps the result of an earlier drive, unless one of
  /// its needs runs.
  case laterAfterNeeds
  /// It was skipped since its needs cannot be met, and they still cannot.
  case skippedUpstream
  /// A service that the drive before left up, which is this one's from here on.
  case stays
  /// `on_interrupted: fail`, and a crash caught it running: it fails as the drive begins.
  case interrupted
  /// The same, in an earlier drive, which counted it; it stays failed.
  case failed
  /// It has the end that it had in a drive that was lost, which this one goes on with, and may be retried as there.
  case stillFailed, stillCancelled, stillUpstream
  /// `--skip` names it.
  case skipOption
  /// The same, of this drive alone: it is still to be done.
  case skipOnce
  /// It is no part of the run, or `--only` leaves it out of this drive and nothing is left to do of it.
  case excluded
  /// `--only` leaves it out of this drive, and it succeeded in an earlier one.
  case leftDone
  /// `--only` leaves it out of this drive. It failed in an earlier one, was skipped since its needs
  /// cannot be met, or has no end that holds: so does the run.
  case leftFailed, leftUpstream, leftOpen
}

extension InitialState {
  /// Whether it may be started in the drive without that anybody asks for it.
  package var mayStart: Bool {
    switch self {
    case .run, .afterNeeds, .recheck, .later, .laterAfterNeeds, .stays: true
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream, .interrupted,
      .failed, .stillFailed, .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded,
      .leftDone, .leftFailed, .leftUpstream, .leftOpen:
      false
    }
  }

  /// It keeps the result of an earlier drive, and that is no failure.
  var isReused: Bool {
    switch self {
    case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream: true
    case .run, .recheck, .later, .laterAfterNeeds, .afterNeeds, .interrupted, .failed, .stillFailed,
      .stillCancelled, .stillUpstream, .skipOption, .skipOnce, .excluded, .leftDone, .stays,
      .leftFailed, .leftUpstream, .leftOpen:
      false
    }
  }

  /// It is no part of the drive.
  var isLeftOut: Bool {
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
