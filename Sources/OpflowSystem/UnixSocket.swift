internal import CLinux
internal import Glibc

/// Stream sockets by which processes of one machine talk (unix(7)), each a name in a folder that is open.
///
/// What reads and writes them is `Descriptor`. A peer that is gone shows as the end of the file, or as
/// `brokenPipe`, whoever ignores SIGPIPE.
package enum UnixSocket {
  /// A socket that listens: non-blocking, and for the owner of this process alone from the moment that its
  /// name is there.
  ///
  /// - Parameter backlog: so many may wait to be accepted; others wait in connect(2).
  /// - Throws: `addressInUse` where there is something of that name; on file systems without sockets
  ///   whatever they say.
  package static func listen(
    _ name: String, in folder: borrowing Descriptor, backlog: Int32
  ) throws(Errno) -> Descriptor {
    let at = folder.rawValue
    return Descriptor(owning: try call { clinux_socket_listen(at, name, backlog) })
  }

  /// Who connected, as of then: the process may have ended since, or have handed its end on.
  package struct Peer: Equatable, Sendable {
    /// 0 for one of another PID namespace.
    package let pid: Int32
    package let user: UInt32
  }

  package struct Accepted: ~Copyable {
    package let descriptor: Descriptor
    package let peer: Peer

    package consuming func takeDescriptor() -> Descriptor { descriptor }
  }

  /// The next one that waits, non-blocking; nil when none does.
  ///
  /// - Throws: `tooManyFiles` and the like while somebody waits: he still does.
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
        // He gave up while he waited.
        continue
      }
    }
  }

  /// Two sockets that are connected with each other; who made them is the peer of both.
  package struct Pair: ~Copyable {
    package let first: Descriptor
    package let second: Descriptor

    package init() throws(Errno) {
      var ends: (Int32, Int32) = (-1, -1)
      try call { clinux_socket_pair(&ends.0, &ends.1) }
      first = Descriptor(owning: ends.0)
      second = Descriptor(owning: ends.1)
    }

    /// The first one; the other is closed.
    package consuming func takeFirst() -> Descriptor { first }
  }

  /// Sees whether this process was started with such a socket of that number, which no program gets from then on
  /// that is started here. To be called before anything else may have the number.
  package static func expectInherited(_ number: Int32) throws(Errno) {
    guard DescriptorNumber.isInherited(number) else { throw .badDescriptor }
    _ = try peer(ofInherited: number)
  }

  /// The socket of that number, which was found to be one; non-blocking.
  package static func takeInherited(_ number: Int32) throws(Errno) -> Accepted {
    let peer = try peer(ofInherited: number)
    return Accepted(descriptor: Descriptor(owning: number), peer: peer)
  }

  private static func peer(ofInherited number: Int32) throws(Errno) -> Peer {
    var peer = clinux_peer()
    try call { clinux_socket_adopt(number, &peer) }
    return Peer(pid: peer.pid, user: peer.user)
  }

  /// Connects to what listens there.
  ///
  /// - Throws: `connectionRefused` where nobody listens any more; `wouldBlock` where those before this one
  ///   have not been accepted for so long.
  package static func connect(
    to name: String, in folder: borrowing Descriptor, timeout: Duration
  ) throws(Errno) -> Descriptor {
    let (at, nanoseconds) = (folder.rawValue, timeout.wholeNanoseconds)
    return Descriptor(owning: try call { clinux_socket_connect(at, name, nanoseconds) })
  }
}

extension Descriptor {
  /// What stands at `name` in the folder that is open here, links not followed; nil where nothing does.
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

  /// Removes the name from the folder that is open here (unlinkat(2)).
  package borrowing func remove(_ name: String) throws(Errno) {
    let folder = rawValue
    try call { unlinkat(folder, name, 0) }
  }
}
