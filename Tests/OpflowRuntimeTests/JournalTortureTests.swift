import Foundation
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowRuntime
import OpflowSystem
import Testing

/// Damaged journals in files: a session opens, repairs and continues them, and `journal repair` is
/// killed at each step.
@Suite struct JournalTortureTests {
  let fixture: StateFixture
  let run: RunFolder
  let whole: [UInt8]
  /// The end of each line.
  let ends: [Int]

  init() throws {
    fixture = try StateFixture()
    run = try fixture.run(of: "/m", at: 5)
    var encoder = JournalEncoder(nextSequence: 3)
    for number in 0..<120 {
      let task = TaskID(number % 3)
      encoder.append(
        Transition(.start, task, attempt: Int32(number / 3 + 1)), at: 3, plan: fixture.plan)
      var success = Transition(.success, task, attempt: Int32(number / 3 + 1))
      success.outcome = Outcome(status: .success)
      encoder.append(success, at: 4, plan: fixture.plan)
    }
    let whole = try fixture.bytes(run.journal) + encoder.bytes
    self.whole = whole
    ends = whole.indices.filter { whole[$0] == 10 }.map { $0 + 1 }
  }

  private func put(_ bytes: [UInt8], _ path: String? = nil) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path ?? run.journal))
  }

  private func read() throws -> (history: RunModel, recovery: JournalRecovery) {
    try run.readHistory(plan: fixture.plan)
  }

  private func brief(_ history: RunModel) -> [String] {
    (0..<3).map { "\(history[TaskID($0)])" }
  }

  /// Opens the journal as a session does, adds a line, and checks all of it again.
  private func sessionOn(_ comment: Comment) throws {
    let (history, recovery) = try read()
    var journal = WrittenJournal(
      try JournalFile.reopen(run.journal, repair: recovery.repair), history.encoder)
    journal.append(Transition(.pause, .none), at: 9, plan: fixture.plan)
    try journal.flush()
    let after = try read()
    #expect(after.recovery.lineCount == recovery.lineCount + 1, comment)
    #expect(after.recovery.lastSequence == recovery.lastSequence + 1, comment)
    #expect(after.history.isSuspended, comment)
    #expect(brief(after.history) == brief(history), comment)
    #expect(
      after.recovery.repair == JournalRepair(truncateTo: nil, appendsLineFeed: false), comment)
  }

  /// Ways to spoil the journal's file, each with how many lines may be lost at most.
  private func damages() -> [(detail: String, bytes: [UInt8], maxLost: Int)] {
    var random = SplitMix64(seed: 11)
    func below(_ limit: Int) -> Int { Int(truncatingIfNeeded: random.next() % UInt64(limit)) }
    let first = ends[0]
    var damages: [(String, [UInt8], Int)] = []
    for length in stride(from: first, to: whole.count, by: 557) {
      let lost = ends.count { $0 - 1 > length }
      damages.append(("cut at \(length)", Array(whole[..<length]), lost))
    }
    for _ in 0..<16 {
      let place = first + below(whole.count - first)
      var flipped = whole
      flipped[place] ^= 1 << UInt8(below(8))
      damages.append(("a bit of byte \(place)", flipped, 2))
    }
    for size in [512, 1024, 2048, 4096, 8192] {
      for zeros in [true, false] {
        let place = first + below(whole.count - size - first)
        let block = (0..<size).map { _ in zeros ? 0 : UInt8(truncatingIfNeeded: random.next()) }
        let covered = ends.count { $0 > place && $0 < place + size } + 2
        damages.append(
          (
            "\(size) bytes at \(place)", whole[..<place] + block + whole[(place + size)...], covered
          ))
        damages.append(
          ("\(size) bytes more at \(place)", whole[..<place] + block + whole[place...], 2))
      }
    }
    for start in stride(from: first, to: whole.count, by: 2111) {
      damages.append(("doubled from \(start)", whole + whole[start...], 0))
    }
    let lines = whole.split(separator: 10)
    let editor = Array(lines.joined(separator: [13, 10]))
    damages.append(("an editor's line ends", editor + [13, 10], 0))
    damages.append(("an editor's line ends, the last one cut", editor + [13], 0))
    damages.append(("no last line feed", Array(whole.dropLast()), 0))
    damages.append(("zeros behind the end", whole + [UInt8](repeating: 0, count: 4096), 0))
    return damages
  }

  @Test func `whatever was spoiled, a session goes on behind the last whole line`() throws {
    for (detail, bytes, maxLost) in damages() {
      try put(bytes)
      let lost = ends.count - (try read().recovery.lineCount)
      #expect(lost <= maxLost, "\(detail)")
      try sessionOn("\(detail)")
    }
  }

  @Test func `a session that is killed while it opens the journal leaves one that opens the same`()
    throws
  {
    for (detail, bytes, _) in damages() {
      try put(bytes)
      let (history, recovery) = try read()
      let repair = recovery.repair
      // The bytes on disk after each of its steps, including a partial write.
      let cut = Array(bytes.prefix(repair.truncateTo ?? bytes.count))
      for step in [bytes, cut, repair.appendsLineFeed ? cut + [10] : cut] {
        try put(step)
        let again = try read()
        #expect(brief(again.history) == brief(history), "\(detail)")
        #expect(again.recovery.lastSequence == recovery.lastSequence, "\(detail)")
        try sessionOn("\(detail), killed")
      }
    }
  }

  @Test func `views change no byte of a damaged journal`() throws {
    for (detail, bytes, _) in damages() {
      try put(bytes)
      _ = try read()
      _ = try run.readRunHistory()
      #expect(try fixture.bytes(run.journal) == bytes, "\(detail)")
    }
  }

  // `journal repair`

  private var journals: [String] {
    get throws { try Path.names(in: run.path).filter { $0.hasPrefix("journal") }.sorted() }
  }

  @Test func `a repair keeps every whole line and the old journal`() throws {
    for (detail, bytes, _) in damages() {
      for name in try journals { try Path.remove(run.path + "/" + name) }
      try put(bytes)
      let before = try read()
      guard let done = try JournalCleanCopy.replace(run) else {
        #expect(before.recovery.droppedLines == 0, "\(detail)")
        continue
      }
      #expect(try fixture.bytes(done.old) == bytes, "\(detail)")
      let after = try read()
      #expect(after.recovery.droppedLines == 0, "\(detail)")
      #expect(after.recovery.lineCount == before.recovery.lineCount, "\(detail)")
      #expect(brief(after.history) == brief(before.history), "\(detail)")
      #expect(try JournalCleanCopy.replace(run) == nil, "\(detail)")
    }
  }

  @Test func `a repair that is killed anywhere keeps the old journal, and can be done again`()
    throws
  {
    var spoiled = whole
    spoiled[ends[3] + 4] ^= 1
    spoiled += Array("torn".utf8)
    let damaged = run.journal + ".damaged"
    let temporary = run.journal + ".new"
    try put(spoiled)
    try #require(JournalCleanCopy.replace(run) != nil)
    let clean = try fixture.bytes(run.journal)
    // The old one has its second name; the copy is there to any byte, or in place.
    let steps: [(String, () throws -> Void)] =
      [
        ("nothing done", {}),
        ("linked", { try Path.link(run.journal, to: damaged) }),
      ]
      + stride(from: 0, through: clean.count, by: 1013).map { length in
        (
          "\(length) bytes copied",
          {
            try Path.link(run.journal, to: damaged)
            try put(Array(clean[..<length]), temporary)
          }
        )
      }
    for (detail, makeStep) in steps {
      for name in try journals { try Path.remove(run.path + "/" + name) }
      try put(spoiled)
      try makeStep()
      #expect(try fixture.bytes(run.journal) == spoiled, "\(detail)")
      #expect(try JournalCleanCopy.replace(run)?.old == damaged, "\(detail)")
      #expect(try fixture.bytes(run.journal) == clean, "\(detail)")
      #expect(try fixture.bytes(damaged) == spoiled, "\(detail)")
      #expect(try journals == ["journal.log", "journal.log.damaged"], "\(detail)")
    }
  }
}
