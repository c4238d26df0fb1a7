import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

@Suite struct RecoveryHistoryTests {
  let plan: Plan

  init() throws {
    plan = try TestPlan.make(names: ["a", "b", "c", "d"])
  }

  private func history(_ write: (inout JournalText) throws -> Void) throws -> RunModel {
    var journal = JournalText(plan)
    try write(&journal)
    return try RunModel.read(journal.bytes, plan)
  }

  private func record(
    of name: String = "a", _ write: (inout JournalText) throws -> Void
  ) throws -> TaskRecord {
    try history(write)[plan.id(name)]
  }

  @Test func `a task that nothing is said of waits`() throws {
    let record = try record { _ in }
    #expect(record.state == .waiting)
    #expect(record.attempts == 0)
    #expect(!record.isInterrupted)
    #expect(RunModel()[TaskID(3)].state == .waiting)
  }

  @Test func `a success holds all that its line says`() throws {
    let record = try record { try $0.run("a") }
    #expect(record.state == .succeeded)
    #expect(record.startSequence == 2)
    #expect(record.settleSequence == 3)
    #expect(record.status == .exit(0))
    #expect(!record.isChanged)
    #expect(MemoryLayout<TaskRecord>.stride == 64)
    #expect(record.endedMilliseconds - record.startedMilliseconds == 1)
    #expect(record.attempts == 1)
  }

