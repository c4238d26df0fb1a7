import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

/// `on: ran`: met by what the need does having been done.
struct RanTests {
  private func plan(_ build: (inout PlanMaker) -> Void) throws -> Plan {
    var maker = PlanMaker()
    build(&maker)
    return try maker.make()
  }

  @Test func `the table of conditions has it met by a success, up to date and an allowed failure`()
  {
    for state in TaskState.allCases {
      let isMet = [.succeeded, .upToDate, .failedAllowed].contains(state)
      #expect(state.meets(.ran, skippedUpstream: false) == isMet)
      #expect(state.meets(.ran, skippedUpstream: true) == isMet)
    }
    #expect(NeedCondition.allCases.filter(\.isMetByFailure) == [.failure, .finished])
  }

  @Test func `a success and an allowed failure meet it, a false if and a failure do not`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("good")
        $0.add("soft") { $0.flags = .allowAnyFailure }
        $0.add("off") { $0.flags = .conditionFalse }
        $0.add("bad")
        for name in ["good", "soft", "off", "bad"] {
          $0.add("after-\(name)", needs: [name], on: .ran)
        }
        $0.add("last", needs: ["after-off"], on: .ran)
        $0.add("end", needs: ["after-off"], on: .finished)
      }, parallel: 1, maxFailures: 0)
    run.finish { name, _ in Outcome(status: .exit(["soft", "bad"].contains(name) ? 1 : 0)) }
    #expect(run.state("after-good") == .succeeded)
    #expect(run.state("after-soft") == .succeeded)
    #expect(run.state("after-off") == .skipped)
    #expect(run.state("after-bad") == .skipped)
    #expect(run.state("last") == .skipped)
    #expect(run.state("end") == .succeeded)
  }

  @Test func `a run that a false if leaves without its followers succeeds`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("off") { $0.flags = .conditionFalse }
        $0.add("after", needs: ["off"], on: .ran)
        $0.add("other")
      }, parallel: 1)
    run.finish { _, _ in Outcome(status: .exit(0)) }
    #expect(run.order == ["other"])
    #expect(run.close?.exitCode == 0)
  }

  @Test func `max_failures holds back what waits for a task to have run`() throws {
    var run = EngineHarness(
      try plan {
        $0.add("bad") { $0.priority = 9 }
        $0.add("tool")
        $0.add("follower") { $0.needs = [("bad", .ran), ("tool", .success)] }
      }, parallel: 1)
    run.finish { name, _ in Outcome(status: .exit(name == "bad" ? 1 : 0)) }
    #expect(run.order == ["bad"])
  }
}
