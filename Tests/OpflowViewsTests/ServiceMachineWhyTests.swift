import Fixtures
import OpflowWire
import Testing

@testable import OpflowJournal
@testable import OpflowPlan
@testable import OpflowViews

/// Why a task that needs a service on a node does not start.
@Suite struct ServiceMachineWhyTests {
  /// `db` is on n1, which has two processors, and `a` takes them there; n2 has as many.
  private func run(gpus: UInt64 = 0) throws -> ReportFixture {
    var maker = PlanMaker()
    maker.resources = [("gpu", 0)]
    maker.addService("db")
    for name in ["a", "b"] { maker.add(name, needs: ["db"]) { $0.demand = [(0, 2)] } }
    maker.add("c", needs: ["db"]) { $0.demand = [(3, 1000)] }
    maker.add("free") { $0.demand = [(0, 2)] }
    var run = ReportFixture(try maker.make())
    for number in 1...2 as ClosedRange<Int32> {
      var node = NodeEntry(NodeID(number), .joined, host: "n\(number)")
      (node.cores, node.memoryBytes, node.gpus) = (2, 4 << 30, UInt64(number - 1))
      run.tell(.node(node))
    }
    for number in 0...1 as ClosedRange<Int32> {
      var worker = WorkerEntry(worker: WorkerID(number), pid: 9, startTime: 1, bootID: "")
      worker.node = NodeID(1)
      run.tell(.worker(worker))
    }
    run.tell(.start, "db", attempt: 1) { $0.worker = WorkerID(0) }
    run.tell(.ready, "db")
    run.tell(.start, "a", attempt: 1) { $0.worker = WorkerID(1) }
    return run
  }

  private func why(_ name: String, _ run: ReportFixture) throws -> String {
    let view = WhyView(
      try run.status(isHeld: true), durations: .unknown, nowMilliseconds: 1_767_323_060_000
    ) { _ in nil }
    let task = try #require(run.plan.task(named: name))
    return String(decoding: view.text([task], color: false, columns: nil), as: UTF8.self)
  }

  @Test func `it waits for room on the node of its service, though another node has room`() throws {
    let run = try run()
    #expect(
      try why("b", run) == """
        b pending
          waits for the node of db: n1 has 0 of 2 cpu free

        """)
    #expect(
      try why("c", run) == """
        c pending
          waits for the node of db: n1 has 0 of 0 gpu free

        """)
    #expect(try !why("free", run).contains("db"))
  }

  @Test func `it waits until its service has left a node that is leaving`() throws {
    var run = try run()
    var entry = NodeEntry(NodeID(1), .leaving, host: "n1")
    entry.detail = "preempted"
    run.tell(.node(entry))
    #expect(
      try why("b", run) == """
        b pending
          waits for the node of db: n1 is leaving (preempted)

        """)
  }
}
