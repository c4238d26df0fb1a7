import Fixtures
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

/// Damages a journal of two sessions in every way that it must survive.
@Suite struct RecoveryTests {
  let plan: Plan
  let journal: JournalText
  /// The lines of the undamaged journal, by SEQ.
  let lines: [[UInt8]]
  /// What the undamaged journal claims to have ended well after each of its lines.
  private let successes: [Set<String>]

  init() throws {
    let names = (0..<12).map { "task-\($0)" }
    plan = try TestPlan.make(names: names)
    var journal = JournalText(plan)
    journal.append(.worker(WorkerEntry(pid: 77, startTime: 5, bootID: "boot")))
    try journal.run("task-0", "task-1", "task-2")
    try journal.start("task-3")
    try journal.failure("task-3")
    try journal.skip("task-4", .upstream(plan.id("task-3")))
    try journal.start("task-5")
    try journal.start("task-6")
    try journal.success("task-6")
    try journal.resume(
      ("task-1", .asked), ("task-2", .changed(nil)), ("task-3", .failedBefore),
      ("task-4", .skippedBefore), ("task-5", .interrupted))
    journal.append(.worker(WorkerEntry(pid: 78, startTime: 6, bootID: "boot")))
    try journal.start("task-1", attempt: 2)
    try journal.run("task-7")
    try journal.start("task-3", attempt: 2)
    try journal.success("task-3", attempt: 2)
    try journal.run("task-8", "task-9")
    journal.append(.close(CloseEntry(state: .interrupted, exitCode: 130, signal: 2)))
    self.journal = journal
    lines = journal.bytes.split(separator: 10).map { Array($0) }
    var successes: [Set<String>] = [[]]
    for end in journal.offsets.dropFirst() {
      successes.append(try RunModel.read(Array(journal.bytes[..<end]), plan).successes(plan))
    }
    self.successes = successes
  }

  private struct Reading {
    var sequences: [UInt64] = []
    var recovery = JournalRecovery()
    var error: JournalError?
  }

  private func read(_ bytes: [UInt8]) -> Reading {
    bytes.withUnsafeBytes { bytes in
      var reading = Reading()
      do throws(JournalError) {
        var reader = try JournalReader(bytes)
        while let line = reader.next() {
          reading.sequences.append(line.sequence)
        }
        reading.recovery = reader.recovery
      } catch {
        reading.error = error
      }
      return reading
    }
  }

  /// What the lock's holder does before it appends.
  private func repaired(_ bytes: [UInt8], _ repair: JournalRepair) -> [UInt8] {
    Array(bytes.prefix(repair.truncateTo ?? bytes.count)) + (repair.appendsLineFeed ? [10] : [])
  }

  /// The promises for any damage behind line 1.
  private func check(_ damaged: [UInt8], _ comment: Comment) throws {
    let reading = read(damaged)
    #expect(reading.error == nil, comment)
    #expect(reading.sequences == reading.sequences.sorted(), comment)
    #expect(Set(reading.sequences).count == reading.sequences.count, comment)

    let history = try RunModel.read(damaged, plan)
    let last = Int(reading.recovery.lastSequence)
    #expect(history.successes(plan).isSubset(of: successes[last]), comment)

    let whole = repaired(damaged, reading.recovery.repair)
    let again = read(whole)
    #expect(again.sequences == reading.sequences, comment)
    #expect(
      again.recovery.repair == JournalRepair(truncateTo: nil, appendsLineFeed: false), comment)
    #expect(again.recovery.lastSequence == reading.recovery.lastSequence, comment)

