/// Messages are for the user.
package enum RecordResult: Equatable, Sendable {
  /// Under that number; nil if there is nothing to record.
  case kept(origin: UInt64?)
  /// The success is discarded: the task is not up to date afterwards.
  case unkept(what: String)
  /// An output is missing.
  case noOutput(what: String)
  /// The run cannot continue.
  case unwritten(what: String)
}
