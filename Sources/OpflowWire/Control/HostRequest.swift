package import OpflowPlan

/// Registers a client that the run is for. It may end before the run.
package struct HostRequest: Equatable, Sendable {
  package var id: OrderID
  package var afterHost: AfterHost

  /// Refused while a run ends: the client must resume it or begin another one.
  package static let leaving = "the run is ending"

  package init(id: OrderID, afterHost: AfterHost) {
    self.id = id
    self.afterHost = afterHost
  }
}

/// What the run does when its last client has ended.
package enum AfterHost: String, CaseIterable, Sendable {
  /// Stops as by SIGTERM; can be resumed.
  case stop
  case goOn = "go-on"
}