  @Test func `a started task that did not end is interrupted`() throws {
    #expect(try record { try $0.start("a") }.isInterrupted)
    #expect(
      try record {
        try $0.start("a")
        $0.append(Transition(.pause, try plan.id("a"), attempt: 1))
      }.state == .suspended)
  }

  @Test func `a retry waits, with its attempts counted`() throws {
    let record = try record {
      try $0.start("a")
      var retry = Transition(.retry, try plan.id("a"), attempt: 1)
      retry.outcome = Outcome(status: .exit(75))
      $0.append(retry)
    }
    #expect(record.state == .waiting)
    #expect(record.attempts == 1)
    #expect(record.status == .exit(75))
    #expect(!record.isInterrupted)
  }

  @Test func `a task that was taken back from a worker never ran`() throws {
    let record = try record {
      try $0.start("a", attempt: 3)
      $0.append(
        {
          var revoked = Transition(.interrupt, TaskID(0), reason: .revoked)
          revoked.attempt = 3
          return revoked
        }())
    }
    #expect(record.state == .waiting)
    #expect(record.attempts == 2)
    #expect(!record.isInterrupted)
    #expect(record.startedMilliseconds == 0)
  }

  @Test func `a lost worker leaves its task interrupted`() throws {
    let record = try record {
      try $0.start("a")
      $0.append(Transition(.interrupt, TaskID(0), reason: .workerLost))
    }
    #expect(record.state == .waiting)
    #expect(record.isInterrupted)
  }

  @Test func `a resume takes a result back and keeps the count of attempts`() throws {
    let record = try record {
      try $0.run("a")
      try $0.resume(("a", .asked))
    }
    #expect(record.state == .waiting)
    #expect(record.why == .rerun(.asked))
    #expect(record.settleSequence == 0)
    #expect(record.attempts == 1)
    #expect(record.timesResumed == 1)
  }

  @Test func `the state of a run is what its newest session closed with`() throws {
    let closed = try history {
      $0.append(.close(CloseEntry(state: .failed, exitCode: 1)))
    }
    #expect(closed.state(isHeld: false) == .failed)
    #expect(closed.state(isHeld: true) == .running)
    let died = try history {
      $0.append(.close(CloseEntry(state: .failed, exitCode: 1)))
      try $0.resume()
    }
    #expect(died.state(isHeld: false) == .interrupted)
    #expect(died.sessions == 2)
  }

  @Test func `folding the same lines twice changes nothing`() throws {
    var journal = JournalText(plan)
    try journal.run("a", "b")
    try journal.resume(("a", .asked))
    try journal.start("a", attempt: 2)
    try journal.bytes.withUnsafeBytes { bytes in
      var history = RunModel()
      for _ in 0..<2 {
        var reader = try JournalReader(bytes)
        while let line = reader.next() { history.apply(line, plan: plan) }
        #expect(history.successes(plan) == ["b"])
        #expect(history.sessions == 2)
        #expect(history[try plan.id("a")].attempts == 2)
        #expect(history[try plan.id("a")].timesResumed == 1)
        #expect(history.encoder.nextSequence == 9)
      }
    }
  }

  @Test func `a paused run is paused until it goes on`() throws {
    #expect(try history { $0.append(Transition(.pause, .none)) }.isSuspended)
    #expect(
      try !history {
        $0.append(Transition(.pause, .none))
        $0.append(Transition(.proceed, .none))
      }.isSuspended)
  }

  @Test func `tasks that the plan no longer has are told once`() throws {
    let old = try TestPlan.make(names: ["a", "gone", "b"])
    var journal = JournalText(old)
    try journal.run("gone", "a")
    #expect(try RunModel.read(journal.bytes, plan).removed == ["gone"])
    var entry = ResumeEntry(planKey: "", opflowVersion: "")
    entry.removed = ["gone"]
    journal.append(.resume(entry))
    #expect(try RunModel.read(journal.bytes, plan).removed == [])
    #expect(try RunModel.read(journal.bytes, plan)[plan.id("a")].state == .succeeded)
  }

  @Test func `a fingerprint of an older opflow is held against one made as it did`() throws {
    let relative = try TestPlan.make([TestPlan.Task(name: "a", fingerprint: 7)])
    let absolute = try TestPlan.make([TestPlan.Task(name: "a", fingerprint: 9)])
    let read = { (whole: String, earlier: Plan?) throws -> RunModel in
      var journal = JournalText(relative)
      try journal.start("a")
      let body = "3\t5\tsuccess\ta\tn=1\texit=0\tfp=\(whole)-0"
      let checksum = Array(body.utf8).withUnsafeBytes { Hash.crc32c($0) }
      let sum = Hexadecimal.text(UInt64(checksum))
      let bytes = journal.bytes + Array("\(sum.suffix(8))\t\(body)\n".utf8)
      return try bytes.withUnsafeBytes {
        try RunModel.read($0, plan: relative, absolutePlan: earlier).history
      }
    }
    let same = try read("0000000000000009", absolute)
    #expect(same[TaskID(0)].state == .succeeded)
    #expect(!same[TaskID(0)].isChanged)
    #expect(!same.hasAbsoluteFingerprints)
    #expect(try read("0000000000000007", absolute)[TaskID(0)].isChanged)
    // Without a reference nothing is proven, and the result says so.
    let blind = try read("0000000000000001", nil)
    #expect(!blind[TaskID(0)].isChanged)
    #expect(blind.hasAbsoluteFingerprints)
  }

  @Test func `settings are those of the newest session`() throws {
    let history = try history {
      var entry = ResumeEntry(planKey: "k", opflowVersion: "1")
      entry.set = ["x=2"]
      entry.only = ["a"]
      $0.append(.resume(entry))
      $0.append(.worker(WorkerEntry(pid: 9, startTime: 1, bootID: "b")))
    }
    #expect(history.set == ["x=2"])
    // Those of a resume apply to its session only.
    #expect(history.only == OpenEntry.example.only)
    #expect(history.skip == OpenEntry.example.skip)
    #expect(history.selections.last == SessionSelection(only: ["a"], skip: []))
    #expect(history.workers == [WorkerEntry(pid: 9, startTime: 1, bootID: "b")])
    #expect(history.open == .example)
  }

  @Test func `the next line goes on with number and session`() throws {
    let history = try history { try $0.resume(("a", .asked)) }
    #expect(history.encoder.nextSequence == 4)
    #expect(history.encoder.session == 2)
  }

  @Test func `lines of a later opflow fold as nothing, and their numbers count`() throws {
    var journal = JournalText(plan)
    try journal.run("a")
    let body = Array("4\t5\tteleport\ta\tn=9".utf8)
    var line: [UInt8] = []
    Hexadecimal.append(
      UInt64(body.withUnsafeBytes { Hash.crc32c($0) }), digitCount: 8, to: &line)
    let history = try RunModel.read(journal.bytes + line + [9] + body + [10], plan)
    #expect(history[try plan.id("a")].state == .succeeded)
    #expect(history.encoder.nextSequence == 5)
  }

  // Lost lines

  /// Reads the journal without the lines of these SEQs.
  private func history(
    losing lost: Set<Int>, _ write: (inout JournalText) throws -> Void
  ) throws -> RunModel {
    var journal = JournalText(plan)
    try write(&journal)
    let lines = journal.bytes.split(separator: 10)
    let kept = lines.indices.filter { !lost.contains($0 + 1) }.flatMap { lines[$0] + [10] }
    return try RunModel.read(kept, plan)
  }

  @Test func `a success whose start is lost counts, as started where the start must have been`()
    throws
  {
    let history = try history(losing: [4]) { try $0.run("a", "b") }
    let record = history[try plan.id("b")]
    #expect(record.state == .succeeded)
    #expect(record.startSequence == 4)
  }

  @Test func `when the line that takes a success back is lost, nothing before it counts`() throws {
    let write: (inout JournalText) throws -> Void = {
      try $0.run("a", "b")
      try $0.resume(("a", .asked), ("b", .asked))
      try $0.run("c")
    }
    let history = try history(losing: [7], write)
    #expect(history.successes(plan) == ["c"])
    #expect(history[try plan.id("a")].isUnproven)
  }

  @Test func `when it is known which line is lost, the others count`() throws {
    let history = try history(losing: [7]) {
      try $0.run("a", "b")
      try $0.resume(("a", .asked))
      try $0.run("a")
    }
    #expect(history.successes(plan) == ["a", "b"])
  }

  @Test func `when the whole head of a session is lost, nothing before it counts`() throws {
    let write: (inout JournalText) throws -> Void = {
      try $0.run("a", "b")
      try $0.resume(("a", .asked))
      try $0.run("c")
    }
    #expect(try history(losing: [6, 7, 8], write).successes(plan) == ["c"])
    #expect(try history(losing: [6, 7, 8], write).sessions == 2)
    #expect(try history(losing: [6, 7], write).successes(plan) == ["c"])
  }

  @Test func `when only the first line of a session is lost, all that it did not take back counts`()
    throws
  {
    let write: (inout JournalText) throws -> Void = {
      try $0.run("a", "b")
      try $0.resume(("a", .asked))
      try $0.run("c", "d")
    }
    #expect(try history(losing: [6], write).successes(plan) == ["b", "c", "d"])
    #expect(try history(losing: [6], write).sessions == 2)
    // A line lost later may also have belonged to the head.
    #expect(try history(losing: [6, 10], write).successes(plan) == ["c", "d"])
  }

  @Test func `a worker's tasks have their turns though the plan has some of them no more`() throws {
    var journal = JournalText(plan)
    for name in ["a", "b", "c"] {
      var start = Transition(.start, try plan.id(name), attempt: 1)
      start.worker = WorkerID(0)
      start.isPrefetched = name != "a"
      journal.append(start)
    }
    try journal.success("a")
    let rest = try TestPlan.make([TestPlan.Task(name: "a"), TestPlan.Task(name: "c")])
    #expect(try RunModel.read(journal.bytes, rest)[rest.id("c")].state == .prefetched)
    try journal.success("b")
    #expect(try RunModel.read(journal.bytes, rest)[rest.id("c")].state == .running)
  }

  @Test func `what waits again by a request does so though the plan has no more what it names`()
    throws
  {
    var journal = JournalText(plan)
    try journal.start("a")
    try journal.failure("a")
    try journal.skip("b", .upstream(plan.id("a")))
    var request = RequestEntry(
      id: try #require(RequestID("again")), verb: .retry,
      requester: Requester(pid: 1, user: 0, name: "opflow"))
    request.tasks = [try plan.id("a")]
    request.back = [try plan.id("b")]
    journal.append(.request(request))
    let rest = try TestPlan.make([TestPlan.Task(name: "b")])
    #expect(try RunModel.read(journal.bytes, rest)[rest.id("b")].state == .waiting)
  }

  @Test func `lines lost within a session cost only what they said`() throws {
    let history = try history(losing: [5, 8, 9]) {
      try $0.run("a", "b")
      try $0.resume()
      try $0.run("c", "d")
    }
    #expect(history.successes(plan) == ["a", "d"])
    #expect(history[try plan.id("b")].isInterrupted)
  }
}
