import Drill
import Foundation
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

@Suite("A download worker with several tasks", .timeLimit(.minutes(30)))
struct QueueTests {
  private func harness(_ urls: [String]) throws -> DownloadHarness {
    try DownloadHarness(
      urls.enumerated().map { DownloadSpec(sources: [$1], target: "\($0)") },
      patienceMilliseconds: 30_000)
  }

  /// What the worker says until `count` tasks have come to an end: a word and the task's number.
  private func words(_ harness: DownloadHarness, until count: Int) throws -> [String] {
    var words: [String] = []
    var ends = 0
    while ends < count {
      switch try harness.next() {
      case .started(let task, _, _): words.append("started \(task.rawValue)")
      case .fetched(let task, _, _): words.append("fetched \(task.rawValue)")
      case .ended(let task, _, let outcome):
        words.append("\(outcome.isSuccess ? "ended" : "failed") \(task.rawValue)")
        ends += 1
      case .revoked(let task, _):
        words.append("revoked \(task.rawValue)")
        ends += 1
      case .hello, .refused, .lacks, .progress, .left, .value, .kept, .fault, .pulse, .checked,
        .awaits, .recorded, .changed, .restored, .ready, .tokens, .warning:
        break
      }
    }
    return words
  }

  @Test func `answers a pulse with its number, before, while and after it fetches`() throws {
    let server = try #require(BadServer.shared)
    let harness = try harness([server.url("/plain/3000000/41/0")])
    try harness.tell(.pulse(1))
    while try harness.next() != .pulse(1) {}
    try harness.run()
    try harness.tell(.pulse(2))
    while try harness.next() != .pulse(2) {}
    try harness.tell(.pulse(3))
    while try harness.next() != .pulse(3) {}
  }

  @Test func `tells of each in its turn, and has every file in place by then`() throws {
    let server = try #require(BadServer.shared)
    let harness = try harness((0..<17).map { server.url("/plain/30000/41/\($0)") })
    try harness.run()
    for task in 1..<17 { try harness.tell(.follow(TaskID(task), attempt: 1)) }
    let told = try words(harness, until: 17)
    #expect(told == (0..<17).flatMap { ["started \($0)", "fetched \($0)", "ended \($0)"] })
    for task in 0..<17 {
      #expect(harness.content("\(task)") == Payload.bytes(30_000, seed: 41))
      #expect(harness.content("\(task).part") == nil)
      #expect(harness.content("\(task).part.meta") == nil)
    }
    #expect(Set(try server.log("/plain/30000/41/").map(\.connection)).count == 1)
  }

  @Test(arguments: ["field_begins_blank", "field_begins_tab", "field_blank", "field_blank_name"])
  func `survives a head that begins with a blank, after one that did not`(_ name: String) throws {
    let server = try #require(BadServer.shared)
    let harness = try harness(
      (0..<8).flatMap {
        [
          server.url("/raw_fields_many/3000/1/\(name)\($0)"),
          server.url("/raw_\(name)/3000/1/\($0)"),
        ]
      })
    for task in 0..<16 {
      try harness.run(task)
      let end = try harness.end()
      if task.isMultiple(of: 2) {
        #expect(end.outcome.isSuccess)
      } else {
        #expect(end.outcome.reason == .fetch)
        #expect(end.report.detail.contains("invalid response: "), "\(end.report.detail)")
      }
    }
  }

  @Test func `gives back what was to follow a failure, and asks the server for none of it`() throws
  {
    let server = try #require(BadServer.shared)
    let harness = try harness([
      server.url("/plain/10/42/a"), server.url("/always_404/10/42/b"), server.url("/plain/10/42/c"),
      server.url("/plain/10/42/d"),
    ])
    // All in one write, so that the last two are there before the second fails.
    try harness.tellAll([
      .run(TaskID(0), attempt: 1), .follow(TaskID(1), attempt: 1), .follow(TaskID(2), attempt: 1),
      .follow(TaskID(3), attempt: 1),
    ])
    #expect(
      try words(harness, until: 4) == [
        "started 0", "fetched 0", "ended 0", "started 1", "fetched 1", "failed 1", "revoked 2",
        "revoked 3",
      ])
    #expect(try server.log("/plain/10/42/").map(\.path) == ["/plain/10/42/a"])
    // Nothing is left of a download that has not a byte.
    #expect(try Path.names(in: harness.folder + "/work") == ["0"])
  }

  @Test func `gives back what follows a file that cannot be stored, though it was begun already`()
    throws
  {
    let server = try #require(BadServer.shared)
    let harness = try harness((0..<3).map { server.url("/plain/10/43/\($0)") })
    // The record of an earlier part is to be removed, and a folder cannot be.
    try Path.makeDirectories(harness.path("0.part.meta"))
    try harness.tellAll([
      .run(TaskID(0), attempt: 1), .follow(TaskID(1), attempt: 1), .follow(TaskID(2), attempt: 1),
    ])
    #expect(
      try words(harness, until: 3) == [
        "started 0", "fetched 0", "failed 0", "revoked 1", "revoked 2",
      ])
    #expect(harness.content("0") == nil)
    #expect(harness.content("1") == nil)
    // Any worker may take them now.
    try harness.tellAll([.run(TaskID(1), attempt: 2), .follow(TaskID(2), attempt: 2)])
    let told = try words(harness, until: 2)
    #expect(told == (1...2).flatMap { ["started \($0)", "fetched \($0)", "ended \($0)"] })
  }
}
