package enum OrderAnswer: Equatable, Sendable {
  /// Journaled and applied to that many tasks; 0 for the run.
  case done(count: Int)
  /// `what` is a sentence without capital and period.
  case refused(what: String)
}

package struct OrderRefusal: Error, Equatable, Sendable {
  /// A sentence without capital and period.
  package var what: String
  package init(what: String) { self.what = what }
}
