internal import CLinux

/// A free TCP port reserved for a program. A bound socket holds it until `open`, because many
/// programs cannot bind a port that is bound. A claim then keeps other reservations away until the
/// program binds it.
package final class ReservedPort {
  package let number: UInt16
  private var socket: Descriptor?
  /// nil if the claim failed: two programs then get different ports only by chance.
  private let claim: Descriptor?

  private static let mostTries = 100

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

  /// Call it right before the program binds the port.
  package func open() { socket = nil }
}
