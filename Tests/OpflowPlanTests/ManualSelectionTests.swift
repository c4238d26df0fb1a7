import Fixtures
import OpflowPlan
import Testing

/// `manual: true`: tasks that a run leaves out unless they are named.
struct ManualSelectionTests {
  private let plan: Plan

  init() throws {
    var maker = PlanMaker()
    maker.add("build")
    maker.add("setup") { $0.flags = .manual }
    maker.add("test", needs: ["setup", "build"])
    maker.add("sign", needs: ["build"]) { $0.flags = .manual }
    maker.add("deploy", needs: ["sign"]) { $0.flags = .manual }
    maker.add("clean") { $0.flags = .finally }
    plan = try maker.make()
  }

  private func included(
    _ tasks: [String] = [], only: [String] = [], skip: [String] = []
  ) throws -> [String] {
    let set = try Selection(tasks: tasks, only: only, skip: skip, of: plan).included
    return plan.tasks.map { TaskID($0) }.filter { set.contains($0) }.map { plan.nameString($0) }
  }

  @Test func `it runs when it is named, or needed by what runs`() throws {
    #expect(plan.hasManual)
    #expect(try included() == ["build", "setup", "test", "clean"])
    #expect(try included(["deploy"]) == ["build", "sign", "deploy"])
    #expect(try included(only: ["deploy"]) == ["build", "sign", "deploy", "clean"])
    #expect(try included(only: ["de*"]) == ["build", "sign", "deploy", "clean"])
    #expect(try included(["build"]) == ["build"])
  }

  @Test func `what only a skipped task needs is not taken along`() throws {
    #expect(try included(skip: ["test"]) == ["build", "test", "clean"])
  }

  @Test func `a plan of nothing else has nothing to run`() throws {
    var maker = PlanMaker()
    maker.add("deploy") { $0.flags = .manual }
    maker.add("clean") { $0.flags = .finally }
    let plan = try maker.make()
    let error = #expect(throws: SelectionError.self) {
      try Selection(only: [], skip: [], of: plan).expectSomething(of: plan)
    }
    #expect(error?.message == "every task is `manual`; name one: deploy")
    try Selection(tasks: ["deploy"], only: [], skip: [], of: plan).expectSomething(of: plan)
  }

  @Test func `a plan whose manifest entry denies its manual tasks is refused`() throws {
    var maker = PlanMaker()
    maker.add("deploy") { $0.flags = .manual }
    let plan = try Plan(copying: maker.bytes())
    #expect(throws: Never.self) { try plan.validate() }
    maker.tasks[0].flags = []
    #expect(try !maker.make().hasManual)
  }
}
