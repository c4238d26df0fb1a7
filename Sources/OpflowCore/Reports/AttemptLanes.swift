/// Where the tries of a run stand in a picture of its time: in lanes, in each of which one is over before
/// the next begins.
///
/// A worker has a lane, and so many more as it had tasks at once: one that fetches has many. Numbers of workers
/// begin anew with each drive, which come one after the other, so that drives share lanes.
struct AttemptLanes {
  struct Lane: Equatable {
    /// Empty for the coordinator's machine.
    let host: String
    /// `none` for gates, which nobody runs, and for what is not told.
    let worker: WorkerID
    /// Of those of the worker, from 0.
    let place: Int
  }

  /// A try in its lane, in milliseconds since the epoch.
  struct Entry {
    /// Of the run's attempts.
    let attempt: Int
    let lane: Int
    let begin: Int64
    let end: Int64
  }

  /// By machine, worker and place; the coordinator's machine first, what no worker has last.
  private(set) var lanes: [Lane] = []
  /// In the order of their beginnings.
  private(set) var entries: [Entry] = []

  private struct Owner: Hashable {
    let host: String
    let worker: WorkerID
  }

  /// - Parameter now: since the epoch, up to when that which runs is shown.
  init(_ attempts: TaskAttempts, until now: Int64) {
    let all = attempts.all
    // Those whose start was lost stand behind what began after them.
    let order = all.indices.sorted {
      (all[$0].begunMilliseconds, $0) < (all[$1].begunMilliseconds, $1)
    }
    var places: [Owner: [Int]] = [:]
    var ends: [Int64] = []
    entries.reserveCapacity(all.count)
    for index in order {
      let attempt = all[index]
      let begin = attempt.begunMilliseconds
      let end = max(begin, attempt.endedMilliseconds == 0 ? now : attempt.endedMilliseconds)
      let owner = Owner(host: attempts.host(of: attempt), worker: attempt.worker)
      var lane = places[owner]?.first { ends[$0] <= begin }
      if lane == nil {
        lanes.append(
          Lane(host: owner.host, worker: owner.worker, place: places[owner]?.count ?? 0))
        ends.append(begin)
        places[owner, default: []].append(lanes.count - 1)
        lane = lanes.count - 1
      }
      guard let lane else { continue }
      // What runs goes on after that which begins now.
      ends[lane] = attempt.endedMilliseconds == 0 ? .max : end
      entries.append(Entry(attempt: index, lane: lane, begin: begin, end: end))
    }
    sort()
  }

  private mutating func sort() {
    let order = lanes.indices.sorted { Self.key(lanes[$0]) < Self.key(lanes[$1]) }
    var numbers = [Int](repeating: 0, count: lanes.count)
    for (number, old) in order.enumerated() { numbers[old] = number }
    lanes = order.map { lanes[$0] }
    entries = entries.map {
      Entry(attempt: $0.attempt, lane: numbers[$0.lane], begin: $0.begin, end: $0.end)
    }
  }

  private static func key(_ lane: Lane) -> (String, UInt32, Int) {
    (lane.host, UInt32(bitPattern: lane.worker.rawValue), lane.place)
  }
}
