/// The condition of a dependency: `on:` of an entry in `needs`.
package enum NeedCondition: UInt8, Sendable, CaseIterable {
  /// Success, up to date, an allowed failure, a false `if` or `--skip`.
  case success
  /// A failure that is not allowed, or a timeout.
  case failure
  /// Any end.
  case finished
  /// Success, up to date or an allowed failure; unlike `success`, neither a false `if` nor
  /// `--skip`.
  case ran

  /// Whether a failure can meet it. Dependents then start in spite of `max_failures`.
  package var isMetByFailure: Bool {
    switch self {
    case .failure, .finished: true
    case .success, .ran: false
    }
  }
}
