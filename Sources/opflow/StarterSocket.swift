internal import OpflowPlan
import OpflowRuntime
import OpflowSystem
internal import OpflowWire

/// The inherited socket (`--control-fd`) until a run takes it. Early errors go to its peer, since
/// standard error may lead nowhere.
struct StarterSocket {
  private let number: Int32
  private let identity: FileIdentity?

  init(_ number: Int32) {
    self.number = number
    identity = Self.identity(number)
  }

  /// The number may have been reused after the run closed it.
  private static func identity(_ number: Int32) -> FileIdentity? {
    try? Path.status("/proc/self/fd/\(number)").identity
  }

  func tell(_ error: CommandError) {
    guard identity != nil, Self.identity(number) == identity else { return }
    guard let end = try? UnixSocket.takeInherited(number) else { return }
    try? end.descriptor.writeAll(OrderLines.line(.refused(what: error.message), to: nil))
  }
}
