import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

/// What an earlier try of a task added, when it is tried again.
@Suite("Withdrawal of what was added")
struct RetractionTests {
  // MARK: - In the engine

  /// A task that adds, and fails twice before it succeeds.
  private func run(
    parallel: UInt64 = 2, _ change: (inout PlanMaker) -> Void = { _ in }
  ) throws -> EngineHarness {
    try RunGrowthTests.run(parallel: parallel) {
      $0.add("scan") {
        $0.flags = .control
        $0.policy = TaskPolicy(retryMax: 2, retryDelayMilliseconds: 10)
      }
      change(&$0)
    }
  }

  /// Once it runs.
  private func add(
    _ names: [String], _ id: String, to run: inout EngineHarness,
    _ change: (inout PlanMaker.Task) -> Void = { _ in }
  ) throws {
    run.settle()
    let answer = try run.add(id, by: "scan") { maker in
      for name in names {
        maker.add(name) {
          $0.outerNeeds = [("scan", .success)]
          change(&$0)
        }
      }
    }
    #expect(answer == .done(count: names.count))
  }

  private func tryAgain(_ run: inout EngineHarness) {
    run.end("scan", exit: 1)
    run.wait(milliseconds: 100)
    run.settle()
  }

  @Test func `it is withdrawn as the next try starts, which may add the same and others`() throws {
    var run = try run()
    try add(["a", "b"], "1", to: &run)
    run.end("scan", exit: 1)
    #expect(run.retracted == [])
    run.wait(milliseconds: 100)
    run.settle()
    let scan = try #require(run.plan.task(named: "scan"))
    #expect(
      run.retracted == [RetractEntry(generator: scan, attempt: 1, requests: ["1"], count: 2)])
    #expect(run.state("a") == nil)
    #expect(run.state("a~1") == .skipped && run.state("b~1") == .skipped)
    try add(["a", "c"], "2", to: &run)
    run.end("scan")
    run.finish()
    #expect(run.order == ["scan", "scan", "a", "c"])
    #expect(run.close?.state == .succeeded)
  }

  @Test func `each try withdraws what the one before it added`() throws {
    var run = try run()
    try add(["a"], "1", to: &run)
    tryAgain(&run)
    try add(["a"], "2", to: &run)
    try add(["b"], "3", to: &run)
    tryAgain(&run)
    #expect(run.retracted.map(\.requests) == [["1"], ["2", "3"]])
    #expect(run.retracted.map(\.attempt) == [1, 2])
    run.end("scan")
    #expect(run.close?.state == .succeeded)
    #expect(run.order == ["scan", "scan", "scan"])
  }

  @Test func `what had no part in it goes with it`() throws {
    var run = try run { $0.add("broken") }
    run.end("broken", exit: 1)
    try add(["off"], "1", to: &run) { $0.flags = .conditionFalse }
    try add(["lost"], "2", to: &run) { $0.outerNeeds.append(("broken", .success)) }
    #expect(run.state("off") == .skipped && run.state("lost") == .skipped)
    tryAgain(&run)
    #expect(run.state("off") == nil && run.state("lost") == nil)
    let events = run.journal.suffix(5).map {
      "\(run.plan.nameString($0.task)) \($0.event.kind.word)"
    }
    #expect(
      events == ["off~1 resume", "lost~1 resume", "scan start", "off~1 skip", "lost~1 skip"])
  }

  @Test func `what was skipped and is withdrawn does not come back with what it was skipped for`()
    throws
  {
    var run = try run { $0.add("broken") }
    run.end("broken", exit: 1)
    try add(["lost"], "1", to: &run) { $0.outerNeeds.append(("broken", .success)) }
    tryAgain(&run)
    #expect(run.ask(.retry, ["broken"]) == .done(count: 1))
    #expect(run.state("lost~1") == .skipped)
    try add(["lost"], "2", to: &run) { $0.outerNeeds.append(("broken", .success)) }
    run.end("broken")
    run.end("scan")
    run.finish()
    #expect(run.state("lost") == .succeeded && run.state("lost~1") == .skipped)
    #expect(run.order == ["scan", "broken", "scan", "broken", "lost"])
  }

  @Test func `what somebody else needs stays, and all that came with it`() throws {
    var run = try run()
    try add(["a", "b"], "1", to: &run)
    try run.add("2") { $0.add("user") { $0.outerNeeds = [("b", .success)] } }
    tryAgain(&run)
    #expect(run.retracted == [])
    run.end("scan")
    run.finish()
    #expect(Set(run.order) == ["scan", "a", "b", "user"])
  }

  @Test func `what has begun stays, and all that came with it`() throws {
    var run = try RunGrowthTests.run {
      $0.add("scan") { $0.flags = .control }
      $0.add("slow")
    }
    run.settle()
    try run.add("1", by: "scan") {
      $0.add("late") { $0.outerNeeds = [("scan", .success)] }
      $0.add("tidy") { $0.outerNeeds = [("scan", .failure)] }
    }
    run.end("scan", exit: 1)
    run.end("tidy")
    #expect(run.ask(.retry, ["scan"]) == .done(count: 1))
    run.settle()
    #expect(run.retracted == [])
    run.end("scan")
    run.finish()
    #expect(run.state("late") == .succeeded)
  }

  @Test func `what was skipped with it is withdrawn when a request tries it again`() throws {
    var run = try RunGrowthTests.run {
      $0.add("scan") { $0.flags = .control }
      $0.add("slow")
    }
    try add(["a"], "1", to: &run)
    run.end("scan", exit: 1)
    #expect(run.state("a") == .skipped)
    #expect(run.ask(.retry, ["scan"]) == .done(count: 1))
    run.settle()
    #expect(run.retracted.map(\.requests) == [["1"]])
    try add(["a"], "2", to: &run)
    run.end("scan")
    run.finish()
    #expect(run.state("a") == .succeeded)
    #expect(run.close?.state == .succeeded)
  }

  @Test func `what cannot be renamed stays, with the end that it had`() throws {
    var run = try run { $0.add("broken") }
    run.end("broken", exit: 1)
    try add(["a"], "1", to: &run)
    try add(["off"], "2", to: &run) { $0.flags = .conditionFalse }
    try add(["lost"], "3", to: &run) { $0.outerNeeds.append(("broken", .success)) }
    run.canRename = false
    tryAgain(&run)
    #expect(run.retracted == [])
    #expect(["a", "off", "lost"].map { run.state($0) } == [.waiting, .skipped, .skipped])
    let broken = try #require(run.plan.task(named: "broken"))
    #expect(run.journal.suffix(2).map(\.event) == [.skip(.condition), .skip(.upstream(broken))])
    run.end("scan")
    run.finish()
    #expect(run.state("a") == .succeeded)
  }

  // MARK: - In the plan

  @Test func `its names are free for others, and all else is as it was`() throws {
    var maker = PlanMaker()
    maker.add("scan")
    let growing = GrowingPlan(try maker.make())
    var first = PlanMaker()
    first.add("a") {
      $0.outerNeeds = [("scan", .success)]
      $0.inputs = [.path("in")]
      $0.outputs = [.path("out")]
    }
    first.add("f[1]", needs: ["a"])
    first.add("f[2]", needs: ["a"])
    first.matrixGroups = [("f", ["f[1]", "f[2]"])]
    _ = try growing.add(first.make())
    var other = PlanMaker()
    other.add("other") { $0.outputs = [.path("elsewhere")] }
    _ = try growing.add(other.make())
    let plan = try growing.retract(1..<4, attempt: 7)
    #expect(
      plan.tasks.map { plan.nameString(TaskID($0)) }
        == ["scan", "a~7", "f[1]~7", "f[2]~7", "other"])
    #expect(plan.matrixGroups.indices.map { plan.matrixGroupName(MatrixGroupID($0)) } == ["f~7"])
    #expect(plan.task(named: "a") == nil && plan.task(named: "a~7") == TaskID(1))
    #expect(plan.needs(TaskID(2)).map { plan.needTargets[$0] } == [1])
    #expect(!plan.declaresOutputs(TaskID(1)) && !plan.isChecked(TaskID(1)))
    #expect(plan.outputs(of: TaskID(4)) == [.path("elsewhere")])
    #expect(plan.key == growing.first.key)
    let again = try growing.add(first.make())
    #expect(again.task(named: "a") == TaskID(5))
    #expect(
      again.matrixGroups.indices.map { again.matrixGroupName(MatrixGroupID($0)) } == ["f~7", "f"])
    #expect(again.outputs(of: TaskID(5)) == [.path("out")])
  }

  @Test func `one name may be withdrawn more than once`() throws {
    var maker = PlanMaker()
    maker.add("scan")
    let growing = GrowingPlan(try maker.make())
    var segment = PlanMaker()
    segment.add("a") { $0.outerNeeds = [("scan", .success)] }
    for number in 1...3 {
      _ = try growing.add(segment.make())
      _ = try growing.retract(number..<(number + 1), attempt: 1)
    }
    let plan = try growing.open()
    #expect(plan.tasks.map { plan.nameString(TaskID($0)) } == ["scan", "a~1", "a~2", "a~3"])
  }

  // MARK: - In the journal

  @Test func `whoever follows the journal, or reads it later, is told the same`() throws {
    var maker = PlanMaker()
    maker.add("scan") { $0.flags = .control }
    let growing = GrowingPlan(try maker.make())
    let scan = TaskID(0)
    var follower = JournalFollower(plan: growing.first, grown: growing.grown)
    var encoder = JournalEncoder()
    var all: [UInt8] = []
    func write(_ entries: [JournalEntry], _ plan: Plan) throws {
      for entry in entries { encoder.append(entry, at: 1000, plan: plan) }
      try encoder.bytes.withUnsafeBytes { bytes in
        try Result { () throws(JournalError) in try follower.read(growing: bytes) }.get()
      }
      all += encoder.bytes
      encoder.removeAll()
    }
    func extend(_ id: String, _ names: [String], attempt: Int32) throws -> Plan {
      var segment = PlanMaker()
      for name in names { segment.add(name) { $0.outerNeeds = [("scan", .success)] } }
      let plan = try growing.add(segment.make())
      var entry = ExtendEntry(
        id: try #require(RequestID(id)), requester: Requester(pid: 7, user: 0, name: "task scan"),
        taskCount: plan.taskCount, added: names.count)
      entry.generator = scan
      entry.attempt = attempt
      try write([.extend(entry)], plan)
      return plan
    }
    try write(
      [.open(.example), .transition(Transition(.start, scan, attempt: 1))], growing.first)
    var plan = try extend("o1", ["a", "off"], attempt: 1)
    var back = Transition(.resume(.skippedBefore), TaskID(2))
    back.isLate = true
    try write(
      [.transition(Transition(.skip(.condition), TaskID(2))), .transition(back)], plan)
    plan = try growing.retract(1..<3, attempt: 1)
    let entry = RetractEntry(generator: scan, attempt: 1, requests: ["o1"], count: 2)
    try write(
      [
        .retract(entry), .transition(Transition(.skip(.retracted), TaskID(1))),
        .transition(Transition(.skip(.retracted), TaskID(2))),
      ], plan)
    #expect(follower.plan.nameString(TaskID(1)) == "a~1")
    plan = try extend("o2", ["off"], attempt: 2)
    let later = try RunModel.read(all, plan)
    for model in [follower.model, later] {
      #expect(model.extensions.map(\.id.text) == ["o2"])
      #expect(
        plan.tasks.map { model[TaskID($0)].state } == [.running, .skipped, .skipped, .waiting])
      #expect(model[TaskID(1)].why == .skipped(.retracted))
      #expect(model.removed == [])
      #expect(EnteredSession.states(model, plan) == [.run, .excluded, .excluded, .run])
    }
    let status = RunStatus(
      run: "r1", plan: plan, history: later,
      included: try #require(RunScope.of(later, plan)),
      isHeld: true)
    #expect(status.counts.total == 2)
    // A plan that a resume makes has none of them.
    let resumed = try RunModel.read(all, growing.first)
    #expect(resumed.removed == ["off"])
  }
}
