import Foundation
import OpflowJournal
import OpflowPlan
import OpflowRuntime
import OpflowSystem
import Testing

@Suite struct RunFolderTests {
  let fixture: StateFixture

  init() throws { fixture = try StateFixture() }

  // The folder

  @Test func `a run's folders and files are its owner's alone`() throws {
    let run = try fixture.state.makeRun(nowMilliseconds: 1000, random: 0xabc)
    #expect(run.id.description == "19700101-000001-0abc")
    #expect(run.path == fixture.root + "/.opflow/runs/19700101-000001-0abc")
    try run.write(manifest: Array("tasks: {}".utf8))
    try run.write(plan: fixture.planBytes)
    try run.sync()
    for folder in [fixture.state.path, fixture.state.path + "/runs", run.path, run.logs] {
      #expect(try Path.status(folder).mode == 0o700)
    }
    #expect(try Path.status(run.manifest).mode == 0o600)
    #expect(try Path.status(run.plan).mode == 0o400)
    #expect(try Set(Path.names(in: run.path)) == ["logs", "manifest.yaml", "plan"])
    // For another session it exists already.
    for _ in 1...2 { try run.makeUnread() }
    #expect(try Path.status(run.path + "/" + ValueFolder.unreadName).mode == 0o700)
  }

  @Test func `a plan is mapped as it was written, and an older mapping stays`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    try run.write(plan: fixture.planBytes)
    let plan = try run.openPlan()
    let later = RunFolder(id: run.id, path: run.path)
    try later.write(plan: fixture.planBytes)
    #expect(plan.nameString(TaskID(2)) == "c")
    #expect(try later.openPlan().key == plan.key)
  }

  @Test func `a damaged plan is an error that says so`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    var bytes = fixture.planBytes
    bytes[bytes.count - 1] ^= 1
    try run.write(plan: bytes)
    #expect(throws: RunFolderError.plan(path: run.plan, .checksum)) { _ = try run.openPlan() }
    try run.write(plan: [])
    #expect(throws: RunFolderError.plan(path: run.plan, .tooShort)) { _ = try run.openPlan() }
  }

  @Test func `a run's history is read from its journal`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    #expect(try run.readOpen().manifestPath == "/m")
    let (history, recovery) = try run.readHistory(plan: fixture.plan)
    #expect(history[TaskID(0)].isInterrupted)
    #expect(recovery.isIntact)
  }

  @Test func `a journal without its first line is an error with its path`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    try Data("no journal\n".utf8).write(to: URL(fileURLWithPath: run.journal))
    let error = RunFolderError.journal(path: run.journal, .firstLine)
    #expect(throws: error) { _ = try run.readOpen() }
    #expect(error.message.hasPrefix(run.journal + ": line 1 is damaged"))
  }

  // The lock

  @Test func `a held run names its holder`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    #expect(try !RunFolderLock.isHeld(run))
    let lock = try RunFolderLock.take(run)
    #expect(try RunFolderLock.isHeld(run))
    #expect(RunFolderLock.holder(run) == LockHolder(pid: ProcessID.own))
    let error = RunFolderError.held(run: run.id.description, by: LockHolder(pid: ProcessID.own))
    #expect(throws: error) { _ = try RunFolderLock.take(run) }
    _ = consume lock
    try run.waitUntilFree()
  }

  @Test func `a holder on another machine is named with it, and is no process of this one`() throws
  {
    let run = try fixture.run(of: "/m", at: 5)
    let lock = try FileLock.lock(run.lock, .exclusive)
    // As another machine of a shared file system writes it; here the number is this very process.
    try lock.file.writeAll("\(ProcessID.own) far\u{7}away\n")
    let holder = LockHolder(pid: ProcessID.own, host: "far\u{7}away")
    #expect(RunFolderLock.holder(run) == holder)
    #expect(holder.localPID == nil)
    let error = RunFolderError.held(run: run.id.description, by: holder)
    #expect(throws: error) { try RunFolderLock.expectFree(run) }
    #expect(
      error.message == "run \(run.id) is in use by process \(ProcessID.own) on faraway;"
        + " wait for it, or stop it there")
  }

  @Test func `a lock file that nobody holds is no lock`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    try Data("1\n".utf8).write(to: URL(fileURLWithPath: run.lock))
    #expect(try !RunFolderLock.isHeld(run))
    let lock = try RunFolderLock.take(run)
    #expect(try fixture.bytes(run.lock) == Array("\(ProcessID.own) \(Machine.hostName)\n".utf8))
    _ = consume lock
  }

  @Test func `looking at a lock makes no file`() throws {
    let run = try fixture.run(of: "/m", at: 5)
    #expect(try !RunFolderLock.isHeld(run))
    #expect(!Path.exists(run.lock))
  }

  // The state folder

  @Test func `runs are listed newest first, and nothing else is`() throws {
    #expect(try fixture.state.runs() == [])
    for seconds in [30, 10, 20] { try fixture.run(of: "/m", at: Int64(seconds)) }
    _ = try fixture.write(".opflow/runs/notes.txt")
    let names = try fixture.state.runs().map(\.description)
    #expect(names == names.sorted(by: >))
    // The clock went back twice: the later run still has the higher name.
    #expect(
      names == ["19700101-000030-0009", "19700101-000030-0008", "19700101-000030-0007"])
  }

  @Test func `a name that another process took is passed over`() throws {
    let first = try fixture.run(of: "/m", at: 30)
    let second = try fixture.run(of: "/m", at: 30)
    #expect(second.id > first.id)
  }

  @Test func `the nearest state folder is found from below`() throws {
    let deep = fixture.root + "/x/y"
    try Path.makeDirectories(deep)
    try fixture.run(of: "/m", at: 1)
    #expect(StateFolder.nearest(to: deep)?.path == fixture.state.path)
    #expect(StateFolder.nearest(to: fixture.root)?.path == fixture.state.path)
    let beside = StateFolder.beside(manifest: fixture.root + "/opflow.yaml")
    #expect(beside.path == fixture.state.path)
    #expect(StateFolder.beside(manifest: "/opflow.yaml").path == "/.opflow")
  }

  @Test func `a run is found by its id, a beginning of it, and its manifest`() throws {
    let manifest = try fixture.write("a.yaml")
    let other = try fixture.write("b.yaml")
    let old = try fixture.run(of: manifest, at: 100)
    let new = try fixture.run(of: manifest, at: 200)
    let last = try fixture.run(of: other, at: 86_400)
    #expect(try fixture.state.run(nil).id == last.id)
    #expect(try fixture.state.run(old.id.description).id == old.id)
    #expect(try fixture.state.run("19700102").id == last.id)
    #expect(try fixture.state.run(manifest).id == new.id)
    #expect(try fixture.state.run(fixture.root + "/./a.yaml").id == new.id)
    #expect(throws: RunFolderError.noSuchRun("2024")) { _ = try fixture.state.run("2024") }
    #expect(throws: RunFolderError.noSuchRun("")) { _ = try fixture.state.run("") }
    #expect(
      throws: RunFolderError.ambiguous(
        "19700101", runs: [new.id.description, old.id.description])
    ) { _ = try fixture.state.run("19700101") }
  }

  @Test func `the run of a manifest that is gone is found by the path that it had`() throws {
    let manifest = try fixture.write("a.yaml")
    let run = try fixture.run(of: manifest, at: 100)
    try Path.remove(manifest)
    #expect(try fixture.state.run(manifest).id == run.id)
  }

  @Test func `a run that died before its first line is not the newest`() throws {
    let run = try fixture.run(of: "/m", at: 100)
    let dead = try fixture.state.makeRun(nowMilliseconds: 200_000, random: 1)
    #expect(try fixture.state.run(nil).id == run.id)
    _ = try JournalFile.create(dead.journal)
    #expect(try fixture.state.run(nil).id == run.id)
    #expect(try fixture.state.newestRun(ofManifest: "/m")?.id == run.id)
    #expect(try fixture.state.newestRun(ofManifest: "/other") == nil)
  }

  @Test func `no run at all is an error that says how to start one`() throws {
    let error = RunFolderError.noRuns(folder: fixture.state.path)
    #expect(throws: error) { _ = try fixture.state.run(nil) }
    #expect(error.message.contains("opflow run"))
  }

  @Test func `a state folder that cannot be made is an error with its path`() throws {
    let file = try fixture.write("file")
    #expect(
      throws: RunFolderError.file(doing: "create", path: file + "/runs", .notADirectory)
    ) {
      _ = try StateFolder(path: file).makeRun(nowMilliseconds: 0, random: 0)
    }
  }
}
