import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import Testing

/// Matrices whose tasks another task adds to the live run, in the engine.
struct InstanceNeedTests {
  /// A run of `scan`, of `legs`, which adds matrix tasks after it, and of other tasks.
  private static func run(
    parallel: UInt64 = 4, maxFailures: Int = 0, _ fill: (inout PlanMaker) -> Void
  ) throws -> EngineHarness {
    var maker = PlanMaker()
    maker.add("scan")
    maker.addInstanceMaker("legs", needs: ["scan"])
    fill(&maker)
    return EngineHarness(try maker.make(), parallel: parallel, maxFailures: maxFailures)
  }

  private static func addInstances(
    _ names: [String], of maker: String = "legs", to run: inout EngineHarness,
    _ change: (inout PlanMaker.Task) -> Void = { _ in }
  ) throws -> RequestAnswer? {
    try run.add(maker, by: maker) {
      $0.addMatrixGroup(maker, instances: names) { task in
        task.outerNeeds = [(maker, .success)]
        change(&task)
      }
    }
  }

  @Test func `what needs the matrix waits for each matrix task`() throws {
    var run = try Self.run { $0.add("sum", needs: ["legs"]) }
    run.end("scan")
    #expect(run.runningNames == ["legs"])
    #expect(try Self.addInstances(["legs[n=1]", "legs[n=2]"], to: &run) == .done(count: 2))
    run.settle()
    #expect(run.runningNames == ["legs"])
    run.end("legs")
    #expect(run.runningNames == ["legs[n=1]", "legs[n=2]"])
    run.end("legs[n=1]")
    #expect(run.state("sum") == .waiting)
    run.end("legs[n=2]")
    #expect(run.runningNames == ["sum"])
    run.end("sum")
    #expect(run.close?.state == .succeeded)
  }

  @Test func `without a matrix task it goes on at once`() throws {
    var run = try Self.run { $0.add("sum", needs: ["legs"]) }
    run.end("scan")
    run.end("legs")
    #expect(run.runningNames == ["sum"])
    #expect(run.journal.last { $0.event == .success }?.detail == "its matrix is empty")
  }

  @Test(arguments: [
    (NeedCondition.success, 0, 0, TaskState.running), (.success, 0, 1, .skipped),
    (.failure, 0, 1, .skipped), (.failure, 1, 1, .running), (.finished, 1, 0, .running),
    (.ran, 0, 0, .running), (.ran, 1, 0, .skipped),
  ])
  func `each matrix task must meet the need`(
    _ condition: NeedCondition, _ first: Int32, _ second: Int32, _ state: TaskState
  ) throws {
    var run = try Self.run { $0.add("next", needs: ["legs"], on: condition) }
    run.end("scan")
    _ = try Self.addInstances(["legs[n=1]", "legs[n=2]"], to: &run)
    run.end("legs")
    run.end("legs[n=1]", exit: first)
    run.end("legs[n=2]", exit: second)
    #expect(run.state("next") == state)
  }

  @Test(arguments: [
    (NeedCondition.success, TaskState.skipped), (.failure, .running), (.finished, .running),
  ])
  func `a task that fails to make any is what they need`(
    _ condition: NeedCondition, _ state: TaskState
  ) throws {
    var run = try Self.run { $0.add("next", needs: ["legs"], on: condition) }
    run.end("scan")
    run.end("legs", exit: 2)
    #expect(run.state("next") == state)
  }

