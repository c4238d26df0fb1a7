internal import CLinux
internal import Glibc

/// Unix stream sockets (unix(7)), named in an open folder. A closed peer shows as the end of the
/// file, or as `brokenPipe` if SIGPIPE is ignored.
package enum UnixSocket {
  /// Returns a non-blocking listener for this user only. Beyond `backlog` clients, connect(2)
  /// blocks. Throws `addressInUse` if the name exists.
  package static func listen(
    _ name: String, in folder: borrowing Descriptor, backlog: Int32
  ) throws(Errno) -> Descriptor {
    return Descriptor(owning: try call { clinux_socket_listen(folder.rawValue, name, backlog) })
  }

  /// The process that connected; it may have exited or passed the socket on.
  package struct Peer: Equatable, Sendable {
    /// 0 in another PID namespace.
    package let pid: Int32
    package let user: UInt32
  }

  package struct Accepted: ~Copyable {
    package let descriptor: Descriptor
    package let peer: Peer

    package consuming func takeDescriptor() -> Descriptor { descriptor }
  }

  /// Returns a non-blocking connection; nil if no client waits. Clients keep waiting after errors
  /// such as `tooManyFiles`.
  package static func accept(_ listener: borrowing Descriptor) throws(Errno) -> Accepted? {
    while true {
      do throws(Errno) {
        var peer = clinux_peer()
        let taken = try call { clinux_socket_accept(listener.rawValue, &peer) }
        return Accepted(
          descriptor: Descriptor(owning: taken), peer: Peer(pid: peer.pid, user: peer.user))
      } catch .wouldBlock {
        return nil
      } catch .connectionAborted {
        // The client gave up.
        continue
      }
    }
  }

  /// Both sockets have this process as peer.
  package struct Pair: ~Copyable {
    package let first: Descriptor
    package let second: Descriptor

    package init() throws(Errno) {
      var ends: (Int32, Int32) = (-1, -1)
      try call { clinux_socket_pair(&ends.0, &ends.1) }
      first = Descriptor(owning: ends.0)
      second = Descriptor(owning: ends.1)
    }

    package consuming func takeFirst() -> Descriptor { first }
  }

  /// Checks that this process inherited a socket with that number and makes it close-on-exec. Call
  /// it before anything else can get the number.
  package static func expectInherited(_ number: Int32) throws(Errno) {
    guard DescriptorNumber.isInherited(number) else { throw .badDescriptor }
    _ = try peer(ofInherited: number)
  }

  /// Takes a socket that `expectInherited` checked.
  package static func takeInherited(_ number: Int32) throws(Errno) -> Accepted {
    let peer = try peer(ofInherited: number)
    return Accepted(descriptor: Descriptor(owning: number), peer: peer)
  }

  private static func peer(ofInherited number: Int32) throws(Errno) -> Peer {
    var peer = clinux_peer()
    try call { clinux_socket_adopt(number, &peer) }
    return Peer(pid: peer.pid, user: peer.user)
  }

  /// Throws `connectionRefused` if no process listens, `wouldBlock` if the backlog stayed full.
  package static func connect(
    to name: String, in folder: borrowing Descriptor, timeout: Duration
  ) throws(Errno) -> Descriptor {
    let (at, nanoseconds) = (folder.rawValue, timeout.wholeNanoseconds)
    return Descriptor(owning: try call { clinux_socket_connect(at, name, nanoseconds) })
  }
}

extension Descriptor {
  /// Does not follow links; nil if missing.
  package borrowing func status(of name: String) throws(Errno) -> FileStatus? {
    var status = clinux_status()
    do throws(Errno) {
      try call { clinux_stat_in(rawValue, name, &status) }
      return FileStatus(status)
    } catch .noSuchFile {
      return nil
    }
  }

  package borrowing func remove(_ name: String) throws(Errno) {
    try call { unlinkat(rawValue, name, 0) }
  }
}

package struct LocalPort: Sendable {
  package let number: UInt16

  package init(_ number: UInt16) { self.number = number }

  /// Starts a non-blocking connection, complete if `isMade`. Throws `connectionRefused` if no
  /// process listens.
  package func connect(isIPv6: Bool) throws(Errno) -> Connection {
    var connected: Int32 = 0
    let number = self.number
    let made = try call {
      clinux_socket_reach(isIPv6 ? 1 : 0, number, Self.patienceMilliseconds, &connected)
    }
    return Connection(descriptor: Descriptor(owning: made), isMade: connected != 0)
  }

  package struct Connection: ~Copyable {
    package let descriptor: Descriptor
    package let isMade: Bool

    package consuming func takeDescriptor() -> Descriptor { descriptor }
  }

  /// A local connection is made or refused at once, unless the backlog is full.
  private static let patienceMilliseconds: Int32 = 50

  package var answers: Bool {
    for isIPv6 in [false, true] {
      guard let connection = try? connect(isIPv6: isIPv6) else { continue }
      if connection.isMade { return true }
    }
    return false
  }

  /// Only processes whose descriptors this user can read.
  package var listeners: [ProcessStatus] {
    let sockets = Set(
      ["/proc/net/tcp", "/proc/net/tcp6"].flatMap { path in
        (try? File.read(path)).map { listeningSockets($0) } ?? []
      })
    if sockets.isEmpty { return [] }
    let wanted = Set(sockets.map { "socket:[\($0)]" })
    var found: [ProcessStatus] = []
    for name in (try? Path.names(in: "/proc")) ?? [] {
      guard let pid = Int32(name) else { continue }
      let folder = "/proc/\(pid)/fd"
      let holds = ((try? Path.names(in: folder)) ?? []).contains { descriptor in
        guard let target = try? Path.linkTarget("\(folder)/\(descriptor)") else { return false }
        return wanted.contains(target)
      }
      if holds, let status = ProcessStatus.read(pid) { found.append(status) }
    }
    return found
  }

  /// Returns inodes of listening sockets (proc_net(5)).
  private func listeningSockets(_ table: [UInt8]) -> [String] {
    let port = String(number, radix: 16, uppercase: true)
    let suffix = ":" + String(repeating: "0", count: 4 - port.count) + port
    return String(decoding: table, as: UTF8.self).split(separator: "\n").dropFirst()
      .compactMap { line in
        let fields = line.split(separator: " ")
        guard fields.count > 9, fields[1].hasSuffix(suffix), fields[3] == "0A" else { return nil }
        return String(fields[9])
      }
  }
}

/// A free TCP port reserved for a program. A bound socket holds it until `open`, because many
/// programs cannot bind a bound port. A claim then keeps other reservations away until the program
/// binds it.
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
