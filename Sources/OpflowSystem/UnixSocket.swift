internal import CLinux
internal import Glibc

/// Stream sockets of one machine (unix(7)), named in an open folder. A closed peer shows as the end
/// of the file, or as `brokenPipe` if SIGPIPE is ignored.
package enum UnixSocket {
  /// A non-blocking listener that admits only this user. Beyond `backlog` clients, connect(2)
  /// blocks. Throws `addressInUse` if the name exists.
  package static func listen(
    _ name: String, in folder: borrowing Descriptor, backlog: Int32
  ) throws(Errno) -> Descriptor {
    let at = folder.rawValue
    return Descriptor(owning: try call { clinux_socket_listen(at, name, backlog) })
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

  /// Returns a non-blocking connection; nil if none waits. It keeps waiting after `tooManyFiles`
  /// and the like.
  package static func accept(_ listener: borrowing Descriptor) throws(Errno) -> Accepted? {
    let from = listener.rawValue
    while true {
      do throws(Errno) {
        var peer = clinux_peer()
        let taken = try call { clinux_socket_accept(from, &peer) }
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

  /// The process that made them is the peer of both.
  package struct Pair: ~Copyable {
    package let first: Descriptor
    package let second: Descriptor

    package init() throws(Errno) {
      var ends: (Int32, Int32) = (-1, -1)
      try call { clinux_socket_pair(&ends.0, &ends.1) }
      first = Descriptor(owning: ends.0)
      second = Descriptor(owning: ends.1)
    }

    /// Closes the other socket.
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
    let folder = rawValue
    var status = clinux_status()
    do throws(Errno) {
      try call { clinux_stat_in(folder, name, &status) }
      return FileStatus(status)
    } catch .noSuchFile {
      return nil
    }
  }

  package borrowing func remove(_ name: String) throws(Errno) {
    let folder = rawValue
    try call { unlinkat(folder, name, 0) }
  }
}
