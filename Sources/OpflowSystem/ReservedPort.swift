internal import CLinux

/// A free TCP port of this machine, reserved for a program. A bound socket holds it until `open`,
/// as many programs cannot bind a port that is bound already. Then, until the program binds it, a
/// claim protects it from other reservations.
package final class ReservedPort {
  package let number: UInt16
  private var socket: Descriptor?
  /// nil if the claim failed; then two programs get different ports only by chance.
  private let claim: Descriptor?

  /// Reached only if this many ports in a row are claimed and not yet bound.
  private static let mostTries = 100

  /// - Throws: if no socket or no free port is available.
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

  /// Releases the port right before the program binds it.
  package func open() { socket = nil }
}
