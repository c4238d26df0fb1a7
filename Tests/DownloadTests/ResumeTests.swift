import Drill
import Foundation
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

@Suite("Downloads that are interrupted", .timeLimit(.minutes(30)))
struct ResumeTests {
  private let size = 8_000_000

  private func spec(_ server: BadServer, _ path: String, speed: Int64 = 0) -> DownloadSpec {
    var spec = DownloadSpec(sources: [server.url(path)], target: "file")
    spec.maxBytesPerSecond = speed
    return spec
  }

  @Test func `go on after a SIGKILL of the worker, and fetch next to nothing twice`() throws {
    let server = try #require(BadServer.shared)
    let path = "/plain/\(size)/11/killed"
    let harness = try DownloadHarness([spec(server, path, speed: 4_000_000)])
    for attempt in 1...4 {
      try harness.run(0, attempt: Int32(attempt))
      try harness.progress(Int64(attempt) * Int64(size) / 8)
      harness.kill()
      #expect(harness.content("file") == nil)
      try harness.launch()
    }
    try harness.run(0, attempt: 5)
    let end = try harness.end()
    #expect(end.outcome.isSuccess)
    #expect(end.report.resumedBytes > Int64(size) / 3)
    #expect(harness.content("file") == Payload.bytes(size, seed: 11))
    let requests = try server.log(path)
    #expect(requests.count == 5)
    // Whole pieces of a mebibyte are written as soon as they are there, so each try began at most
    // one behind what the try before it had told of.
    for (index, request) in requests.dropFirst().enumerated() {
      let first = request.headers["range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
      #expect(first >= (index + 1) * size / 8 - 1_048_576)
    }
  }

  @Test func `keep their part when they are stopped, and go on from it`() throws {
    let server = try #require(BadServer.shared)
    let path = "/plain/\(size)/12/stopped"
    let harness = try DownloadHarness([spec(server, path, speed: 4_000_000)])
    try harness.run()
    try harness.progress(1_000_000)
    try harness.tell(.stop(TaskID(0), attempt: 1, reason: .cancel))
    let end = try harness.end()
    #expect(end.outcome.reason == .stopped(.cancel))
    let part = try #require(harness.content("file.part"))
    #expect(part.count >= 1_000_000)
    #expect(Array(Payload.bytes(size, seed: 12)[..<part.count]) == part)
    try harness.run(0, attempt: 2)
    let second = try harness.end()
    #expect(second.outcome.isSuccess)
    #expect(second.report.resumedBytes == Int64(part.count))
    #expect(harness.content("file") == Payload.bytes(size, seed: 12))
  }

  @Test func `stand still while they are suspended`() throws {
    let server = try #require(BadServer.shared)
    let path = "/plain/\(size)/13/suspended"
    let harness = try DownloadHarness([spec(server, path, speed: 8_000_000)])
    try harness.run()
    try harness.progress(500_000)
    try harness.tell(.suspend(TaskID(0), attempt: 1))
    // Answered while it is suspended: the worker listens, and does nothing else.
    try harness.tell(.run(TaskID(0), attempt: 7))
    try harness.tell(.revoke(TaskID(0), attempt: 7))
    while true { if case .revoked(_, attempt: 7) = try harness.next() { break } }
    #expect(harness.content("file") == nil)
    try harness.tell(.proceed(TaskID(0), attempt: 1))
    #expect(try harness.end().outcome.isSuccess)
    #expect(harness.content("file") == Payload.bytes(size, seed: 13))
  }

  @Test func `end with the worker when the coordinator is gone, and keep their part`() throws {
    let server = try #require(BadServer.shared)
    let path = "/plain/\(size)/14/orphaned"
    let harness = try DownloadHarness([spec(server, path, speed: 4_000_000)])
    try harness.run()
    try harness.progress(700_000)
    try harness.leave()
    let part = try #require(harness.content("file.part"))
    #expect(part.count >= 700_000)
    #expect(harness.content("file") == nil)
  }

  @Test func `end when their time is up, and keep their part`() throws {
    let server = try #require(BadServer.shared)
    let path = "/stall_in_body/100000/15/timeout"
    let harness = try DownloadHarness(
      [spec(server, path)], policy: TaskPolicy(timeoutMilliseconds: 300))
    try harness.run()
    let end = try harness.end()
    #expect(end.outcome.reason == .timeout)
    #expect(harness.content("file.part")?.count == 50_000)
  }

  @Test func `do not follow a symbolic link that somebody put at the part`() throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([spec(server, "/plain/1000/16/link")])
    try Data("precious".utf8).write(to: URL(fileURLWithPath: harness.path("precious")))
    try Path.symbolicLink(harness.path("precious"), at: harness.path("file.part"))
    try harness.run()
    let end = try harness.end()
    #expect(end.outcome.reason == .fetchFinal)
    #expect(end.report.detail.contains("symbolic link"))
    #expect(harness.content("precious") == Array("precious".utf8))
  }

  @Test func `leave a part alone that another process works on`() throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([spec(server, "/plain/1000/17/busy")])
    let holder = try File.open(harness.path("file.part"), [.readWrite, .create])
    #expect(try holder.tryLock())
    try harness.run()
    let end = try harness.end()
    #expect(end.outcome.reason == .fetch)
    #expect(end.report.detail.contains("another process"))
  }

  @Test(arguments: ["rubbish", "empty", "torn record"])
  func `begin anew where the part is worth nothing`(_ damage: String) throws {
    let server = try #require(BadServer.shared)
    let path = "/plain/500000/18/\(damage.first ?? "x")"
    let body = Payload.bytes(500_000, seed: 18)
    for hash in [true, false] {
      var spec = spec(server, path)
      if hash { spec.sha256 = sha(body) }
      let harness = try DownloadHarness([spec])
      let rubbish = damage == "empty" ? [] : [UInt8](repeating: 7, count: 300_000)
      try Data(rubbish).write(to: URL(fileURLWithPath: harness.path("file.part")))
      if damage == "torn record" {
        try Data("0badc0de\tpart\t1\tsource".utf8).write(
          to: URL(fileURLWithPath: harness.path("file.part.meta")))
      }
      try harness.run()
      #expect(try harness.end().outcome.isSuccess)
      #expect(harness.content("file") == body)
    }
  }

  @Test func `do not continue a part where the manifest forbids it`() throws {
    let server = try #require(BadServer.shared)
    var spec = spec(server, "/truncated_once/200000/19/forbidden")
    spec.resumes = false
    let harness = try DownloadHarness([spec])
    #expect(try harness.tries().last?.outcome.isSuccess == true)
    #expect(try server.log("/truncated_once/200000/19/").allSatisfy { $0.headers["range"] == nil })
  }
}
