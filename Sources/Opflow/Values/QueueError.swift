/// Why a request failed, in the words of the command line.
public struct QueueError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// Wrong use, such as an invalid name or an unknown task.
    case usage
    /// An invalid task or manifest.
    case manifest
    /// The run rejects the request in its present state.
    case refused
    /// Another process holds the run and rejects requests from here.
    case held
    /// The files of the run cannot be used.
    case journal
    /// A file or system call failed.
    case io
    /// `opflow` is not found, cannot be started, or exits early.
    case opflow
    /// The run ended, or the queue was dropped, before the event.
    case ended
    /// The waiting Swift task was cancelled, but nothing in the queue.
    case waitCancelled
  }

  public let kind: Kind
  public let message: String

  init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  public var description: String { message }
}
