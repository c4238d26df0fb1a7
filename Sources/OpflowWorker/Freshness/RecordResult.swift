/// What came of the look at the files of a task that has succeeded.
package enum RecordResult: Equatable, Sendable {
  /// All is as it is to be, and written down under that number; nil where nothing is to be.
  case kept(origin: UInt64?)
  /// It succeeded, and is not up to date with that; why, for people.
  case unkept(what: String)
  /// One of its outputs is not there; which, for people.
  case noOutput(what: String)
  /// It cannot be written down, so that nothing of the run goes on; what and where, for people.
  case unwritten(what: String)
}
