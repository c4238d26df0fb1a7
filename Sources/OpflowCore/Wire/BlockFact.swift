/// The ID of a connected client that may offer external tasks.
package struct HostID: Hashable, Sendable {
  package let rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// A report about external tasks, from their client or about it.
package enum BlockFact: Equatable, Sendable {
  /// The client connected; comes first.
  case joined
  case offers(TaskID)
  case withdraws(TaskID)
  case ended(TaskID, attempt: Int32, Outcome, what: String)
  /// The client does not offer the task any more; it did not start.
  case gaveBack(TaskID, attempt: Int32)
  /// The client is gone with all tasks that ran in it.
  case gone(complaint: String)
}
