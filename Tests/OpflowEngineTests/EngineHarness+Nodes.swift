import OpflowEngine
import OpflowJournal
import OpflowPlan

/// Further machines of an imagined run.
extension EngineHarness {
  /// - Parameters:
  ///   - machine: where it is none of its own.
  ///   - devicesHere: which of the coordinator's GPUs it has.
  mutating func join(
    _ number: Int32, _ offer: NodeOffer?, machine: Int32? = nil, devicesHere: [Int?] = []
  ) {
    let machine = machine ?? number
    var identity = NodeIdentity(machine: machine, host: "node\(machine)")
    identity.devicesHere = devicesHere
    tell(.nodeJoined(NodeID(number), offer, identity))
  }

  /// All that is on a machine is gone in one stroke.
  mutating func lose(_ number: Int32) {
    for (worker, node) in nodes where node == NodeID(number) {
      running[worker] = nil
      ahead[worker] = nil
      inbox[worker] = nil
      dying.removeAll { $0 == worker }
      launched.removeAll { $0 == worker }
    }
    tell(.nodeLost(NodeID(number), complaint: "its machine is gone"))
  }

  /// A worker that runs the named task is gone.
  mutating func loseWorker(of name: String) {
    settle()
    guard let worker = running.first(where: { plan.nameString($0.value.0) == name })?.key else {
      return
    }
    bury(worker)
    settle()
  }

  /// Where the named tasks run.
  var places: [String: Int32] {
    mutating get {
      settle()
      var places: [String: Int32] = [:]
      for (worker, held) in running {
        places[plan.nameString(held.0)] = nodes[worker]?.rawValue
      }
      return places
    }
  }

  /// The changes of nodes, in short.
  var nodeStates: [String] { nodeEntries.map { "\($0.node.rawValue) \($0.state.rawValue)" } }
}
