import OpflowPlan
import OpflowSystem
import Testing

@testable import OpflowRuntime

/// The progress of a session's nodes.
@Suite struct NodesTests {
  @Test func `of an allocation that is over nothing more is reached, and what joined is told`()
    throws
  {
    let state = try StateFixture()
    let now = Instant(nanoseconds: 0)
    let settings = NodeSettings(
      [], folder: try state.run(of: "m.yaml", at: 1), planKey: "", variables: [], arguments: nil,
      queueMilliseconds: nil)
    let nodes = try Nodes(settings, at: now)
    nodes.allocations = [NodeAllocation(nil), NodeAllocation(nil)]
    for (name, allocation) in [("n1", 0), ("n2", 0), ("n3", 1)] {
      nodes.add(TransportPlan(name: name, words: ["true"]), of: allocation, at: now)
    }
    let messages = try OpflowSystem.Pipe()
    let reports = try OpflowSystem.Pipe()
    let launcher = try RelayLauncher(
      node: 1, watch: EventLoop(), name: "n2", input: reports.takeRead(),
      output: messages.takeWrite(),
      at: now)
    nodes.places[1].state = .joined(launcher, NodeID(1))

    let joined = nodes.close(0, complaint: "it has ended")
    #expect(joined.count == 1)
    #expect(joined.first?.0 === launcher)
    #expect(joined.first?.1 == NodeID(1))
    #expect(nodes.allocations.map(\.isOver) == [true, false])
    let states = nodes.places.map { (place) -> String in
      switch place.state {
      case .waiting: "waiting"
      case .connecting: "connecting"
      case .joined: "joined"
      case .lost: "lost"
      case .givenUp(let complaint): complaint
      }
    }
    #expect(states == ["it has ended", "joined", "waiting"])
  }
}
