import Drill
import Foundation
import OpflowJournal
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

@Suite("Where downloads come from", .timeLimit(.minutes(30)))
struct SourceTests {
  private func fetch(
    _ spec: DownloadSpec, environment: [String] = []
  ) throws -> (DownloadHarness, DownloadHarness.End) {
    let harness = try DownloadHarness([spec], environment: environment)
    try harness.run()
    return (harness, try harness.end())
  }

  private func spec(_ urls: [String], _ change: (inout DownloadSpec) -> Void = { _ in })
    -> DownloadSpec
  {
    var spec = DownloadSpec(sources: urls, target: "deep/er/file")
    change(&spec)
    return spec
  }

  // MARK: - Mirrors

  @Test func `a mirror serves where the first source does not`() throws {
    let server = try #require(BadServer.shared)
    let body = Payload.bytes(50_000, seed: 21)
    for bad in [
      server.url("/always_404/5/21/x"), server.url("/other_bytes/50000/21/x"),
      server.url("/redirect_file/5/21/x"), "http://127.0.0.1:1/closed",
      "http://no-such-host.invalid/x",
    ] {
      let good = server.url("/plain/50000/21/mirror")
      let (harness, end) = try fetch(spec([bad, good]) { $0.sha256 = sha(body) })
      #expect(end.outcome.isSuccess, "\(end.report.detail)")
      #expect(end.report.url == good)
      #expect(harness.content("deep/er/file") == body)
    }
  }

  @Test func `a mirror goes on with the part of another source under a hash`() throws {
    let server = try #require(BadServer.shared)
    let body = Payload.bytes(400_000, seed: 22)
    let first = server.url("/chunked_never_ends/400000/22/first")
    let second = server.url("/plain/400000/22/second")
    let (harness, end) = try fetch(spec([first, second]) { $0.sha256 = sha(body) })
    #expect(end.outcome.isSuccess)
    #expect(harness.content("deep/er/file") == body)
    #expect(try server.log("/plain/400000/22/second").map(\.sent) == [200_000])
  }

  @Test func `a hash that no source meets fails with both hashes, and leaves nothing`() throws {
    let server = try #require(BadServer.shared)
    let wanted = String(repeating: "ab", count: 64)
    let (harness, end) = try fetch(
      spec([server.url("/plain/1000/23/a"), server.url("/plain/1000/23/b")]) {
        $0.sha512 = wanted
      })
    #expect(end.outcome.reason == .fetchFinal)
    #expect(harness.content("deep/er/file") == nil)
    #expect(harness.content("deep/er/file.part") == nil)
    let single = try fetch(spec([server.url("/plain/1000/23/c")]) { $0.sha256 = sha([1]) }).1
    #expect(single.report.detail.contains(sha([1])))
    #expect(single.report.detail.contains(sha(Payload.bytes(1000, seed: 23))))
  }

  // MARK: - Existing files

  @Test func `a file that is right is not asked for`() throws {
    let server = try #require(BadServer.shared)
    let body = Payload.bytes(3000, seed: 24)
    let harness = try DownloadHarness([
      spec([server.url("/plain/3000/24/right")]) {
        $0.sha256 = sha(body)
        $0.sha512 = sha(body, bits: 512)
        $0.mode = 0o640
      }
    ])
    for _ in 1...2 {
      try harness.run()
      #expect(try harness.end().outcome.isSuccess)
    }
    #expect(try server.log("/plain/3000/24/").count == 1)
    #expect(try Path.status(harness.path("deep/er/file")).mode == 0o640)
    try Data("spoilt".utf8).write(to: URL(fileURLWithPath: harness.path("deep/er/file")))
    try harness.run()
    let end = try harness.end()
    #expect(!end.report.isKept)
    #expect(harness.content("deep/er/file") == body)
  }

  @Test func `without a hash the server is asked whether the file of the last success is current`()
    throws
  {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([spec([server.url("/plain/3000/25/current")])])
    try harness.run()
    let first = try harness.end()
    #expect(first.outcome.isSuccess)
    try journal(first.report, of: harness)
    try harness.leave()
    try harness.launch()
    try harness.run()
    let second = try harness.end()
    #expect(second.outcome.isSuccess)
    #expect(second.report.isKept)
    let seen = try server.log("/plain/3000/25/")
    #expect(seen.map(\.sent) == [3000, 0])
    #expect(seen.last?.headers["if-none-match"] == "\"v1\"")

    // A locally changed file is fetched again, even if the server says "not modified".
    try Data("changed".utf8).write(to: URL(fileURLWithPath: harness.path("deep/er/file")))
    try harness.run()
    #expect(try !harness.end().report.isKept)
    #expect(harness.content("deep/er/file") == Payload.bytes(3000, seed: 25))
  }

