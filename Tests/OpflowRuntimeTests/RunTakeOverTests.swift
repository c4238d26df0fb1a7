import OpflowPlan
import OpflowSystem
import Testing

@testable import OpflowRuntime

/// The lock of a run that a process on another machine holds.
@Suite struct RunTakeOverTests {
  let fixture: StateFixture

  init() throws { fixture = try StateFixture() }

  /// As a process of another machine holds it, on a file system that both see.
  private func heldElsewhere(_ run: RunFolder) throws -> FileLock {
    let lock = try FileLock.lock(run.lock, .exclusive)
    try lock.file.writeAll("77 elsewhere\n")
    return lock
  }

  @Test func `a holder on another machine is waited for, and named once`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    let other = try heldElsewhere(run)
    let holder = LockHolder(pid: 77, host: "elsewhere")
    var told: [LockHolder] = []
    let error = RunFolderError.heldElsewhere(run: run.id.description, by: holder)
    #expect(throws: error) {
      _ = try RunFolderLock.take(run, waitingMilliseconds: 1) { told.append($0) }
    }
    #expect(told == [holder])
    #expect(error.message.contains("still in use by process 77 on elsewhere"))
    #expect(error.message.contains("`opflow resume \(run.id) --take-over`"))
    _ = consume other
    _ = try RunFolderLock.take(run) { _ in Issue.record("nobody holds it") }
  }

  @Test func `who gives a lock up takes its name out`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    let lock = try RunFolderLock.take(run)
    #expect(RunFolderLock.holder(run) == LockHolder(pid: ProcessID.own))
    let size = try fixture.bytes(run.lock).count
    _ = consume lock
    #expect(RunFolderLock.holder(run) == nil)
    // On a full disk a resume has room for it still.
    #expect(try fixture.bytes(run.lock).count == size)
    #expect(try RunFolderLock.isHeld(run) == false)
  }

  @Test func `one of this machine is not waited for, nor taken for gone`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    let lock = try RunFolderLock.take(run)
    let error = RunFolderError.held(run: run.id.description, by: LockHolder(pid: ProcessID.own))
    #expect(throws: error) {
      _ = try RunFolderLock.take(run) { _ in Issue.record("it is waited for") }
    }
    #expect(throws: error) { _ = try RunFolderLock.takeOver(run) }
    let isLost = lock.claim(to: run)?.isLost
    #expect(isLost == false)
    _ = consume lock
  }

  @Test func `what is taken over is another journal to who held it, and one of two is the first`()
    throws
  {
    let run = try fixture.run(of: "/m", at: 5)
    let other = try heldElsewhere(run)
    let journal = try File.open(run.journal, [.writeOnly, .append])
    let found = RunClaim(other.file, at: run.lock)
    let claim = try #require(found)
    let before = try fixture.bytes(run.journal)
    #expect(!claim.isLost)
    let lock = try RunFolderLock.takeOver(run)
    #expect(claim.isLost)
    let isLost = lock.claim(to: run)?.isLost
    #expect(isLost == false)
    #expect(RunFolderLock.holder(run) == LockHolder(pid: ProcessID.own))
    // It comes back, and writes on.
    try journal.writeAll("from the other machine\n")
    #expect(try fixture.bytes(run.journal) == before)
    // Who comes second finds one of whom nobody said that it is gone.
    let error = RunFolderError.held(run: run.id.description, by: LockHolder(pid: ProcessID.own))
    #expect(throws: error) { _ = try RunFolderLock.takeOver(run) }
    // While somebody is about it no other one is.
    let turn = try FileLock.lock(run.takeOverLock, .exclusive)
    _ = consume lock
    let third = try heldElsewhere(run)
    #expect(throws: RunFolderError.self) { _ = try RunFolderLock.takeOver(run) }
    _ = consume turn
    _ = try RunFolderLock.takeOver(run)
    _ = consume third
  }
}