    // A line appended to what was repaired is read.
    var encoder = history.encoder
    encoder.append(.worker(WorkerEntry(pid: 99, startTime: 9, bootID: "b")), at: 9, plan: plan)
    let appended = try RunModel.read(whole + encoder.bytes, plan)
    #expect(appended.workers.last?.pid == 99, comment)
    #expect(appended.successes(plan) == history.successes(plan), comment)
  }

  @Test func `an undamaged journal is read whole`() {
    let reading = read(journal.bytes)
    #expect(reading.sequences == (1...UInt64(lines.count)).map { $0 })
    #expect(reading.recovery.isIntact)
    #expect(reading.recovery.damage.isEmpty)
    #expect(reading.recovery.repair == JournalRepair(truncateTo: nil, appendsLineFeed: false))
  }

  @Test func `a journal cut at any byte keeps every whole line before the cut`() throws {
    for length in journal.offsets[1]..<journal.bytes.count {
      let cut = Array(journal.bytes.prefix(length))
      let reading = read(cut)
      // A line whose last byte before its line feed is there is whole.
      let whole = journal.offsets.dropFirst().filter { $0 - 1 <= length }.count
      #expect(reading.sequences.count == whole, "cut at \(length)")
      #expect(reading.recovery.isOnlyTorn, "cut at \(length)")
      try check(cut, "cut at \(length)")
    }
  }

  @Test func `a journal cut within its first line is refused`() {
    #expect(read([]).error == .empty)
    for length in 1..<(journal.offsets[1] - 1) {
      #expect(read(Array(journal.bytes.prefix(length))).error == .firstLine)
    }
  }

  @Test(arguments: [UInt8(1), 0xff])
  func `a flipped byte costs no more than the lines that it stands between`(_ mask: UInt8) throws {
    for position in journal.offsets[1]..<journal.bytes.count {
      var flipped = journal.bytes
      flipped[position] ^= mask
      let lost = lines.count - read(flipped).sequences.count
      let isLineFeed = journal.bytes[position] == 10
      #expect(lost <= (isLineFeed ? 2 : 1), "byte \(position)")
      try check(flipped, "byte \(position) flipped")
    }
  }

  @Test func `a flipped byte in the first line is refused`() {
    for position in 0..<(journal.offsets[1] - 1) {
      var flipped = journal.bytes
      flipped[position] ^= 1
      #expect(read(flipped).error == .firstLine)
    }
  }

  @Test(arguments: [512, 1024, 4096, 8192])
  func `blocks of zeros and of noise cost what they cover and the line behind`(_ size: Int) throws {
    var random = SystemRandomNumberGenerator()
    // Long enough to have something on both sides of the largest block.
    var long = journal
    for round in 0..<8 {
      try long.resume(("task-10", .asked), ("task-11", .asked))
      for name in (0..<10).map({ "task-\($0)" }) {
        try long.start(name, attempt: Int32(round) + 3)
        try long.success(name, attempt: Int32(round) + 3)
      }
    }
    for position in stride(from: journal.offsets[1], to: long.bytes.count - size, by: 149) {
      for zeros in [true, false] {
        var damaged = long.bytes
        for index in position..<(position + size) {
          damaged[index] = zeros ? 0 : UInt8.random(in: 0...255, using: &random)
        }
        let history = try RunModel.read(damaged, plan)
        let written = try RunModel.read(long.bytes, plan)
        let reading = damaged.withUnsafeBytes { bytes in
          (try? RunModel.read(bytes, plan: plan))?.recovery
        }
        let recovery = try #require(reading)
        let covered = long.offsets.indices.dropLast().filter {
          long.offsets[$0] < position + size && long.offsets[$0 + 1] > position
        }.count
        #expect(recovery.lineCount >= long.offsets.count - 1 - covered - 1)
        if recovery.repair.truncateTo == nil {
          #expect(history.successes(plan).isSubset(of: written.successes(plan)))
        }
      }
    }
  }

  @Test func `blocks put between lines cost nothing but the line behind them`() throws {
    for line in 1..<lines.count {
      for block in [[UInt8](repeating: 0, count: 512), [UInt8](repeating: 10, count: 3)] {
        let offset = journal.offsets[line]
        let damaged = journal.bytes[..<offset] + block + journal.bytes[offset...]
        #expect(read(Array(damaged)).sequences.count >= lines.count - 1)
        try check(Array(damaged), "before line \(line + 1)")
      }
    }
  }

  @Test func `a doubled tail is passed over and cut off`() throws {
    for start in journal.offsets[1]..<journal.bytes.count {
      let doubled = journal.bytes + journal.bytes[start...]
      let reading = read(doubled)
      #expect(reading.sequences.count == lines.count)
      #expect(reading.recovery.repair.truncateTo == journal.bytes.count)
      try check(doubled, "doubled from \(start)")
    }
  }

  @Test func `line endings that an editor changed are no damage`() throws {
    let changed = Array(journal.bytes.split(separator: 10).joined(separator: [13, 10])) + [13, 10]
    let reading = read(changed)
    #expect(reading.recovery.isIntact)
    #expect(reading.sequences.count == lines.count)
    try check(changed, "CR LF")
    try check(Array(changed.dropLast()), "CR at the end")
  }

  @Test func `the place of damage is told once, with what is missing`() {
    var damaged = journal.bytes
    let third = journal.offsets[2]
    damaged[third] ^= 1
    damaged[journal.offsets[3]] ^= 1
    let recovery = read(damaged).recovery
    #expect(recovery.droppedLines == 2)
    #expect(recovery.missingLines == 2)
    #expect(
      recovery.damage == [
        JournalDamage(
          offset: third, byteCount: journal.offsets[4] - third, lineCount: 2, kind: .unreadable)
      ])

    let gone = Array(journal.bytes[..<third] + journal.bytes[journal.offsets[3]...])
    #expect(
      read(gone).recovery.damage == [
        JournalDamage(offset: third, byteCount: 0, lineCount: 1, kind: .missing(3..<4))
      ])
    #expect(read(gone).recovery.damage.first?.message == "byte \(third): line 3 is missing")
  }

  @Test func `a format of the future and a file that is no journal are refused`() throws {
    var open = OpenEntry.example
    open.format = 2
    var encoder = JournalEncoder()
    encoder.append(.open(open), at: 1, plan: plan)
    #expect(read(encoder.bytes).error == .version(found: "2"))
    #expect(read(Array("tasks:\n  a:\n".utf8)).error == .firstLine)
    #expect(read(Array(journal.bytes[journal.offsets[1]...])).error == .firstLine)
    #expect(read([UInt8](repeating: 0, count: 4096)).error == .firstLine)
  }

  @Test func `a thousand places of damage are counted and a hundred are told`() {
    var damaged = journal.bytes
    for index in 0..<1000 {
      var encoder = JournalEncoder(nextSequence: UInt64(lines.count + 1 + index))
      encoder.append(Transition(.pause, .none), at: 1, plan: plan)
      damaged += [UInt8(ascii: "x"), 10] + encoder.bytes
    }
    let reading = read(damaged)
    #expect(reading.recovery.droppedLines == 1000)
    #expect(reading.recovery.damage.count == 100)
  }
}
