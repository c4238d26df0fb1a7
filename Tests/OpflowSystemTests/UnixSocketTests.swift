import Foundation
import Testing

@testable import OpflowSystem

@Suite struct UnixSocketTests {
  private let folder: TemporaryFolder
  private let name = "control.sock"

  init() throws { folder = try TemporaryFolder() }

  private func open(_ path: String? = nil) throws -> Descriptor {
    try File.open(path ?? folder.path, [.readOnly, .directory])
  }

  private func read(_ descriptor: borrowing Descriptor) throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 100)
    let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
    return Array(buffer[..<count])
  }

  /// Whether somebody waited, who is let go.
  private func accepts(_ listener: borrowing Descriptor) throws -> Bool {
    guard let accepted = try UnixSocket.accept(listener) else { return false }
    _ = accepted.takeDescriptor()
    return true
  }

  @Test func `two ends talk, and each knows when the other is gone`() throws {
    let at = try open()
    let listener = try UnixSocket.listen(name, in: at, backlog: 4)
    #expect(try !accepts(listener))
    let connection = try UnixSocket.connect(to: name, in: at, timeout: .seconds(5))
    guard let accepted = try UnixSocket.accept(listener) else {
      Issue.record("nobody waits")
      return
    }
    let peer = accepted.peer
    #expect(peer.pid == ProcessID.own)
    #expect(peer.user == ProcessID.ownUser)
    let server = accepted.takeDescriptor()
    #expect(throws: Errno.wouldBlock) { try read(server) }
    try connection.writeAll("ask")
    #expect(try read(server) == Array("ask".utf8))
    try server.writeAll("answer")
    #expect(try read(connection) == Array("answer".utf8))
    try server.close()
    #expect(try read(connection) == [])
    // The second write meets the end that the first one told of.
    try Dispositions.ignore(.pipe)
    #expect(throws: Errno.brokenPipe) {
      try connection.writeAll("x")
      try connection.writeAll("x")
    }
  }

  @Test func `a path of any length will do`() throws {
    var path = folder.path
    for _ in 0..<4 {
      path += "/" + String(repeating: "x", count: 100)
      try Path.makeDirectory(path)
    }
    let at = try open(path)
    let listener = try UnixSocket.listen(name, in: at, backlog: 1)
    _ = try UnixSocket.connect(to: name, in: at, timeout: .seconds(5))
    #expect(try accepts(listener))
    #expect(try at.status(of: name)?.kind == .socket)
  }

  @Test func `nobody else may connect, from the first moment`() throws {
    let old = umask(0)
    defer { umask(old) }
    let at = try open()
    let listener = try UnixSocket.listen(name, in: at, backlog: 1)
    _ = consume listener
    let status = try #require(try at.status(of: name))
    #expect(status.kind == .socket)
    #expect(status.mode == 0o600)
  }

  @Test func `a name that is taken, or that nobody listens at, is told`() throws {
    let at = try open()
    #expect(throws: Errno.noSuchFile) {
      _ = try UnixSocket.connect(to: name, in: at, timeout: .seconds(1))
    }
    do {
      let listener = try UnixSocket.listen(name, in: at, backlog: 1)
      #expect(throws: Errno.addressInUse) {
        _ = try UnixSocket.listen(name, in: at, backlog: 1)
      }
      _ = consume listener
    }
    #expect(throws: Errno.connectionRefused) {
      _ = try UnixSocket.connect(to: name, in: at, timeout: .seconds(1))
    }
    try at.remove(name)
    #expect(try at.status(of: name) == nil)
    #expect(throws: Errno.nameTooLong) {
      _ = try UnixSocket.listen(String(repeating: "x", count: 120), in: at, backlog: 1)
    }
  }

  @Test func `who waits too long to be taken is told`() throws {
    let at = try open()
    let listener = try UnixSocket.listen(name, in: at, backlog: 0)
    let first = try UnixSocket.connect(to: name, in: at, timeout: .seconds(5))
    #expect(throws: Errno.wouldBlock) {
      _ = try UnixSocket.connect(to: name, in: at, timeout: .milliseconds(1))
    }
    _ = consume first
    #expect(try accepts(listener))
  }

  @Test func `a link is seen as one, and not followed`() throws {
    let at = try open()
    try Path.symbolicLink("nowhere", at: folder(name))
    #expect(try at.status(of: name)?.kind == .link)
    #expect(throws: Errno.addressInUse) { _ = try UnixSocket.listen(name, in: at, backlog: 1) }
    #expect(try at.status(of: "nowhere") == nil)
  }
}
