/// When an edge of the graph is met; `on:` of an entry in `needs`.
package enum NeedCondition: UInt8, Sendable, CaseIterable {
  /// Met by success, up to date, an allowed failure, a false `if` and `--skip`.
  case success
  /// Met by a failure that is not allowed, a timeout too.
  case failure
  /// Met by any end.
  case finished
  /// Met by success, up to date and an allowed failure: what the need does has been done. A false `if` and
  /// `--skip` do not meet it.
  case ran

  /// Whether a failure that is not allowed meets it, so that `max_failures` does not hold back what
  /// follows.
  package var isMetByFailure: Bool {
    switch self {
    case .failure, .finished: true
    case .success, .ran: false
    }
  }
}
