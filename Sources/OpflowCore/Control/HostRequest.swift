/// A connection is that of a program that the run is for, and which may end before the run.
package struct HostRequest: Equatable, Sendable {
  package var id: OrderID
  package var afterHost: AfterHost

  /// The refusal of a run that is about to end: another one is to be begun, or this one resumed, when it has.
  package static let leaving = "the run is ending"

  package init(id: OrderID, afterHost: AfterHost) {
    self.id = id
    self.afterHost = afterHost
  }
}

/// What becomes of a run when the last program has ended that it is for.
package enum AfterHost: String, CaseIterable, Sendable {
  /// It stops as at SIGTERM, and can be resumed.
  case stop
  case goOn = "go-on"
}
