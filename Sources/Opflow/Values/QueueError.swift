/// Why something that a queue was asked for was not done: what happened, where, and what to do, in the words of the
/// command line.
public struct QueueError: Error, Sendable, Equatable, CustomStringConvertible {
  public enum Kind: Sendable, Equatable {
    /// A wrong use: a name that is none, a task that is not there.
    case usage
    /// A task, or a manifest, is wrong.
    case manifest
    /// The run refuses it, in the state that it is in.
    case refused
    /// Another process holds the run, and takes no orders here.
    case held
    /// The files of the run cannot be used.
    case journal
    /// A file cannot be read or written, or a call of the system failed.
    case io
    /// The program `opflow` is not found, cannot be started, or ends before it takes orders.
    case opflow
    /// The run has ended, or the queue was shut down, before what was waited for came.
    case ended
    /// The Swift task that waited was cancelled. Nothing of the queue was.
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
