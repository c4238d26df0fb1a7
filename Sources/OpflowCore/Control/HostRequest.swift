/// Registers a client that the run is for, and that may end before the run.
package struct HostRequest: Equatable, Sendable {
  package var id: OrderID
  package var afterHost: AfterHost

  /// The refusal of an ending run: the client must begin another one, or resume this one.
  package static let leaving = "the run is ending"

  package init(id: OrderID, afterHost: AfterHost) {
    self.id = id
    self.afterHost = afterHost
  }
}

/// The effect on the run when its last client has ended.
package enum AfterHost: String, CaseIterable, Sendable {
  /// The run stops as by SIGTERM, and can be resumed.
  case stop
  case goOn = "go-on"
}
