import Testing

@testable import OpflowBase
@testable import OpflowPlan
@testable import OpflowWire

/// The lines of clients that run external tasks.
@Suite struct BlockLinesTests {
  private func report(_ line: String) -> ExternalTaskReport? {
    Array(line.utf8).withUnsafeBytes { ExternalTaskLines.report($0) }
  }

  private static let facts: [(ExternalTaskFact, String)] = [
    (.offers(TaskID(7 as Int)), "offer\t7\n"),
    (.retracts(TaskID(0 as Int)), "withdraw\t0\n"),
    (.gaveBack(TaskID(7 as Int), attempt: 2), "revoked\t7\t2\n"),
    (
      .ended(TaskID(7 as Int), attempt: 2, Outcome(status: .exit(0)), detail: ""),
      "ended\t7\t2\texit=0\n"
    ),
    (
      .ended(TaskID(7 as Int), attempt: 2, Outcome(status: .exit(1)), detail: "no\tuser\n"),
      "ended\t7\t2\texit=1\twhat=no\\tuser\\n\n"
    ),
    (
      .ended(TaskID(7 as Int), attempt: 2, Outcome(status: .unknown), detail: "x"),
      "ended\t7\t2\twhat=x\n"
    ),
  ]

  @Test(arguments: facts)
  func `a fact comes out as it went in`(_ fact: ExternalTaskFact, _ line: String) {
    var writer = FieldWriter()
    ExternalTaskLines.encode(fact, into: &writer)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == line)
    #expect(report(String(line.dropLast())) == .fact(fact))
  }

  @Test func `a long text is cut to what a line may have`() {
    var writer = FieldWriter()
    let detail = String(repeating: "ü", count: 2000)
    ExternalTaskLines.encode(
      .ended(TaskID(1 as Int), attempt: 1, Outcome(status: .exit(1)), detail: detail), into: &writer
    )
    #expect(writer.bytes.count <= MessageCodec.longestLineBytes)
    #expect(writer.bytes.count > MessageCodec.longestLineBytes - 3)
  }

  @Test(arguments: ["started\t1\t1\t77", "progress\t1\t5\t10\t0\thalf", "pulse\t3"])
  func `what decides nothing is heard`(_ line: String) {
    #expect(report(line) == .heard)
  }

  @Test(arguments: [
    "", "offer", "offer\t-1", "offer\t1\t2", "offer\tx", "withdraw\t1\t", "revoked\t1",
    "ended\t1", "ended\t1\t1\texit=x", "ended\t1\t1\twhat=x\texit=1",
    "ended\t1\t1\texit=1\twhat=\\q",
    "revoked\t1\t1\twhat=x", "hello\t10\tk\t7\tcores=1\tactions=block", "ready\t1\t1",
    "refused\t1\t1\terrno=2\twhat=x", "bye", "tokens\t1\t1",
  ])
  func `another line is none`(_ line: String) {
    #expect(report(line) == nil)
  }

  @Test func `a hello tells of blocks, and is no use for commands`() throws {
    let line = "hello\t10\tkey\t7\tcores=1\tactions=block"
    guard case .hello(let hello) = Array(line.utf8).withUnsafeBytes({ MessageCodec.report($0) })
    else {
      Issue.record("no hello")
      return
    }
    #expect(hello.fault(planKey: "key", kind: .block) == nil)
    #expect(
      hello.fault(planKey: "key", kind: .command)
        == "it was started for 'run', but it supports only: block")
  }
}
