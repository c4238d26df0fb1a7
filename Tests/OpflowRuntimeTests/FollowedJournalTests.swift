import Foundation
import OpflowJournal
import OpflowPlan
import OpflowRuntime
import OpflowSystem
import Testing

@Suite struct FollowedJournalTests {
  let fixture: StateFixture
  let folder: RunFolder

  init() throws {
    fixture = try StateFixture()
    folder = try fixture.run(of: "/m", at: 1)
  }

  private func followed() -> FollowedJournal { FollowedJournal(folder, plan: fixture.plan) }

  private func state(_ task: Int32, _ journal: FollowedJournal) -> TaskState {
    journal.model[TaskID(task)].state
  }

  private func lines(_ transitions: Transition...) throws -> [UInt8] {
    var encoder = try folder.readHistory(plan: fixture.plan).history.encoder
    for transition in transitions { encoder.append(transition, at: 9, plan: fixture.plan) }
    return encoder.bytes
  }

  private func append(_ bytes: some Sequence<UInt8>) throws {
    try File.open(folder.journal, [.writeOnly, .append]).writeAll(Array(bytes))
  }

  private func success(_ task: Int32) -> Transition {
    var transition = Transition(.success, TaskID(task), attempt: 1)
    transition.outcome = Outcome(status: .success)
    return transition
  }

  @Test func `each look tells whether there was anything new`() throws {
    var journal = followed()
    #expect(try journal.look())
    #expect(state(0, journal) == .running)
    #expect(try !journal.look())
    let line = try lines(success(0))
    try append(line.prefix(30))
    #expect(try !journal.look())
    try append(line.dropFirst(30))
    #expect(try journal.look())
    #expect(state(0, journal) == .succeeded)
    #expect(try journal.lookToEnd().isIntact)
  }

  @Test func `what was read is not read again`() throws {
    var journal = followed()
    try journal.look()
    let line = try lines(success(0))
    // Nobody would find an intact line in it any more.
    let file = try File.open(folder.journal, .readWrite)
    let length = try file.seekToEnd()
    try file.seek(to: 0)
    try file.writeAll([UInt8](repeating: 0, count: Int(length)))
    try append(line)
    #expect(try journal.look())
    #expect(state(0, journal) == .succeeded)
    #expect(try journal.lookToEnd().isIntact)
    #expect(throws: RunFolderError.self) { _ = try folder.readHistory(plan: fixture.plan) }
  }

  @Test func `a journal in whose place another one stands is read again`() throws {
    var journal = followed()
    try append(try lines(success(0)))
    try journal.look()
    #expect(state(0, journal) == .succeeded)
    // An append makes it longer than the one before, so only the file identity differs.
    let first = try fixture.bytes(folder.journal).prefix { $0 != 10 } + [10]
    try Data(first).write(to: URL(fileURLWithPath: folder.journal + ".other"))
    try Path.rename(folder.journal + ".other", to: folder.journal)
    try append(
      try lines(
        Transition(.start, TaskID(1), attempt: 1), success(1),
        Transition(.start, TaskID(2), attempt: 1), success(2)))
    #expect(try journal.look())
    #expect(state(0, journal) == .waiting)
    #expect(state(1, journal) == .succeeded)
    #expect(state(2, journal) == .succeeded)
  }

  @Test func `a journal that was cut is read again`() throws {
    var journal = followed()
    let length = Int64(try fixture.bytes(folder.journal).count)
    try append(try lines(success(0)))
    try journal.look()
    try File.open(folder.journal, .readWrite).truncate(to: length)
    #expect(try journal.look())
    #expect(state(0, journal) == .running)
    #expect(try !journal.look())
  }

  @Test func `a resume is followed, whatever it cut off the end`() throws {
    var journal = followed()
    try append(Array("half a line".utf8))
    try journal.look()
    let read = try folder.readHistory(plan: fixture.plan)
    var writer = WrittenJournal(
      try JournalFile.reopen(folder.journal, repair: read.recovery.repair), read.history.encoder)
    var entry = ResumeEntry(planKey: "", opflowVersion: "0")
    entry.retracted = 1
    writer.append(.resume(entry), at: 5, plan: fixture.plan)
    writer.append(
      Transition(.resume(.interrupted), TaskID(0)), at: 5, plan: fixture.plan)
    try writer.flush()
    #expect(try journal.look())
    #expect(journal.model.sessions == 2)
    #expect(state(0, journal) == .waiting)
    #expect(try journal.lookToEnd().isIntact)
  }

  @Test func `what grew by much is found as well`() throws {
    var journal = followed()
    try journal.look()
    var lines = try lines()
    var encoder = try folder.readHistory(plan: fixture.plan).history.encoder
    while lines.count < 3 << 20 {
      encoder.append(
        Transition(.start, TaskID(1), attempt: 1), at: 9, plan: fixture.plan)
      encoder.append(success(1), at: 9, plan: fixture.plan)
      if encoder.bytes.count > 1 << 16 {
        lines += encoder.bytes
        encoder.removeAll()
      }
    }
    try append(lines)
    #expect(try journal.look())
    #expect(state(1, journal) == .succeeded)
    #expect(try journal.lookToEnd() == folder.readHistory(plan: fixture.plan).recovery)
  }
}
