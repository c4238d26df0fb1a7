import Fixtures
import OpflowEngine
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

@Suite struct ViewPlanTests {
  private let options = SchedulerOptions(
    maxParallel: 2, memoryBytes: 1 << 30, maxFailures: 1, seed: 1)

  private func text(
    _ plan: Plan, _ selection: Selection? = nil, reasons: [Transition] = []
  ) -> String {
    let selection = selection ?? Selection(all: plan)
    let view = PlanView(
      plan: plan, options: options,
      resumeState: ResumeState(
        initial: plan.tasks.map { selection.initialState(TaskID($0)) },
        attempts: plan.tasks.map { _ in 0 }), reasons: reasons, color: false)
    return String(decoding: view.text(), as: UTF8.self)
  }

  private func plan() throws -> Plan {
    try ViewFixture.plan(
      [
        ("lint", []), ("fetch", []), ("build", ["fetch"]), ("test", ["build"]),
        ("cleanup", []),
      ], finally: ["cleanup"])
  }

  @Test func `tasks stand in the order of their starts`() throws {
    #expect(
      try text(plan()) == """
        demo: 5 tasks, 5 to run, cpu 2
        #  TASK     AFTER       COMMAND
        1  fetch                make fetch
        2  lint                 make lint
        3  build    fetch       make build
        4  test     build       make test
        5  cleanup  all others  make cleanup
        expected: 4 tasks, at least 4 tasks
        critical path, 4 tasks: fetch, build, test, cleanup
        no durations from earlier runs, so every task counts as 1

        """)
  }

  @Test(arguments: [40, 60, 80, 200])
  func `a terminal has no cell of a plan wrapped`(columns: Int) throws {
    let long = "a/rather/long/name/of/a/task/that/needs/room"
    let plan = try ViewFixture.plan([("a", []), (long, ["a"]), ("b", [long, "a"])])
    let view = PlanView(
      plan: plan, options: options,
      resumeState: ResumeState(
        initial: plan.tasks.map { _ in .run }, attempts: plan.tasks.map { _ in 0 }), color: false,
      columns: columns)
    let lines = String(decoding: view.text(), as: UTF8.self).split(separator: "\n")
    #expect(lines[1...4].allSatisfy { $0.count <= columns }, "\(lines)")
    #expect(lines[1].contains("TASK") && lines[1].contains("COMMAND"))
    if columns == 200 { #expect(lines[3].contains("make \(long)")) }
  }

  @Test func `a long plan is handed on piece by piece, as one text`() throws {
    let plan = try ViewFixture.plan((0..<5000).map { ("task-\($0)", []) })
    let view = PlanView(
      plan: plan, options: options,
      resumeState: ResumeState(
        initial: plan.tasks.map { _ in .run }, attempts: plan.tasks.map { _ in 0 }), color: false)
    var pieces: [[UInt8]] = []
    view.write { pieces.append($0) }
    #expect(pieces.count > 1)
    #expect(pieces.allSatisfy { $0.count < 70_000 })
    #expect(pieces.flatMap { $0 } == view.text())
    let lines = String(decoding: view.text(), as: UTF8.self).split(separator: "\n")
    #expect(lines[2] == "   1  task-0     make task-0")
    #expect(lines[5001] == "5000  task-4999  make task-4999")
  }

  @Test func `durations of earlier runs are shown, summed up and compared`() throws {
    let plan = try plan()
    let durations = TaskDurations(
      measured: [2_000_000, 1_500_000, 65_000_000, -1, 500_000], plan: plan)
    let view = PlanView(
      plan: plan, options: options,
      resumeState: ResumeState(
        initial: plan.tasks.map { _ in .run }, attempts: plan.tasks.map { _ in 0 },
        durations: durations),
      capacities: [1, 2, 4], color: false)
    #expect(
      String(decoding: view.text(), as: UTF8.self) == """
        demo: 5 tasks, 5 to run, cpu 1
        #  TASK     DURATION  AFTER       COMMAND
        1  fetch        1.5s              make fetch
        2  build       1m05s  fetch       make build
        3  lint         2.0s              make lint
        4  test        ~2.0s  build       make test
        5  cleanup     0.50s  all others  make cleanup
        critical path, 1m09s: fetch 1.5s, build 1m05s, test ~2.0s, cleanup 0.50s
        CPU  EXPECTED  AT LEAST
          1     1m11s     1m11s
          2     1m09s     1m09s
          4     1m09s     1m09s
        earlier runs timed 4 of 5 tasks; ~ is an estimate

        """)
  }

  @Test func `skipped tasks are named, and unselected ones left out`() throws {
    let plan = try plan()
    let selection = try Selection(only: ["test"], skip: ["build"], of: plan)
    #expect(
      text(plan, selection) == """
        demo: 3 tasks, 2 to run, cpu 2
        #  TASK     AFTER       COMMAND
        1  test     build       make test
        2  cleanup  all others  make cleanup
        skipped: build (by --skip)
        expected: 2 tasks, at least 2 tasks
        critical path, 2 tasks: test, cleanup
        no durations from earlier runs, so every task counts as 1

        """)
  }

  @Test func `a resume uses the priorities of requests`() throws {
    let plan = try ViewFixture.plan([("a", []), ("b", []), ("c", [])])
    var resumeState = ResumeState(initial: [.run, .run, .run], attempts: [0, 0, 0])
    resumeState.priorities = [TaskID(2): 4, TaskID(0): -4]
    let view = PlanView(plan: plan, options: options, resumeState: resumeState, color: false)
    let rows = String(decoding: view.text(), as: UTF8.self).split(separator: "\n").dropFirst(2)
      .prefix(3).map { $0.split(separator: " ").map(String.init) }
    #expect(rows.map { $0[1] } == ["c", "b", "a"])
    #expect(rows[0][2] == "4" && rows[2][2] == "-4")
  }

  @Test func `a resume has the reason of each re-run`() throws {
    let plan = try plan()
    let view = PlanView(
      plan: plan, options: options,
      resumeState: ResumeState(
        initial: [.succeeded, .succeeded, .run, .run, .run], attempts: [1, 1, 1, 0, 1]),
      reasons: [Transition(.resume(.failedBefore), TaskID(2))], color: false)
    #expect(
      String(decoding: view.text(), as: UTF8.self) == """
        demo: 5 tasks, 3 to run, 2 already done, cpu 2
        #  TASK     AFTER       WHY               COMMAND
        1  build    fetch       failed last time  make build
        2  test     build                         make test
        3  cleanup  all others                    make cleanup
        expected: 3 tasks, at least 3 tasks
        critical path, 3 tasks: build, test, cleanup
        no durations from earlier runs, so every task counts as 1

        """)
  }
}
