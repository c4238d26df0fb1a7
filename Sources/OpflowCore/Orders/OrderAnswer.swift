/// The answer to a control request.
package enum OrderAnswer: Equatable, Sendable {
  /// The request is journaled and applied to that many tasks; 0 for the run.
  case done(count: Int)
  /// Nothing was done; `what` is a sentence without capital and period.
  case refused(what: String)
}

/// The refusal of a request.
package struct OrderRefusal: Error, Equatable, Sendable {
  /// The reason: a sentence without capital and period.
  package var what: String
  package init(what: String) { self.what = what }
}
