import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

/// Journals that no opflow wrote, with checksums that hold.
@Suite struct RecoveryHostileTests {
  private static let words = [
    "open", "resume", "close", "worker", "start", "success", "failure", "retry", "skip", "cancel",
    "interrupt", "pause", "continue", "set", "", "startt",
  ]
  private static let keys = [
    "d", "n", "exit", "signal", "reason", "errno", "what", "wall", "fp", "of", "part", "delay",
    "allowed", "withdrawn", "reused", "removed", "format", "state", "code", "pid", "start", "",
  ]
  private static let values = [
    "0", "1", "-1", "2", "999999999", "1000000000", "2147483648", "-2147483649",
    "999999999999999999", "9223372036854775808", "99999999999999999999999", "a", "b", "gone", "\\",
    "\\x", "a\\tb", "0000000000000000-0", "0000000000000000-", "-", "interrupted", "upstream",
    "succeeded", "run", "", "=", "1=2",
  ]
  private static let tasks = ["", "a", "b", "c", "gone", "\\", "a\\tb", "\\q"]

  private static func sealed(_ body: String) -> [UInt8] {
    let body = Array(body.utf8)
    var line: [UInt8] = []
    Hexadecimal.append(
      UInt64(body.withUnsafeBytes { Hash.crc32c($0) }), digitCount: 8, to: &line)
    return line + [9] + body + [10]
  }

  @Test(arguments: 0..<40)
  func `any lines fold and are decided upon without a trap`(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    func pick<Element>(_ list: [Element]) -> Element {
      list[Int(truncatingIfNeeded: random.next() % UInt64(list.count))]
    }
    let plan = try TestPlan.make([
      TestPlan.Task(name: "a", flags: .failWhenInterrupted),
      TestPlan.Task(name: "b", needs: [("a", .success)]),
      TestPlan.Task(name: "c", needs: [("a", .failure), ("b", .finished)]),
      TestPlan.Task(name: "end", flags: .finally),
    ])
    var bytes = JournalText(plan).bytes
    var sequence: UInt64 = 1
    for _ in 0..<400 {
      let roll = random.next() % 50
      sequence += roll == 0 ? 1 << 40 : roll < 5 ? 3 : 1
      var body = "\(roll == 6 ? UInt64.max : sequence)\t\(roll == 7 ? .max : sequence)"
      body += "\t\(pick(Self.words))\t\(pick(Self.tasks))"
      for _ in 0..<(random.next() % 6) { body += "\t\(pick(Self.keys))=\(pick(Self.values))" }
      bytes += Self.sealed(body)
    }
    let history = try RunModel.read(bytes, plan)
    let decision = ResumeDecision(plan: plan, history: history)
    #expect(decision.keptCount + decision.runCount + decision.failCount == plan.taskCount)
    for task in plan.tasks {
      let record = history[TaskID(task)]
      #expect(record.attempts >= 0 && record.attempts < 1_000_000_000)
      #expect(record.settleSequence <= sequence)
    }
    #expect(history.workers.allSatisfy { $0.pid > 1 })
    // The next line can be written, and is read.
    var encoder = history.encoder
    encoder.append(.worker(WorkerEntry(pid: 4, startTime: 1, bootID: "b")), at: 1, plan: plan)
    let more = try RunModel.read(bytes + encoder.bytes, plan)
    #expect(more.workers.last == WorkerEntry(pid: 4, startTime: 1, bootID: "b"))
  }
}
