/// When an edge of the graph is met; `on:` of an entry in `needs`.
package enum NeedCondition: UInt8, Sendable, CaseIterable {
  /// Met by success, up to date, an allowed failure, a false `if` and `--skip`.
  case success
  /// Met by a failure that is not allowed, a timeout too.
  case failure
  /// Met by any end.
  case finished
}