  @Test func `matrix tasks are skipped with what made them, and what needs these with them`() throws
  {
    var run = try Self.run {
      $0.add("next", needs: ["legs"])
      $0.add("handler", needs: ["legs"], on: .failure)
    }
    run.end("scan")
    _ = try Self.addInstances(["legs[n=1]"], to: &run)
    run.end("legs", exit: 1)
    #expect(
      ["legs[n=1]", "next", "handler"].map { run.state($0) } == [.skipped, .skipped, .skipped])
    #expect(run.close?.state == .failed)
  }

  @Test func `matrix tasks that end as they come are counted once`() throws {
    var run = try Self.run { $0.add("sum", needs: ["legs"]) }
    run.end("scan")
    _ = try Self.addInstances(["legs[n=1]", "legs[n=2]"], to: &run) {
      if $0.name == "legs[n=1]" { $0.flags = .conditionFalse }
    }
    #expect(run.state("legs[n=1]") == .skipped)
    run.end("legs")
    run.end("legs[n=2]")
    #expect(run.runningNames == ["sum"])
  }

  @Test func `a task that makes another matrix waits for none of the matrix tasks`() throws {
    var run = try Self.run {
      $0.addInstanceMaker("more", needs: ["scan", "legs"])
      $0.add("sum", needs: ["more", "legs"])
    }
    run.end("scan")
    _ = try Self.addInstances(["legs[n=1]", "legs[n=2]"], to: &run)
    run.end("legs")
    #expect(run.runningNames.sorted() == ["legs[n=1]", "legs[n=2]", "more"])
    _ = try Self.addInstances(["more[n=1]"], of: "more", to: &run) {
      $0.outerNeeds.append(("legs[n=1]", .success))
    }
    run.end("more")
    run.end("legs[n=1]")
    #expect(run.runningNames.sorted() == ["legs[n=2]", "more[n=1]"])
    run.end("more[n=1]")
    #expect(run.state("sum") == .waiting)
    run.end("legs[n=2]")
    #expect(run.runningNames == ["sum"])
  }

  @Test func `what waits for matrix tasks makes them urgent`() throws {
    var run = try Self.run(parallel: 1) {
      $0.add("sum", needs: ["legs"]) { $0.priority = 10 }
      for number in 1...3 { $0.add("other\(number)") }
    }
    run.end("scan")
    _ = try Self.addInstances(["legs[n=1]"], to: &run)
    run.finish()
    #expect(run.order.prefix(4) == ["scan", "legs", "legs[n=1]", "sum"])
  }

  @Test func `matrix tasks are added by their task alone, once, while it runs`() throws {
    var run = try Self.run { $0.add("sum", needs: ["legs"]) }
    func refusal(_ answer: RequestAnswer?) -> String? {
      if case .refused(let detail) = answer { detail } else { nil }
    }
    let early = try run.add("early", by: "legs") {
      $0.addMatrixGroup("legs", instances: ["legs[n=1]"])
    }
    #expect(refusal(early) == "only legs itself can add its matrix tasks, while it runs")
    run.end("scan")
    let other = try run.add("other") { $0.addMatrixGroup("legs", instances: ["legs[n=1]"]) }
    #expect(refusal(other) == "only legs itself can add its matrix tasks, while it runs")
    let cycle = try run.add("ring", by: "legs") {
      $0.addMatrixGroup("legs", instances: ["legs[n=1]"]) { $0.outerNeeds = [("sum", .success)] }
    }
    #expect(refusal(cycle) == "dependency cycle: matrix tasks of legs need one of their dependents")
    _ = try Self.addInstances(["legs[n=1]"], to: &run)
    let again = try run.add("again", by: "legs") {
      $0.addMatrixGroup("legs", instances: ["legs[n=2]"])
    }
    #expect(refusal(again) == "legs already has matrix tasks in this run")
    run.finish()
    #expect(run.order == ["scan", "legs", "legs[n=1]", "sum"])
  }

  @Test func `attempts of matrix tasks are numbered on from an earlier session`() throws {
    var maker = PlanMaker()
    maker.addInstanceMaker("legs")
    let plan = try maker.make()
    var run = EngineHarness(plan, attemptsOfRemoved: ["legs[n=1]": 3])
    run.settle()
    _ = try Self.addInstances(["legs[n=1]", "legs[n=2]"], to: &run)
    run.end("legs")
    #expect(
      run.started.suffix(2) == [
        .init(task: "legs[n=1]", attempt: 4), .init(task: "legs[n=2]", attempt: 1),
      ])
  }

  @Test func `a plan that has grown again has the same needs`() throws {
    var run = try Self.run {
      $0.add("sum", needs: ["scan", "legs"])
      $0.add("last", needs: ["sum"])
    }
    run.end("scan")
    _ = try Self.addInstances(["legs[n=1]", "legs[n=2]"], to: &run)
    try run.add("more") {
      $0.add("more") { $0.outerNeeds = [("sum", .success), ("legs", .success)] }
    }
    let plan = run.plan
    func needs(_ name: String) -> [String] {
      plan.needs(plan.task(named: name) ?? .none).map {
        plan.nameString(TaskID(plan.needTargets[$0]))
      }
    }
    #expect(needs("sum") == ["scan", "legs", "legs[n=1]", "legs[n=2]"])
    #expect(needs("legs[n=1]") == ["legs"])
    #expect(needs("more") == ["sum", "legs", "legs[n=1]", "legs[n=2]"])
    let order = plan.topologicalOrder.map { plan.nameString(TaskID($0)) }
    for task in plan.tasks {
      let place = order.firstIndex(of: plan.nameString(TaskID(task))) ?? 0
      for need in needs(plan.nameString(TaskID(task))) {
        #expect(order.firstIndex(of: need) ?? .max < place)
      }
    }
    for limit in [4, 6] {
      let seen = try Plan(copying: plan.copyOfBytes, limit: limit)
      try seen.validate()
      #expect(seen.hasMadeInstances == (limit == 6))
    }
  }

  @Test func `a damaged plan with matrix tasks is refused, and nothing traps`() throws {
    var run = try Self.run { $0.add("sum", needs: ["legs"]) }
    run.end("scan")
    _ = try Self.addInstances(["legs[n=1]", "legs[n=2]"], to: &run)
    let bytes = run.plan.copyOfBytes
    var random = SplitMix64(seed: 7)
    for _ in 0..<3000 {
      var damaged = bytes
      for _ in 0..<3 {
        let place = Int(random.next() % UInt64(bytes.count))
        damaged[place] = UInt8(truncatingIfNeeded: random.next())
      }
      // Opened or refused; only the validation checks the contents.
      if let plan = try? Plan(copying: damaged) { try? plan.validate() }
    }
  }
}
