/// What became of an order.
package enum OrderAnswer: Equatable, Sendable {
  /// It stands in the journal, and holds from now on; of so many tasks, 0 where it is about the run.
  case done(count: Int)
  /// Nothing of it is done. `what` says in which state the things are that it does not apply to, in a
  /// sentence without its first capital and last point.
  case refused(what: String)
}

/// Why nothing is done of an order.
package struct OrderRefusal: Error, Equatable, Sendable {
  /// A sentence without its first capital and last point.
  package var what: String
  package init(what: String) { self.what = what }
}
