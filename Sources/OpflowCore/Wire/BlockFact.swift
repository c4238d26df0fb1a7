/// A program that is connected and may offer blocks, as the host of the engine knows it.
package struct HostID: Hashable, Sendable {
  package let rawValue: Int32
  package init(_ rawValue: Int32) { self.rawValue = rawValue }
}

/// What a program that has blocks says, or what becomes of it.
package enum BlockFact: Equatable, Sendable {
  /// It is there; comes first.
  case joined
  case offers(TaskID)
  case withdraws(TaskID)
  case ended(TaskID, attempt: Int32, Outcome, what: String)
  /// It has not begun, since it does not offer it any more.
  case gaveBack(TaskID, attempt: Int32)
  /// It is gone, and so is all that ran in it.
  case gone(complaint: String)
}
