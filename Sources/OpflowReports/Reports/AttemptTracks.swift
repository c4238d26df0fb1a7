internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan

/// The attempts of a run in tracks of a time chart, in which they do not overlap.
///
/// A worker has as many tracks as it ran tasks at once. Sessions share tracks, since they number
/// workers from the start and do not overlap.
struct AttemptTracks {
  struct Track: Equatable {
    /// Empty for the coordinator's host.
    let host: String
    /// `none` for approvals, and if unknown.
    let worker: WorkerID
    let place: Int
  }

  /// In milliseconds since the epoch.
  struct Entry {
    let attempt: Int
    let track: Int
    let begin: Int64
    let end: Int64
  }

  /// By host, worker and place; the coordinator's host first, tracks without a worker last.
  private(set) var tracks: [Track] = []
  private(set) var entries: [Entry] = []

  private struct Owner: Hashable {
    let host: String
    let worker: WorkerID
  }

  /// `now` is the end of running attempts.
  init(_ attempts: TaskAttempts, until now: Int64) {
    let all = attempts.all
    // If starts are lost, the order differs.
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
      var track = places[owner]?.first { ends[$0] <= begin }
      if track == nil {
        tracks.append(
          Track(host: owner.host, worker: owner.worker, place: places[owner]?.count ?? 0))
        ends.append(begin)
        places[owner, default: []].append(tracks.count - 1)
        track = tracks.count - 1
      }
      guard let track else { continue }
      ends[track] = attempt.endedMilliseconds == 0 ? .max : end
      entries.append(Entry(attempt: index, track: track, begin: begin, end: end))
    }
    sort()
  }

  private mutating func sort() {
    let order = tracks.indices.sorted { Self.key(tracks[$0]) < Self.key(tracks[$1]) }
    var numbers = [Int](repeating: 0, count: tracks.count)
    for (number, old) in order.enumerated() { numbers[old] = number }
    tracks = order.map { tracks[$0] }
    entries = entries.map {
      Entry(attempt: $0.attempt, track: numbers[$0.track], begin: $0.begin, end: $0.end)
    }
  }

  private static func key(_ track: Track) -> (String, UInt32, Int) {
    (track.host, UInt32(bitPattern: track.worker.rawValue), track.place)
  }
}

struct ResourceUse {
  struct Step {
    let milliseconds: Int64
    let running: Int
    /// Per resource, in the unit of the plan.
    let amounts: [UInt64]
  }

  private(set) var steps: [Step] = []

  private struct Change {
    let milliseconds: Int64
    let isEnd: Bool
    let task: TaskID
  }

  init(_ status: RunStatus, _ entries: [AttemptTracks.Entry]) {
    let (plan, attempts) = (status.plan, status.history.attempts.all)
    var changes: [Change] = []
    changes.reserveCapacity(entries.count * 2)
    // Approvals and attempts without length do not use resources.
    for entry in entries where entry.end > entry.begin {
      let task = attempts[entry.attempt].task
      if plan.kind(task) == .approve { continue }
      changes.append(Change(milliseconds: entry.begin, isEnd: false, task: task))
      changes.append(Change(milliseconds: entry.end, isEnd: true, task: task))
    }
    changes.sort { $0.milliseconds < $1.milliseconds }
    var demands = [[DemandItem]?](repeating: nil, count: plan.demandCount)
    var running = 0
    var amounts = [UInt64](repeating: 0, count: plan.resources.count)
    for change in changes {
      let number = Int(plan.demand[change.task.index])
      let demand = demands[number] ?? RunQueue.demand(of: change.task, status)
      demands[number] = demand
      running += change.isEnd ? -1 : 1
      for item in demand where amounts.indices.contains(Int(item.resource)) {
        if change.isEnd {
          amounts[Int(item.resource)] &-= item.amount
        } else {
          amounts[Int(item.resource)] &+= item.amount
        }
      }
      if steps.last?.milliseconds == change.milliseconds { steps.removeLast() }
      steps.append(Step(milliseconds: change.milliseconds, running: running, amounts: amounts))
    }
  }
}

struct LastTries {
  private let attempts: [TaskAttempt]
  private let places: [Int32]

  init(_ status: RunStatus) {
    attempts = status.history.attempts.all
    var places = [Int32](repeating: -1, count: status.plan.taskCount)
    for (place, attempt) in attempts.enumerated() {
      places[attempt.task.index] = Int32(truncatingIfNeeded: place)
    }
    self.places = places
  }

  subscript(task: TaskID) -> TaskAttempt? {
    places[task.index] < 0 ? nil : attempts[Int(places[task.index])]
  }
}
