import Drill
import Foundation
import OpflowDownload
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

@Suite("How a download comes to its place", .timeLimit(.minutes(30)))
struct PlacementTests {
  private func mode(_ harness: DownloadHarness, _ name: String) throws -> UInt32 {
    try Path.status(harness.path(name)).mode
  }

  @Test func `its permission bits are those of the manifest, and its part is never executable`()
    throws
  {
    let server = try #require(BadServer.shared)
    var spec = DownloadSpec(sources: [server.url("/plain/3000000/51/x")], target: "file")
    spec.mode = 0o755
    spec.maxBytesPerSecond = 3_000_000
    let harness = try DownloadHarness([spec])
    // An executable file from another process.
    try File.open(harness.path("file.part"), [.writeOnly, .create]).setMode(0o777)
    try harness.run()
    try harness.progress(300_000)
    #expect(try mode(harness, "file.part") == 0o600)
    #expect(try harness.end().outcome.isSuccess)
    #expect(try mode(harness, "file") == 0o755)
    #expect(harness.content("file") == Payload.bytes(3_000_000, seed: 51))
  }

  @Test func `without any in the manifest they are those of any new file`() throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([
      DownloadSpec(sources: [server.url("/plain/10/52/x")], target: "file")
    ])
    try harness.run()
    #expect(try harness.end().outcome.isSuccess)
    try File.open(harness.path("other"), [.writeOnly, .create], mode: 0o666).close()
    #expect(try mode(harness, "file") == mode(harness, "other"))
  }

  @Test func `a record that an earlier file left is not taken for one of the new bytes`() throws {
    let server = try #require(BadServer.shared)
    let path = "/plain/2000000/53/x"
    var spec = DownloadSpec(sources: [server.url(path)], target: "file")
    spec.maxBytesPerSecond = 1_000_000
    let harness = try DownloadHarness([spec])
    var stale = PartRecord()
    stale.source = server.url(path)
    stale.validator.etag = "\"v0\""
    stale.totalBytes = 9
    stale.bootID = Machine.bootID
    try Data(stale.encoded()).write(to: URL(fileURLWithPath: harness.path("file.part.meta")))
    try harness.run()
    try harness.progress(700_000)
    harness.kill()
    let bytes = try #require(harness.content("file.part.meta"))
    let record = bytes.withUnsafeBytes { PartRecord($0) }
    #expect(record?.validator.etag == "\"v1\"")
    #expect(record?.totalBytes == 2_000_000)
  }

  @Test func `a name that nobody knows is worth another try, and leaves nothing`() throws {
    let harness = try DownloadHarness([
      DownloadSpec(sources: ["http://no-such-host.invalid/x"], target: "file")
    ])
    try harness.run()
    let end = try harness.end()
    #expect(end.outcome.reason == .fetch)
    #expect(end.report.detail.contains("cannot resolve host: no-such-host.invalid"))
    #expect(try Path.names(in: harness.folder + "/work") == [])
  }

  /// A download whose server answers when `meanwhile` has been done.
  private func gated(
    _ size: Int, _ name: String, _ meanwhile: (DownloadHarness) throws -> Void
  ) throws -> DownloadHarness {
    let server = try #require(BadServer.shared)
    var spec = DownloadSpec(sources: [server.url("/gated/\(size)/57/\(name)")], target: "file")
    let gate = NSTemporaryDirectory() + "opflow-gate-" + UUID().uuidString
    guard mkfifo(gate, 0o600) == 0 else { throw Errno(rawValue: errno) }
    defer { unlink(gate) }
    spec.headers = [DownloadHeader(name: "X-Gate", value: gate)]
    let harness = try DownloadHarness([spec])
    try harness.run()
    // Waits until the server, which has the request, reads from the other end.
    let opened = try File.open(gate, .writeOnly)
    try meanwhile(harness)
    try opened.close()
    return harness
  }

  @Test(arguments: [10, 300_000])
  func `nothing stands there before there is something to write`(_ size: Int) throws {
    let harness = try gated(size, "late") {
      #expect($0.content("file.part") == nil)
      #expect($0.content("file") == nil)
    }
    #expect(try harness.end().outcome.isSuccess)
    #expect(harness.content("file") == Payload.bytes(size, seed: 57))
    #expect(harness.content("file.part") == nil)
  }

  @Test(arguments: [10, 300_000])
  func `what somebody left at its part meanwhile is not part of it`(_ size: Int) throws {
    let harness = try gated(size, "left") {
      let part = try File.open($0.path("file.part"), [.writeOnly, .create], mode: 0o600)
      try part.writeAll([UInt8](repeating: 7, count: 500_000))
      try Data("rubbish".utf8).write(to: URL(fileURLWithPath: $0.path("file.part.meta")))
    }
    #expect(try harness.end().outcome.isSuccess)
    #expect(harness.content("file") == Payload.bytes(size, seed: 57))
    #expect(harness.content("file.part") == nil)
    #expect(harness.content("file.part.meta") == nil)
  }

  @Test(arguments: [10, 300_000])
  func `a part that another process has begun meanwhile is left to it`(_ size: Int) throws {
    var holder: SharedLock?
    let harness = try gated(size, "taken") {
      let part = try File.open($0.path("file.part"), [.readWrite, .create], mode: 0o600)
      #expect(try part.tryLock())
      try part.writeAll("theirs")
      holder = SharedLock(part)
    }
    let end = try harness.end()
    #expect(end.outcome.reason == .fetch)
    #expect(end.report.detail.contains("another process"))
    #expect(harness.content("file.part") == Array("theirs".utf8))
    #expect(harness.content("file") == nil)
    withExtendedLifetime(holder) {}
  }

  /// Gives a file to another user, who may write it.
  private func give(_ path: String) throws {
    guard chown(path, 65_534, 65_534) == 0 else { throw Errno(rawValue: errno) }
    try File.open(path, .readOnly).setMode(0o666)
  }

  @Test(.enabled(if: geteuid() == 0, "root alone can give files to another user"))
  func `a part of another user is not continued, and does not become the file`() throws {
    let server = try #require(BadServer.shared)
    var spec = DownloadSpec(sources: [server.url("/plain/2000000/58/x")], target: "file")
    spec.maxBytesPerSecond = 1_000_000
    let harness = try DownloadHarness([spec])
    try harness.run()
    try harness.progress(700_000)
    harness.kill()
    let part = harness.path("file.part")
    let bytes = try #require(harness.content("file.part"))
    try File.open(part, .readWrite).writeAll([UInt8](repeating: 7, count: bytes.count))
    for path in [part, part + ".meta"] { try give(path) }
    let theirs = try File.open(part, .readWrite)
    try harness.launch()
    try harness.run()
    #expect(try harness.end().outcome.isSuccess)
    #expect(harness.content("file") == Payload.bytes(2_000_000, seed: 58))
    let status = try Path.status(harness.path("file"))
    #expect(status.owner == geteuid())
    #expect(try status.identity != theirs.status().identity)
  }

  @Test func `a part that has a second name is not continued`() throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([
      DownloadSpec(sources: [server.url("/plain/3000000/59/x")], target: "file")
    ])
    try File.put(Array("other".utf8), at: harness.path("other"))
    try Path.link(harness.path("other"), to: harness.path("file.part"))
    try harness.run()
    #expect(try harness.end().outcome.isSuccess)
    #expect(harness.content("file") == Payload.bytes(3_000_000, seed: 59))
    #expect(harness.content("other") == Array("other".utf8))
  }

  @Test(.enabled(if: geteuid() == 0, "root alone can give files to another user"))
  func `in a sticky folder a right file of another user is replaced`() throws {
    let server = try #require(BadServer.shared)
    let bytes = Payload.bytes(1_000, seed: 60)
    var spec = DownloadSpec(sources: [server.url("/plain/1000/60/x")], target: "file")
    spec.sha256 = sha(bytes)
    let harness = try DownloadHarness([spec])
    try File.put(bytes, at: harness.path("file"))
    try give(harness.path("file"))
    try harness.run()
    #expect(try harness.end().outcome.isSuccess)
    #expect(try Path.status(harness.path("file")).owner == 65_534)
    try File.open(harness.folder + "/work", .readOnly).setMode(0o1777)
    try harness.run(attempt: 2)
    #expect(try harness.end().outcome.isSuccess)
    #expect(try Path.status(harness.path("file")).owner == geteuid())
  }

  /// Keeps a lock for as long as it lives.
  private final class SharedLock {
    let file: Descriptor
    init(_ file: consuming Descriptor) { self.file = file }
  }
}
