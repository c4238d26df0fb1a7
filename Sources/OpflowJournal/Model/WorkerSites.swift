internal import OpflowPlan

/// Each session numbers its workers from the start.
struct WorkerSites: Sendable {
  /// From this line on, the worker is on this node; nil for none known.
  private struct Stay: Sendable {
    let sequence: UInt64
    let record: Int?
  }

  private var stays: [WorkerID: [Stay]] = [:]

  var isEmpty: Bool { stays.isEmpty }

  /// - Parameter record: the index of its node in `SiteRecords`.
  mutating func note(_ worker: WorkerID, _ record: Int, from sequence: UInt64) {
    stays[worker, default: []].append(Stay(sequence: sequence, record: record))
  }

  mutating func beginDrive(at sequence: UInt64) {
    for (worker, all) in stays where all.last?.record != nil {
      stays[worker, default: []].append(Stay(sequence: sequence, record: nil))
    }
  }

  /// Of the worker that started a task by this line.
  func record(of worker: WorkerID, at sequence: UInt64) -> Int? {
    stays[worker]?.last { $0.sequence < sequence }?.record
  }

  var current: [(worker: WorkerID, record: Int)] {
    stays.compactMap { worker, all in all.last?.record.map { (worker, $0) } }
  }
}
