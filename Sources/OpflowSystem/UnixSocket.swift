internal import CLinux
internal import Glibc

/// Stream sockets between processes of one machine (unix(7)), named in an open folder and used as a
/// `Descriptor`. A closed peer shows as the end of the file, or as `brokenPipe` if SIGPIPE is
/// ignored.
package enum UnixSocket {
  /// Makes a non-blocking listening socket that admits only this user from the moment it exists.
  ///
  /// - Parameter backlog: how many clients may wait for `accept`; others wait in connect(2).
  /// - Throws: `addressInUse` if the name exists; other errors on file systems without sockets.
  package static func listen(
    _ name: String, in folder: borrowing Descriptor, backlog: Int32
  ) throws(Errno) -> Descriptor {
    let at = folder.rawValue
    return Descriptor(owning: try call { clinux_socket_listen(at, name, backlog) })
  }

  /// The process that connected, as of then: it may have exited or passed the socket on.
  package struct Peer: Equatable, Sendable {
    /// 0 for a process of another PID namespace.
    package let pid: Int32
    package let user: UInt32
  }

  package struct Accepted: ~Copyable {
    package let descriptor: Descriptor
    package let peer: Peer

    package consuming func takeDescriptor() -> Descriptor { descriptor }
  }

  /// Accepts the next connection, non-blocking; nil if none waits. After `tooManyFiles` and the
  /// like it keeps waiting.
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
        // The client gave up while waiting.
        continue
      }
    }
  }

  /// Two connected sockets; the process that made them is the peer of both.
  package struct Pair: ~Copyable {
    package let first: Descriptor
    package let second: Descriptor

    package init() throws(Errno) {
      var ends: (Int32, Int32) = (-1, -1)
      try call { clinux_socket_pair(&ends.0, &ends.1) }
      first = Descriptor(owning: ends.0)
      second = Descriptor(owning: ends.1)
    }

    /// Returns the first socket; the other is closed.
    package consuming func takeFirst() -> Descriptor { first }
  }

  /// Checks that this process inherited a socket with that number and makes it close-on-exec. Call
  /// it before anything else can get the number.
  package static func expectInherited(_ number: Int32) throws(Errno) {
    guard DescriptorNumber.isInherited(number) else { throw .badDescriptor }
    _ = try peer(ofInherited: number)
  }

  /// Takes the socket that `expectInherited` checked; non-blocking.
  package static func takeInherited(_ number: Int32) throws(Errno) -> Accepted {
    let peer = try peer(ofInherited: number)
    return Accepted(descriptor: Descriptor(owning: number), peer: peer)
  }

  private static func peer(ofInherited number: Int32) throws(Errno) -> Peer {
    var peer = clinux_peer()
    try call { clinux_socket_adopt(number, &peer) }
    return Peer(pid: peer.pid, user: peer.user)
  }

  /// Connects to a listening socket. Throws `connectionRefused` if no process listens any more,
  /// `wouldBlock` if the backlog stayed full until the timeout.
  package static func connect(
    to name: String, in folder: borrowing Descriptor, timeout: Duration
  ) throws(Errno) -> Descriptor {
    let (at, nanoseconds) = (folder.rawValue, timeout.wholeNanoseconds)
    return Descriptor(owning: try call { clinux_socket_connect(at, name, nanoseconds) })
  }
}

extension Descriptor {
  /// The status of an entry of this open folder, links not followed; nil if missing.
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

  /// Removes an entry of this open folder (unlinkat(2)).
  package borrowing func remove(_ name: String) throws(Errno) {
    let folder = rawValue
    try call { unlinkat(folder, name, 0) }
  }
}
