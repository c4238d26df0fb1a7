/// Which workers of a run are on further machines, over all its drives: their numbers begin anew with each.
struct WorkerSites: Sendable {
  /// From a line on the worker of a number is on that one of the run's machines; nil: on none, as far as is known.
  private struct Stay: Sendable {
    let sequence: UInt64
    let record: Int?
  }

  private var stays: [WorkerID: [Stay]] = [:]

  var isEmpty: Bool { stays.isEmpty }

  /// - Parameter record: the place of its machine in `SiteRecords`.
  mutating func note(_ worker: WorkerID, _ record: Int, from sequence: UInt64) {
    stays[worker, default: []].append(Stay(sequence: sequence, record: record))
  }

  /// Whoever comes from here on is somebody else.
  mutating func beginDrive(at sequence: UInt64) {
    for (worker, all) in stays where all.last?.record != nil {
      stays[worker, default: []].append(Stay(sequence: sequence, record: nil))
    }
  }

  /// Where the worker was that began with something by the line with that number.
  func record(of worker: WorkerID, at sequence: UInt64) -> Int? {
    stays[worker]?.last { $0.sequence < sequence }?.record
  }

  /// Those of the newest drive.
  var current: [(worker: WorkerID, record: Int)] {
    stays.compactMap { worker, all in all.last?.record.map { (worker, $0) } }
  }
}
