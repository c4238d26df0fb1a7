/// `on:` of an entry in `needs`.
package enum NeedCondition: UInt8, Sendable, CaseIterable {
  /// Success, up to date, an allowed failure, a false `if` or `--skip`.
  case success
  /// Not allowed; includes a timeout.
  case failure
  case finished
  /// Like `success`, without a false `if` and `--skip`.
  case ran

  /// Dependents then start in spite of `max_failures`.
  package var isMetByFailure: Bool {
    switch self {
    case .failure, .finished: true
    case .success, .ran: false
    }
  }
}
