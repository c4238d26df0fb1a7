import Foundation
import OpflowJournal
import OpflowPlan
import OpflowSystem
import Testing

@testable import OpflowRuntime

@Suite struct JournalFileTests {
  let fixture: StateFixture
  let path: String

  init() throws {
    fixture = try StateFixture()
    path = fixture.root + "/journal.log"
  }

  private func begin() throws -> WrittenJournal {
    var journal = WrittenJournal(try JournalFile.create(path))
    let open = OpenEntry(
      run: "r", planKey: "k", opflowVersion: "0", manifestPath: "/m", folder: "/")
    journal.append(.open(open), at: 1, plan: fixture.plan)
    return journal
  }

  private func read() throws -> (history: RunModel, recovery: JournalRecovery) {
    try fixture.bytes(path).withUnsafeBytes { try RunModel.read($0, plan: fixture.plan) }
  }

  private func reopen() throws -> WrittenJournal {
    let (history, recovery) = try read()
    return WrittenJournal(
      try JournalFile.reopen(path, repair: recovery.repair), history.encoder)
  }

  @Test func `lines are on file once they are flushed, and not before`() throws {
    var journal = try begin()
    #expect(try fixture.bytes(path) == [])
    try journal.flush()
    #expect(try read().recovery.lineCount == 1)
    try journal.syncNow()
  }

  @Test func `a journal is its owner's alone, and is never begun twice`() throws {
    _ = try begin()
    #expect(try Path.status(path).mode == 0o600)
    #expect(throws: RunFolderError.file(doing: "create", path: path, .exists)) {
      _ = try JournalFile.create(path)
    }
  }

  @Test func `a journal that was cut anywhere goes on behind its last whole line`() throws {
    var journal = try begin()
    for name in 0..<3 {
      journal.append(Transition(.start, TaskID(name), attempt: 1), at: 2, plan: fixture.plan)
    }
    try journal.flush()
    let whole = try fixture.bytes(path)
    let first = try #require(whole.firstIndex(of: 10)) + 1
    for length in first...whole.count {
      try Data(whole[..<length]).write(to: URL(fileURLWithPath: path))
      let before = try read().recovery
      var again = try reopen()
      again.append(Transition(.pause, .none), at: 3, plan: fixture.plan)
      try again.flush()
      let after = try read()
      #expect(after.recovery.isIntact)
      #expect(after.recovery.lineCount == before.lineCount + 1)
      #expect(after.recovery.lastSequence == before.lastSequence + 1)
      #expect(after.history.isSuspended)
    }
  }

  @Test func `damage in the middle stays as it is`() throws {
    var journal = try begin()
    journal.append(Transition(.start, TaskID(0), attempt: 1), at: 2, plan: fixture.plan)
    journal.append(Transition(.start, TaskID(1), attempt: 1), at: 2, plan: fixture.plan)
    try journal.flush()
    var bytes = try fixture.bytes(path)
    bytes[try #require(bytes.firstIndex(of: 10)) + 3] ^= 1
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    var again = try reopen()
    again.append(Transition(.pause, .none), at: 3, plan: fixture.plan)
    try again.flush()
    #expect(try fixture.bytes(path).starts(with: bytes))
    #expect(try read().recovery.droppedLines == 1)
    #expect(try read().history.isSuspended)
  }

  @Test func `reading repairs nothing`() throws {
    var journal = try begin()
    try journal.flush()
    let torn = try fixture.bytes(path) + Array("torn".utf8)
    try Data(torn).write(to: URL(fileURLWithPath: path))
    #expect(try read().recovery.repair.truncateTo == torn.count - 4)
    #expect(try fixture.bytes(path) == torn)
  }

  @Test func `a journal that is a link is not opened`() throws {
    _ = try begin()
    let link = fixture.root + "/link"
    try Path.symbolicLink(path, at: link)
    #expect(throws: RunFolderError.self) {
      _ = try JournalFile.reopen(
        link, repair: JournalRepair(truncateTo: nil, appendsLineFeed: false))
    }
  }

  @Test func `after a failed write nothing more is written`() throws {
    // /dev/full answers every write with ENOSPC (full(4)).
    var journal = WrittenJournal(
      JournalFile(path: "/dev/full", file: try File.open("/dev/full", .writeOnly)))
    journal.append(Transition(.pause, .none), at: 1, plan: fixture.plan)
    for _ in 0..<2 {
      do throws(Errno) {
        try journal.flush()
        Issue.record("the write should have failed")
      } catch {
        #expect(error == .noSpace)
      }
    }
    do throws(Errno) {
      try journal.syncNow()
      Issue.record("a sync after a failed write proves nothing")
    } catch {
      #expect(error == .noSpace)
    }
  }

  @Test func `a syncer syncs what was written`() throws {
    var journal = try begin()
    try journal.flush()
    let syncer = try journal.makeSyncer()
    syncer.request(journal.writtenBytes)
    var waiter = PollSet(slots: 1)
    waiter.set(0, syncer.rawDescriptor)
    _ = try waiter.wait(nanoseconds: 60_000_000_000)
    #expect(try syncer.result() == journal.writtenBytes)
  }
}
