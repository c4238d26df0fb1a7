import Foundation
import OpflowJournal
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

@testable import OpflowRuntime

@Suite struct OrphansTests {
  private func entry(_ worker: WorkerHarness) throws -> WorkerEntry {
    let status = try #require(ProcessStatus.read(worker.pid))
    return WorkerEntry(
      pid: worker.pid, startTime: status.startTime, bootID: Machine.bootID,
      autogroup: ProcessStatus.autogroup(of: worker.pid) ?? 0)
  }

  /// What a task leaves behind when its worker is killed at once.
  private func orphan(_ worker: WorkerHarness) throws -> Int32 {
    try worker.run("a")
    let pid = try worker.heardPID()
    try worker.signal(.kill)
    #expect(try worker.wait() == .signal(9))
    #expect(worker.isAlive(pid))
    return pid
  }

  @Test func `a process with the run's mark is ended, in whatever session`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "setsid sh -c 'echo $$ > say; exec sleep 1000' & wait")
    ])
    let other = try WorkerHarness([WorkerTask("a", "echo $$ > say; exec sleep 1000")])
    try other.run("a")
    let bystander = try other.heardPID()
    let pid = try orphan(worker)
    #expect(Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: []) == [])
    #expect(!worker.isAlive(pid))
    #expect(other.isAlive(bystander))
  }

  @Test func `a process that could not be ended before is known by its number and its start`()
    throws
  {
    let worker = try WorkerHarness([
      WorkerTask("a", "env -i setsid sh -c 'echo $$ > say; exec sleep 1000' & wait")
    ])
    var entry = try entry(worker)
    entry.pid = try orphan(worker)
    let pid = entry.pid
    func survivors() -> [String] {
      Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: [], left: [entry])
        .map(\.title)
    }
    // The number is another process's by now, or the machine was started again.
    entry.startTime = 1
    #expect(survivors() == [])
    entry.startTime = try #require(ProcessStatus.read(pid)).startTime
    entry.bootID = "another"
    #expect(survivors() == [])
    entry.bootID = Machine.bootID
    entry.host = "elsewhere"
    #expect(survivors() == ["\(pid) on elsewhere"])
    // Older versions wrote no boot ID for a worker behind a stream.
    entry.bootID = ""
    #expect(survivors() == ["\(pid) on elsewhere"])
    entry.host = Machine.hostName
    #expect(survivors() == ["\(pid) on \(Machine.hostName)"])
    entry.host = ""
    #expect(survivors() == ["\(pid) on another machine"])
    #expect(worker.isAlive(pid))
    entry.bootID = Machine.bootID
    entry.host = ""
    #expect(survivors() == [])
    #expect(!worker.isAlive(pid))
  }

  @Test func `a process without the mark is ended when it sits in a worker's session`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "env -i sh -c 'echo $$ > say; exec sleep 1000' & wait")
    ])
    var entry = try entry(worker)
    let pid = try orphan(worker)
    // Of another boot, or of a worker that began later: not the same session.
    entry.bootID = "another"
    #expect(Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: [entry]) == [])
    entry.bootID = Machine.bootID
    entry.startTime += 1_000_000
    #expect(Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: [entry]) == [])
    #expect(worker.isAlive(pid))
    entry.startTime -= 1_000_000
    // Of a session that has the worker's number after it, and has lost its leader too.
    if entry.autogroup != 0 {
      entry.autogroup += 1
      #expect(Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: [entry]) == [])
      #expect(worker.isAlive(pid))
      entry.autogroup -= 1
    }
    // Of another machine, which has numbers of its own.
    entry.host = "elsewhere"
    #expect(Orphans.machinesBeyondReach(of: [entry]) == ["elsewhere"])
    #expect(Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: [entry]) == [])
    #expect(worker.isAlive(pid))
    entry.host = Machine.hostName
    #expect(Orphans.machinesBeyondReach(of: [entry]) == [])
    // Whose beginning could not be read when it came: it names nobody.
    let start = entry.startTime
    entry.startTime = 0
    #expect(Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: [entry]) == [])
    #expect(worker.isAlive(pid))
    entry.startTime = start
    #expect(Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: [entry]) == [])
    #expect(!worker.isAlive(pid))
  }

  @Test func `what is ended has lost its number, however slow whoever it fell to is`() throws {
    // Takes its time to see what has ended, as the first process of some machines does.
    let script = """
      import os, subprocess, sys
      child = subprocess.Popen(["sleep", "1000"], env=dict(os.environ, OPFLOW_RUN=sys.argv[1]))
      print(child.pid, flush=True)
      os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
      for _ in range(20): subprocess.run(["true"])
      child.wait()
      """
    let run = "run-" + UUID().uuidString
    let parent = Process()
    let output = Foundation.Pipe()
    parent.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    parent.arguments = ["python3", "-c", script, run]
    parent.standardOutput = output
    try parent.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let pid = try #require(Int32(line.dropLast()))
    #expect(
      Orphans.end(run: run, workersLock: "/nowhere/workers.lock", workers: [], freesNumbers: true)
        == [])
    #expect(ProcessStatus.read(pid) == nil)
    parent.waitUntilExit()
  }

  @Test func `a worker that lives is given time to leave by itself`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "trap 'echo bye; exit 0' TERM; echo $$ > say; while :; do sleep 0.01; done")
    ])
    let entry = try entry(worker)
    try worker.run("a")
    let pid = try worker.heardPID()
    worker.closeMessages()
    #expect(Orphans.end(run: worker.run, workersLock: worker.workersLock, workers: [entry]) == [])
    #expect(!worker.isAlive(pid))
    #expect(try worker.log("a").hasSuffix("bye\n"))
    #expect(try worker.wait() == .exit(0))
  }

  @Test func `a run that left nothing is done at once, its folder there or not`() {
    #expect(Orphans.end(run: "none such", workersLock: "/nowhere/workers.lock", workers: []) == [])
  }

  @Test(arguments: ["env -i sh", "setsid sh", "env -i setsid sh"])
  func `what a worker behind an agent left is found, and other workers are spared`(
    _ starter: String
  ) throws {
    let task = WorkerTask("a", "\(starter) -c 'echo $$ > say; exec sleep 1000' & wait")
    let (dead, other) = (try WorkerHarness([task]), try WorkerHarness([task]))
    let entry = try entry(dead)
    let orphan = try orphan(dead)
    try other.run("a")
    let bystander = try other.heardPID()
    let mark = try WorkerEntry(
      pid: orphan, startTime: #require(ProcessStatus.read(orphan)).startTime,
      bootID: Machine.bootID)
    func end(run: String, _ attempt: Int32, noted: [WorkerEntry] = []) {
      let lost = Orphans.Lost(
        entry: entry, attempt: AttemptAround(run: run, task: "a", attempt: attempt), noted: noted)
      var search = OrphanSearch()
      while !Orphans.end([lost], sparing: nil, &search) {}
      #expect(search.survivors == [])
    }
    #expect(!Orphans.areAlive([entry]))
    #expect(try Orphans.areAlive([self.entry(other)]))
    // By its session, by what its environment says, or by what its worker noted of it.
    let isInSession = !starter.contains("setsid")
    if !isInSession {
      end(run: dead.run, 2)
      end(run: other.run, 2)
      #expect(dead.isAlive(orphan))
    }
    end(run: dead.run, 1, noted: starter == "env -i setsid sh" ? [mark] : [])
    #expect(!dead.isAlive(orphan))
    #expect(other.isAlive(bystander))
  }

  @Test func `what a killed worker leaves is ended, and other workers are spared`() async throws {
    await #expect(processExitsWith: .success) {
      try ProcessTree.becomeSubreaper()
      let script = "(setsid sh -c 'echo $$ > say; exec sleep 1000' &); wait; sleep 1000"
      let dead = try WorkerHarness([WorkerTask("a", script)])
      let alive = try WorkerHarness([WorkerTask("a", script)])
      try dead.run("a")
      let orphan = try dead.heardPID()
      try alive.run("a")
      let spared = try alive.heardPID()
      try dead.signal(.kill)
      #expect(try dead.wait() == .signal(9))
      #expect(Orphans.endAdopted(sparing: [alive.pid]) == [])
      #expect(!dead.isAlive(orphan))
      #expect(ProcessTree.children(of: ProcessID.own) == [alive.pid])
      #expect(alive.isAlive(spared))
    }
  }

  @Test func `what the last worker leaves is ended, and then nothing is left`() async throws {
    await #expect(processExitsWith: .success) {
      try ProcessTree.becomeSubreaper()
      #expect(Orphans.endAdopted(sparing: []) == [])
      let script = "(setsid sh -c 'echo $$ > say; exec sleep 1000' &); wait; sleep 1000"
      let dead = try WorkerHarness([WorkerTask("a", script)])
      try dead.run("a")
      let orphan = try dead.heardPID()
      try dead.signal(.kill)
      #expect(try dead.wait() == .signal(9))
      #expect(Orphans.endAdopted(sparing: []) == [])
      #expect(!dead.isAlive(orphan))
      #expect(ProcessTree.children(of: ProcessID.own) == [])
      #expect(Orphans.endAdopted(sparing: []) == [])
    }
  }
}
