import Glibc

/// Somebody who is connected to a run's socket and says nothing.
final class SilentPeer {
  private let socket: Int32

  /// - Parameter folder: of the run. A socket's path may be too short for the whole of it.
  init(_ folder: String) throws {
    let at = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    defer { close(at) }
    socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { path in
      for (place, byte) in "/proc/self/fd/\(at)/control.sock".utf8.enumerated() {
        path[place] = byte
      }
    }
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    guard at >= 0, result == 0 else { throw HarnessFailure("cannot connect: \(errno)") }
  }

  deinit { close(socket) }
}
