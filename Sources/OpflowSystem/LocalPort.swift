internal import CLinux

/// A TCP port on the loopback addresses.
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

  /// Over IPv4 or IPv6.
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

  /// Returns the inodes of listening sockets in a table (proc_net(5)).
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
