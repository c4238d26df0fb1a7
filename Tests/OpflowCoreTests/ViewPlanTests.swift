import OpflowCore
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
      initial: plan.tasks.map { selection.initialState(TaskID($0)) },
      attempts: plan.tasks.map { _ in 0 }, reasons: reasons, color: false)
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

        """)
  }

  @Test func `what is skipped or left out is told or not there`() throws {
    let plan = try plan()
    let selection = try Selection(only: ["test"], skip: ["build"], of: plan)
    #expect(
      text(plan, selection) == """
        demo: 3 tasks, 2 to run, cpu 2
        #  TASK     AFTER       COMMAND
        1  test     build       make test
        2  cleanup  all others  make cleanup
        skipped: build (by --skip)

        """)
  }

  @Test func `a resume tells why each runs again`() throws {
    let plan = try plan()
    let view = PlanView(
      plan: plan, options: options, initial: [.succeeded, .succeeded, .run, .run, .run],
      attempts: [1, 1, 1, 0, 1],
      reasons: [Transition(.resume, TaskID(2), reason: .failedBefore)], color: false)
    #expect(
      String(decoding: view.text(), as: UTF8.self) == """
        demo: 5 tasks, 3 to run, 2 reused, cpu 2
        #  TASK     AFTER       WHY            COMMAND
        1  build    fetch       failed before  make build
        2  test     build                      make test
        3  cleanup  all others                 make cleanup

        """)
  }

  @Test func `a chain of ten thousand is forecast to its end`() throws {
    let tasks = (0..<10_000).map { (name: "t\($0)", needs: $0 == 0 ? [] : ["t\($0 - 1)"]) }
    let plan = try ViewFixture.plan(tasks)
    let forecast = StartForecast(
      plan: plan, options: options, initial: plan.tasks.map { _ in .run },
      attempts: plan.tasks.map { _ in 0 })
    #expect(forecast.starts == plan.tasks.map { TaskID($0) })
  }
}
