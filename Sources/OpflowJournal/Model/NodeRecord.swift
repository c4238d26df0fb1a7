package import OpflowPlan

package struct NodeRecord: Sendable, Equatable {
  package let session: Int
  package let node: NodeID
  /// The entry of the joining; if that line is lost, only the host is known.
  package internal(set) var offer: NodeEntry
  /// The time of the node's first known line.
  package let joinedMilliseconds: Int64
  package internal(set) var state: NodeState
  package internal(set) var stateMilliseconds: Int64
  package internal(set) var detail: String

  package var host: String { offer.host }
  package var isInUse: Bool { state.isInUse }

  /// For a resource that each node has of its own; unlimited if unknown.
  package func capacity(of resource: UInt32) -> UInt64 {
    switch resource {
    case ResourceEntry.cpu: offer.cores == 0 ? .max : offer.cores
    case ResourceEntry.memory: offer.memoryBytes == 0 ? .max : offer.memoryBytes
    default: offer.gpuAmount
    }
  }
}

/// In the order of joining.
package struct NodeRecords: Sendable {
  package private(set) var all: [NodeRecord] = []
  private var places: [Place: Int] = [:]

  private struct Place: Hashable, Sendable {
    let session: Int
    let node: NodeID
  }

  package subscript(node: NodeID, session session: Int) -> NodeRecord? {
    place(of: node, session: session).map { all[$0] }
  }

  func place(of node: NodeID, session: Int) -> Int? { places[Place(session: session, node: node)] }

  package func of(session: Int) -> some Sequence<NodeRecord> {
    all.lazy.filter { $0.session == session }
  }

  mutating func apply(_ entry: NodeEntry, session: Int, atMilliseconds now: Int64) {
    let key = Place(session: session, node: entry.node)
    guard let place = places[key] else {
      places[key] = all.count
      all.append(
        NodeRecord(
          session: session, node: entry.node, offer: entry, joinedMilliseconds: now,
          state: entry.state, stateMilliseconds: now, detail: entry.detail))
      return
    }
    all[place].state = entry.state
    all[place].stateMilliseconds = now
    all[place].detail = entry.detail
    if entry.state == .joined { all[place].offer = entry }
  }
}

/// Each session numbers its workers from the start.
struct WorkerNodes: Sendable {
  /// The node of a worker from this line on.
  private struct Stay: Sendable {
    let sequence: UInt64
    let record: Int?
  }

  private var stays: [WorkerID: [Stay]] = [:]

  var isEmpty: Bool { stays.isEmpty }

  mutating func note(_ worker: WorkerID, _ record: Int, from sequence: UInt64) {
    stays[worker, default: []].append(Stay(sequence: sequence, record: record))
  }

  mutating func beginSession(at sequence: UInt64) {
    for (worker, all) in stays where all.last?.record != nil {
      stays[worker, default: []].append(Stay(sequence: sequence, record: nil))
    }
  }

  func record(of worker: WorkerID, at sequence: UInt64) -> Int? {
    stays[worker]?.last { $0.sequence < sequence }?.record
  }

  var current: [(worker: WorkerID, record: Int)] {
    stays.compactMap { worker, all in all.last?.record.map { (worker, $0) } }
  }
}
