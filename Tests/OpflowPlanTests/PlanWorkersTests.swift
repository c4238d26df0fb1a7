import Fixtures
import Testing

@testable import OpflowPlan

/// Facts about the workers of a plan's tasks that are known before an engine runs.
@Suite struct PlanWorkersTests {
  private func plan(_ change: (inout PlanMaker) -> Void) throws -> Plan {
    var maker = PlanMaker()
    change(&maker)
    return try maker.make()
  }

  @Test func `the kind of a task, and what is done with it, says who gets it`() throws {
    let plan = try plan {
      $0.add("shell")
      $0.add("words") { $0.kind = .command }
      $0.add("terminal") { $0.flags = .interactive }
      $0.addDownload("download")
      $0.addService("service")
      $0.add("block") { $0.kind = .block }
      $0.add("gate") {
        $0.kind = .approve
        $0.demand = []
      }
    }
    #expect(
      plan.tasks.map { plan.workerKind(of: TaskID($0)) }
        == [.command, .command, .terminal, .download, .service, .block, nil])
  }

  @Test func `a drive begins with a command where the first task that is to run is one`() throws {
    let plan = try plan {
      $0.addDownload("a")
      $0.add("b")
    }
    #expect(plan.beginsWithCommand([.succeeded, .run]))
    #expect(!plan.beginsWithCommand([.run, .run]))
    #expect(!plan.beginsWithCommand([.succeeded, .succeeded]))
    #expect(!plan.beginsWithCommand([.succeeded, .recheck]))
  }

  @Test func `it does not where that one waits, is skipped, or is looked at before`() throws {
    let first = { (change: @escaping (inout PlanMaker.Task) -> Void) throws in
      try plan {
        $0.add("a", change)
        $0.add("b")
      }.beginsWithCommand([.run, .run])
    }
    #expect(try first { _ in })
    #expect(try !first { $0.needs = [("b", .success)] })
    #expect(try !first { $0.flags = .conditionFalse })
    #expect(try !first { $0.inputs = [] })
    #expect(try !first { $0.service = ServiceEntry(.none) })
  }
}
