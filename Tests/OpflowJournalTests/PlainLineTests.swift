import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import Testing

/// Starts and successes as they are written are folded in a shorter way than lines of any other
/// shape.
@Suite struct PlainLineTests {
  /// The same journal, with the fields of starts and successes in another order, which says the
  /// same.
  private func turned(_ bytes: [UInt8]) -> [UInt8] {
    var turned: [UInt8] = []
    for line in bytes.split(separator: 10, omittingEmptySubsequences: false) {
      var fields = line.split(separator: 9, omittingEmptySubsequences: false)
      let isPlain =
        fields.count > 5
        && (fields[3].elementsEqual("start".utf8) || fields[3].elementsEqual("success".utf8))
      guard isPlain else {
        turned += line + [10]
        continue
      }
      fields[5...].reverse()
      let body = Array(fields[1...].joined(separator: [9]))
      let checksum = String(body.withUnsafeBytes { Hash.crc32c($0) }, radix: 16)
      turned += Array(String(repeating: "0", count: 8 - checksum.count).utf8) + checksum.utf8
      turned += [9] + body + [10]
    }
    return turned.dropLast()
  }

  private func expectSame(_ one: RunModel, _ other: RunModel, _ plan: Plan, _ detail: String) {
    #expect(one.hasStarts == other.hasStarts, "\(detail)")
    #expect(one.begun == other.begun, "\(detail)")
    #expect(one.origins == other.origins, "\(detail)")
    #expect(one.sessions == other.sessions, "\(detail)")
    for index in plan.tasks {
      let task = TaskID(index)
      #expect(
        String(describing: one[task]) == String(describing: other[task]),
        "\(detail), task \(plan.nameString(task))")
    }
  }

  @Test func `what is folded does not hang on the order of a line's fields`() throws {
    for seed in UInt64(0)..<60 {
      var run = try RandomRun(seed: seed)
      for _ in 0..<120 { try run.step() }
      let other = turned(run.bytes)
      for keepsAttempts in [false, true] {
        let folds = try [run.bytes, other].map { bytes in
          try bytes.withUnsafeBytes {
            try RunModel.read(
              $0, plan: run.plan, keepingDetails: keepsAttempts, keepingAttempts: keepsAttempts)
          }
        }
        #expect(folds[0].recovery == folds[1].recovery, "seed \(seed)")
        expectSame(folds[0].history, folds[1].history, run.plan, "seed \(seed)")
      }
    }
  }

  @Test(arguments: [
    "start\ta\tn=1\tw=0", "start\ta\tn=1\tw=12\tahead=1", "start\ta\tn=1\tw=65536",
    "start\ta\tn=1\tw=0\tahead=2", "start\ta\tn=1\tw=", "start\ta\tn=:\tw=0", "start\ta\tn=12\tw=0",
    "start\ta\td=1\tn=1\tw=0", "start\ta\td=2\tn=1\tw=0", "start\ta\tn=1", "start\ta",
    "start\ta\tn=1\tw=0\twhat=x", "start\ta\tn=1\tw=0\tahead=1\td=1", "start\ta\tn=1\tw=0\t",
  ])
  func `a start of any shape says what its fields say`(_ text: String) throws {
    try expectTold(text)
  }

  @Test(arguments: [
    "exit=0\twall=12\tuser=3\tsys=4\trss=5\tout=6\tfp=0000000000000001.1",
    "exit=0\twall=123456789012\tfp=0000000000000001.1234567890abcdef",
    "exit=0\twall=1234567890123456\tfp=0000000000000001.1",
    "exit=0\twall=12345678\tuser=12345678\tfp=0000000000000002.1",
    "exit=12\twall=1\tfp=0000000000000001.1", "exit=0\twall=\tfp=0000000000000001.1",
    "exit=0\twall=1\tfp=0000000000000001-1", "exit=0\twall=1\tfp=01.1", "exit=0\twall=1",
    "exit=0\twall=1\tfp=0000000000000001.1\torigin=7",
    "exit=0\twall=1\tfp=01\twhat=aaaaaaa.-\tlate=1",
    "exit=0\twall=1\trss=\tfp=0000000000000001.1", "exit=0\twall=1\tuser=1",
    "exit=0\twall=1\tuser=1\t",
    "exit=0\twall=1\tfp=0000000000000001.1\trestored=1", "signal=9\twall=1", "reason=output", "",
    "exit=0\twall=1\trss=2\tuser=3\tfp=0000000000000001.1",
  ])
  func `a success of any shape says what its fields say`(_ end: String) throws {
    try expectTold("success\ta\tn=1" + (end.isEmpty ? "" : "\t" + end))
  }

  /// Folds a line behind a start, and the same with a key behind it that nobody knows, which no
  /// usual line has.
  private func expectTold(_ text: String) throws {
    let plan = try TestPlan.make(names: ["a", "b"])
    let folds = try [text, text + "\tzz=1"].map { line in
      var encoder = JournalEncoder()
      encoder.append(.open(.example), at: 1_700_000_000_000, plan: plan)
      encoder.append(
        .transition(Transition(.start, TaskID(line.hasPrefix("success") ? 0 : 1), attempt: 1)),
        at: 1_700_000_000_001, plan: plan)
      let body = "3\t1700000000002\t" + line
      let checksum = String(Array(body.utf8).withUnsafeBytes { Hash.crc32c($0) }, radix: 16)
      let bytes =
        encoder.bytes + Array(String(repeating: "0", count: 8 - checksum.count).utf8)
        + Array("\(checksum)\t\(body)\n".utf8)
      return try bytes.withUnsafeBytes { try RunModel.read($0, plan: plan) }
    }
    #expect(folds[0].recovery.lineCount == 3 && folds[1].recovery.lineCount == 3)
    expectSame(folds[0].history, folds[1].history, plan, text)
  }
}
