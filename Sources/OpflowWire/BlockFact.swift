package import OpflowPlan

/// A connected client that may offer external tasks.
package struct HostID: Hashable, Sendable {
  package let rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// A report from a client with external tasks, or about it.
package enum BlockFact: Equatable, Sendable {
  /// Comes first.
  case joined
  case offers(TaskID)
  case withdraws(TaskID)
  case ended(TaskID, attempt: Int32, Outcome, what: String)
  /// The task did not start.
  case gaveBack(TaskID, attempt: Int32)
  /// With all tasks that ran in the client.
  case gone(complaint: String)
}
