import OpflowCore
import OpflowRuntime
import OpflowSystem

/// The socket that this process was started with (`--control-fd`), as long as no run has taken it: who waits at its other end
/// for a first answer is told why there is none, since what is complained of may have no place to be written to.
struct StarterSocket {
  private let number: Int32
  /// Nil where there is none.
  private let identity: FileIdentity?

  init(_ number: Int32) {
    self.number = number
    identity = Self.identity(number)
  }

  /// By the number alone it could be something else that was opened when the run had closed it.
  private static func identity(_ number: Int32) -> FileIdentity? {
    try? Path.status("/proc/self/fd/\(number)").identity
  }

  func tell(_ error: CommandError) {
    guard identity != nil, Self.identity(number) == identity else { return }
    // There may be nobody any more.
    guard let end = try? UnixSocket.takeInherited(number) else { return }
    try? end.descriptor.writeAll(OrderLines.line(.refused(what: error.message), to: nil))
  }
}
