import Drill
import Foundation
import OpflowCore
import OpflowSystem
import Testing

@Suite("How a download comes to its place", .timeLimit(.minutes(5)))
struct PlacementTests {
  private func mode(_ harness: DownloadHarness, _ name: String) throws -> UInt32 {
    try Path.status(harness.path(name)).mode
  }

  @Test("its permission bits are those of the manifest, and its part is never executable")
  func permissions() throws {
    let server = try #require(BadServer.shared)
    var spec = DownloadSpec(sources: [server.url("/plain/3000000/51/x")], target: "file")
    spec.mode = 0o755
    spec.maxBytesPerSecond = 3_000_000
    let harness = try DownloadHarness([spec])
    // Whoever left it there meant it to be run.
    try File.open(harness.path("file.part"), [.writeOnly, .create]).setMode(0o777)
    try harness.run()
    try harness.progress(300_000)
    #expect(try mode(harness, "file.part") == 0o600)
    #expect(try harness.end().outcome.isSuccess)
    #expect(try mode(harness, "file") == 0o755)
    #expect(harness.content("file") == Payload.bytes(3_000_000, seed: 51))
  }

  @Test("without any in the manifest they are those of any new file")
  func standardPermissions() throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([
      DownloadSpec(sources: [server.url("/plain/10/52/x")], target: "file")
    ])
    try harness.run()
    #expect(try harness.end().outcome.isSuccess)
    try File.open(harness.path("other"), [.writeOnly, .create], mode: 0o666).close()
    #expect(try mode(harness, "file") == mode(harness, "other"))
  }

  @Test("a record that an earlier file left is not taken for one of the new bytes")
  func staleRecord() throws {
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

  @Test("a name that nobody knows is worth another try, and leaves nothing")
  func unknownHost() throws {
    let harness = try DownloadHarness([
      DownloadSpec(sources: ["http://no-such-host.invalid/x"], target: "file")
    ])
    try harness.run()
    let end = try harness.end()
    #expect(end.outcome.reason == .fetch)
    #expect(end.report.what.contains("could not be resolved"))
    #expect(try Path.names(in: harness.folder + "/work") == [])
  }
}
