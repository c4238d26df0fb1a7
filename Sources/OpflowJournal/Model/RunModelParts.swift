internal import OpflowBase
internal import OpflowPlan

struct LostLines: Sendable {
  private(set) var head = SessionHead()
  private var gaps: [Range<UInt64>] = []
  /// Results from before this SEQ are unproven for good, unless discarded since.
  private var provenFrom: UInt64 = 0

  /// Results from before this SEQ are unproven until further lines show what the newest session
  /// discards.
  @inline(__always)
  var trustedFrom: UInt64 {
    head.isIncomplete ? Swift.max(provenFrom, head.sequence) : provenFrom
  }

  var last: Range<UInt64>? { gaps.last }

  mutating func lose(_ sequences: Range<UInt64>) {
    gaps.append(sequences)
    head.lose(sequences.upperBound - sequences.lowerBound)
  }

  /// `expected` is the number of tasks' `resume` lines that follow. `isNext`: no session is missing
  /// before it.
  mutating func beginSession(at sequence: UInt64, expected: Int, isNext: Bool) {
    provenFrom = trustedFrom
    if !isNext { distrust(before: sequence) }
    head = SessionHead(sequence: sequence, expected: expected)
  }

  /// Begins a session whose first line is lost. `isAlone`: no other line is lost so far.
  mutating func enterSession(at sequence: UInt64, isAlone: Bool) {
    provenFrom = trustedFrom
    if isAlone {
      head = SessionHead(sequence: sequence - 1, expected: .max)
    } else {
      distrust(before: sequence)
      head = SessionHead()
    }
  }

  private mutating func distrust(before sequence: UInt64) {
    provenFrom = Swift.max(provenFrom, sequence)
  }

  mutating func hearOfGone(_ event: TransitionKind, isLate: Bool) {
    if event == .resume, !isLate { head.seen += 1 }
  }

  /// `settled` is SEQ of the task's end; 0 if it has not ended.
  mutating func hear(_ event: TransitionKind, isLate: Bool, settled: UInt64) {
    // Only a `resume` line reopens a task; an unseen one is lost.
    let wasTakenOut =
      event == .resume
      ? !isLate : event != .fresh && settled >= Swift.max(1, provenFrom) && settled < head.sequence
    if wasTakenOut { head.seen += 1 }
  }

  /// A lower bound for the SEQ of a lost start: the first missing SEQ after the task's known lines,
  /// or 0.
  func start(after record: TaskRecord) -> UInt64 {
    let known = Swift.max(record.startSequence, record.settleSequence)
    var low = 0
    var high = gaps.count
    while low < high {
      let middle = (low + high) / 2
      if gaps[middle].lowerBound > known { high = middle } else { low = middle + 1 }
    }
    return low < gaps.count ? gaps[low].lowerBound : 0
  }
}

/// The tasks' `resume` lines at the start of a session: announced by the run's `resume`, and seen.
struct SessionHead: Sendable {
  var sequence: UInt64 = 0
  var expected = 0
  var seen = 0
  private var missing: UInt64 = 0

  init() {}

  init(sequence: UInt64, expected: Int) {
    self.sequence = sequence
    self.expected = expected
  }

  mutating func lose(_ count: UInt64) {
    if seen < expected { missing += count }
  }

  /// A crash within the head does not lose lines: no task had started.
  var isIncomplete: Bool { missing > 0 && seen < expected }

  var isOpen: Bool { missing == 0 && seen < expected && expected != .max }
}

struct GoneTasks: Sendable {
  private var places: [String: Int] = [:]
  private var nextPlace = 0
  private var standIns: [String: TaskID] = [:]
  private var workers: [TaskID: WorkerID] = [:]
  private(set) var attempts: [String: Int32] = [:]

  var names: [String] { places.sorted { $0.value < $1.value }.map(\.key) }

  mutating func insert(_ escapedName: UnsafeRawBufferPointer) {
    guard let name = Field.text(escapedName), places[name] == nil else { return }
    places[name] = nextPlace
    nextPlace += 1
  }

  mutating func forget(_ names: [String]) {
    for name in names { places[name] = nil }
  }

  /// Returns a stand-in ID, which the plan does not contain.
  mutating func start(
    _ escapedName: UnsafeRawBufferPointer, _ attempt: Int32, on worker: WorkerID
  ) -> TaskID? {
    guard let name = Field.text(escapedName) else { return nil }
    attempts[name] = max(attempts[name] ?? 0, attempt)
    let standIn = standIns[name] ?? TaskID(-2 - standIns.count)
    standIns[name] = standIn
    workers[standIn] = worker
    return standIn
  }

  func holder(of escapedName: UnsafeRawBufferPointer) -> (standIn: TaskID, worker: WorkerID)? {
    guard let standIn = Field.text(escapedName).flatMap({ standIns[$0] }),
      let worker = workers[standIn]
    else { return nil }
    return (standIn, worker)
  }

  static func isStandIn(_ task: TaskID) -> Bool { task.rawValue < TaskID.none.rawValue }
}

/// The prefetched tasks of each worker, in starting order. A damaged journal may name a task twice.
package struct PrefetchedTasks: Sendable {
  private struct Queue {
    var tasks: [TaskID] = []
    var first = 0
  }

  private var queues: [Queue] = []
  private var count = 0

  var isEmpty: Bool { count == 0 }

  mutating func append(_ task: TaskID, to worker: WorkerID) {
    guard worker != .none else { return }
    while queues.count <= worker.index { queues.append(Queue()) }
    queues[worker.index].tasks.append(task)
    count += 1
  }

  @inline(__always)
  mutating func popFirst(of worker: WorkerID) -> TaskID? {
    guard queues.indices.contains(worker.index) else { return nil }
    let first = queues[worker.index].first
    if first == queues[worker.index].tasks.count { return nil }
    queues[worker.index].first = first + 1
    count -= 1
    return queues[worker.index].tasks[first]
  }

  mutating func remove(_ task: TaskID, of worker: WorkerID) {
    guard queues.indices.contains(worker.index) else { return }
    let queue = queues[worker.index]
    guard let place = queue.tasks[queue.first...].firstIndex(of: task) else { return }
    queues[worker.index].tasks.remove(at: place)
    count -= 1
  }

  mutating func removeAll() { self = PrefetchedTasks() }
}