  @Test func `a date that was younger than a second is nothing to ask with`() throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([spec([server.url("/just_modified/3000/25/fresh")])])
    try harness.run()
    try journal(try harness.end().report, of: harness)
    try harness.leave()
    try harness.launch()
    try harness.run()
    #expect(try harness.end().outcome.isSuccess)
    #expect(try server.log("/just_modified/3000/25/").map(\.sent) == [3000, 3000])
  }

  /// Journals a success as the coordinator does, in the run's own folder.
  private func journal(_ report: FetchReport, of harness: DownloadHarness) throws {
    var encoder = JournalEncoder()
    encoder.append(
      .open(
        OpenEntry(
          run: "1", planKey: "k", opflowVersion: "1", manifestPath: "m", folder: "/")),
      at: 1, plan: harness.plan)
    var transition = Transition(.success, TaskID(0), attempt: 1)
    transition.fetch = FetchRecord(report)
    encoder.append(transition, at: 2, plan: harness.plan)
    try Data(encoder.bytes).write(
      to: URL(fileURLWithPath: harness.folder + "/runs/1/journal.log"))
  }

  @Test func `a file that cannot be put in place says why, and is not tried again`() throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([spec([server.url("/plain/10/26/x")])])
    try Path.makeDirectories(harness.path("deep/er/file"))
    try harness.run()
    #expect(try harness.end().outcome.reason == .fetchFinal)
    #expect(try server.log("/plain/10/26/").isEmpty)
  }

  // MARK: - Ways

  @Test func `files of this machine are fetched where the manifest names them`() throws {
    let source = NSTemporaryDirectory() + "opflow file \(UUID().uuidString) ü"
    let body = Payload.bytes(300_000, seed: 27)
    try Data(body).write(to: URL(fileURLWithPath: source))
    defer { try? FileManager.default.removeItem(atPath: source) }
    let (harness, end) = try fetch(spec(["file://" + source]) { $0.sha256 = sha(body) })
    #expect(end.outcome.isSuccess, "\(end.report.detail)")
    #expect(harness.content("deep/er/file") == body)
    try Data().write(to: URL(fileURLWithPath: source))
    let (empty, second) = try fetch(spec(["file://" + source]))
    #expect(second.outcome.isSuccess)
    #expect(empty.content("deep/er/file") == [])
    let missing = try fetch(spec(["file:///no/such/file"])).1
    #expect(missing.outcome.reason == .fetchFinal)
    let folder = try fetch(spec(["file:///tmp"])).1
    #expect(!folder.outcome.isSuccess)
  }

  @Test(arguments: ["a%20b", "a b", "grün", "100%"])
  func `IPv6, percent-encoded and non-ASCII paths work`(_ name: String) throws {
    let server = try #require(BadServer.shared)
    let (_, end) = try fetch(spec([server.url("/plain/10/28/\(name)?q=ü")]))
    #expect(end.outcome.isSuccess, "\(end.report.detail)")
    guard server.portSix > 0 else { return }
    let six = try fetch(spec(["http://[::1]:\(server.portSix)/plain/10/28/\(name)"])).1
    #expect(six.outcome.isSuccess, "\(six.report.detail)")
  }

  @Test func `credentials come from the URL, from headers and from .netrc`() throws {
    let server = try #require(BadServer.shared)
    let plain = server.url("/needs_password/10/29/x")
    let inURL = plain.replacingOccurrences(of: "http://", with: "http://user:pa%20ss@")
    let end = try fetch(spec([inURL])).1
    #expect(end.outcome.isSuccess, "\(end.report.detail)")
    #expect(!end.report.url.contains("pa%20ss"))

    let home = NSTemporaryDirectory() + "opflow-home-" + UUID().uuidString
    try Path.makeDirectory(home)
    defer { try? FileManager.default.removeItem(atPath: home) }
    try Data("machine 127.0.0.1 login user password \"pa ss\"\n".utf8)
      .write(to: URL(fileURLWithPath: home + "/.netrc"))
    #expect(try fetch(spec([plain]), environment: ["HOME=\(home)"]).1.outcome.isSuccess)
    #expect(
      try fetch(spec([plain]), environment: ["HOME=/nowhere"]).1.outcome.reason == .fetchFinal)

    let token = spec([server.url("/needs_token/10/29/x")]) {
      $0.headers = [
        DownloadHeader(name: "X-Token", value: "secret"),
        DownloadHeader(name: "Accept", value: "application/x"),
      ]
    }
    #expect(try fetch(token).1.outcome.isSuccess)
  }

  @Test func `credentials do not go along to another host`() throws {
    let server = try #require(BadServer.shared)
    let end = try fetch(
      spec([server.url("/redirect_other_host/10/30/x")]) {
        $0.headers = [
          DownloadHeader(name: "Authorization", value: "Bearer t"),
          DownloadHeader(name: "Cookie", value: "c=1"),
          DownloadHeader(name: "X-Token", value: "secret"),
          DownloadHeader(name: "Accept", value: "a/b"),
        ]
      }
    ).1
    #expect(end.outcome.isSuccess, "\(end.report.detail)")
    #expect(end.report.url.hasPrefix("http://localhost:"))
    let first = try #require(try server.log("/redirect_other_host/10/30/").first)
    #expect(first.headers["authorization"] == "Bearer t")
    let second = try #require(try server.log("/shows_headers/10/30/").first)
    #expect(second.headers["authorization"] == nil)
    #expect(second.headers["cookie"] == nil)
    #expect(second.headers["x-token"] == nil)
    #expect(second.headers["accept"] == "a/b")
  }

  @Test func `a proxy of the environment is used, but not where it is excepted`() throws {
    let server = try #require(BadServer.shared)
    let proxy = "http_proxy=http://127.0.0.1:\(server.port)"
    let far = "http://far-away.invalid/plain/10/31/proxied"
    #expect(try fetch(spec([far]), environment: [proxy, "no_proxy="]).1.outcome.isSuccess)
    #expect(try server.log("/plain/10/31/proxied").first?.proxied == true)
    let near = server.url("/plain/10/31/near")
    _ = try fetch(spec([near]), environment: [proxy, "no_proxy=127.0.0.1"])
    #expect(try server.log("/plain/10/31/near").first?.proxied == false)
  }

  @Test func `TLS is verified, and is not left by a redirect`() throws {
    let server = try #require(BadServer.shared)
    let base = "https://localhost:\(server.portTLS)"
    let trusted = ["CURL_CA_BUNDLE=" + server.certificate]
    let good = try fetch(spec([base + "/plain/5000/32/tls"]), environment: trusted)
    #expect(good.1.outcome.isSuccess, "\(good.1.report.detail)")
    #expect(good.0.content("deep/er/file") == Payload.bytes(5000, seed: 32))

    let stranger = try fetch(spec([base + "/plain/5000/32/tls"])).1
    #expect(stranger.outcome.reason == .fetchFinal)
    #expect(stranger.report.detail.contains("cannot verify the server's certificate"))

    let down = try fetch(
      spec([base + "/redirect_downgrade/10/32/x"]), environment: trusted
    ).1
    #expect(down.outcome.reason == .fetchFinal)
    #expect(down.report.detail.contains("from https to http"))
    #expect(try server.log("/plain/10/32/x").isEmpty)

    let cut = try fetch(
      spec([base + "/cut_without_word/5000/32/x"]), environment: trusted)
    #expect(cut.1.outcome.reason == .fetch)
    #expect(cut.1.report.detail.contains("ended without a close alert"))
    #expect(cut.0.content("deep/er/file") == nil)
    let closed = try fetch(
      spec([base + "/old_server/5000/32/x"]), environment: trusted)
    #expect(closed.0.content("deep/er/file") == Payload.bytes(5000, seed: 32))

    let noTLS = try fetch(spec(["https://127.0.0.1:\(server.port)/plain/1/32/x"])).1
    #expect(!noTLS.outcome.isSuccess)
  }

  @Test func `successive downloads from a server share a connection`() throws {
    let server = try #require(BadServer.shared)
    let specs = (0..<20).map { index in
      DownloadSpec(sources: [server.url("/plain/100/33/\(index)")], target: "\(index)")
    }
    let harness = try DownloadHarness(specs)
    for index in specs.indices {
      try harness.run(index)
      #expect(try harness.end().outcome.isSuccess)
    }
    #expect(Set(try server.log("/plain/100/33/").map(\.connection)).count == 1)
  }

  @Test func `the wait that a server asks for is reported`() throws {
    let server = try #require(BadServer.shared)
    let end = try fetch(spec([server.url("/retry_after/10/34/x")])).1
    #expect(end.outcome.reason == .fetch)
    #expect(end.report.waitMilliseconds == 7000)
  }

  /// The worker's patience is longer than the harness's own.
  @Test(arguments: [
    ("redirect_no_end", true), ("redirect_not_closed", true), ("refusal_no_end", false),
    ("identity_no_end", true),
  ])
  func `an end that nobody needs is not waited for`(_ behaviour: String, isSuccess: Bool) throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness(
      [spec([server.url("/\(behaviour)/10/35/x")])], patienceMilliseconds: 600_000)
    try harness.run()
    let end = try harness.end()
    #expect(end.outcome.isSuccess == isSuccess)
    #expect(isSuccess || end.outcome.reason == .fetchFinal)
  }

  @Test func `a long body of a refusal is not read`() throws {
    let server = try #require(BadServer.shared)
    let end = try fetch(spec([server.url("/forbidden_long/10/35/x")])).1
    #expect(end.outcome.reason == .fetchFinal)
    #expect(end.report.detail.contains("403 Forbidden"))
  }

  @Test func `progress comes with the total, and not more often than ten times a second`() throws {
    let server = try #require(BadServer.shared)
    let harness = try DownloadHarness([
      spec([server.url("/plain/3000000/36/x")]) { $0.maxBytesPerSecond = 3_000_000 }
    ])
    let began = Clock.monotonicNanoseconds
    try harness.run()
    let end = try harness.end()
    let tenths = (Clock.monotonicNanoseconds - began) / 100_000_000
    #expect(end.outcome.isSuccess)
    #expect(!harness.progress.isEmpty)
    #expect(harness.progress.allSatisfy { $0.totalBytes == 3_000_000 || $0.doneBytes == 0 })
    #expect(Int64(harness.progress.count) <= tenths + 2)
  }
}
