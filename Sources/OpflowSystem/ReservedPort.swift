internal import CLinux

/// A TCP port of this machine that nobody uses, kept for somebody.
///
/// A bound socket keeps it until `open`, which who is to have it needs: many a program cannot bind a port that
/// another socket is bound to. From then on, until that program has bound it, a claim keeps it from all other
/// reservations of this kind.
package final class ReservedPort {
  package let number: UInt16
  private var socket: Descriptor?
  /// Nil where it could not be had; then only chance keeps two from the same port.
  private let claim: Descriptor?

  /// So many ports in a row would have to be claimed and not bound yet.
  private static let mostTries = 100

  /// - Throws: where no socket, or no free port, can be had.
  package init() throws(Errno) {
    for _ in 0..<Self.mostTries {
      var port: UInt16 = 0
      let made = try call { clinux_socket_reserve(&port) }
      let socket = Descriptor(owning: made)
      let number = port
      do throws(Errno) {
        claim = Descriptor(owning: try call { clinux_socket_claim(number) })
      } catch .addressInUse {
        continue
      } catch {
        claim = nil
      }
      self.number = number
      self.socket = consume socket
      return
    }
    throw .addressInUse
  }

  /// Lets go of the port: who it was kept for is about to bind it.
  package func open() { socket = nil }
}
