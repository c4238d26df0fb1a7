import Drill
import OpflowPlan
import OpflowWire
import Testing

@Suite("A server that misbehaves in another way each time", .timeLimit(.minutes(30)))
struct MoodyServerTests {
  @Test(arguments: 1000..<1040)
  func `gives the right file in the end, whatever came between`(_ seed: Int) throws {
    let server = try #require(BadServer.shared)
    let size = 1 + seed * 7919 % 3_000_000
    let body = Payload.bytes(size, seed: seed)
    for hash in [true, false] {
      var spec = DownloadSpec(
        sources: [server.url("/moody/\(size)/\(seed)/\(hash)")], target: "file")
      if hash { spec.sha256 = sha(body) }
      let harness = try DownloadHarness([spec])
      let ends = try harness.tries()
      #expect(ends.last?.outcome.isSuccess == true, "\(ends.map(\.report.detail))")
      #expect(harness.content("file") == body)
      #expect(harness.content("file.part") == nil)
      #expect(harness.content("file.part.meta") == nil)
    }
  }
}
