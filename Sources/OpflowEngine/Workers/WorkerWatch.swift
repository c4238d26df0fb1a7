internal import OpflowPlan

package struct WorkerWatch {
  private struct Entry {
    /// For a hello, or for the end of a task that should have ended.
    var deadline = Deadline()
    var answerBy: Instant?
    /// Since the last check.
    var wasHeard = true
    var isListenedTo = false

    var due: Instant? {
      guard let at = deadline.at else { return answerBy }
      return answerBy.map { min($0, at) } ?? at
    }
  }

  private var entries = Table<Entry>()
  private var due = IndexedHeap<Instant>()
  private var listenedCount = 0
  private var listenAt: Instant?

  // MARK: - Watched workers

  mutating func add(helloBy at: Instant) {
    entries.append(Entry())
    setDeadline(of: WorkerID(Int32(truncatingIfNeeded: entries.count - 1)), at: at)
  }

  mutating func listen(to worker: WorkerID) {
    if entries[worker.index].isListenedTo { return }
    entries[worker.index].isListenedTo = true
    listenedCount += 1
  }

  mutating func forget(_ worker: WorkerID) {
    if entries[worker.index].isListenedTo { listenedCount -= 1 }
    entries[worker.index] = Entry()
    due.remove(worker.index)
  }

  func isListenedTo(_ worker: WorkerID) -> Bool { entries[worker.index].isListenedTo }

  // MARK: - Deadlines

  mutating func setDeadline(of worker: WorkerID, at: Instant) {
    change(worker) { $0.deadline.set(at) }
  }

  @inline(__always)
  mutating func clearDeadline(of worker: WorkerID) {
    if entries[worker.index].deadline.isClear { return }
    change(worker) { $0.deadline.clear() }
  }

  mutating func pause(_ worker: WorkerID, at now: Instant) {
    change(worker) { $0.deadline.pause(at: now) }
  }

  mutating func proceed(_ worker: WorkerID, at now: Instant) {
    change(worker) { $0.deadline.proceed(at: now) }
  }

  mutating func postpone(_ worker: WorkerID, by nanoseconds: Int64, atLeastTo least: Instant) {
    change(worker) { $0.deadline.postpone(by: nanoseconds, atLeastTo: least) }
  }

  private mutating func change(_ worker: WorkerID, _ body: (inout Entry) -> Void) {
    body(&entries[worker.index])
    if let at = entries[worker.index].due {
      due.set(worker.index, to: at)
    } else {
      due.remove(worker.index)
    }
  }

  func firstDue(at now: Instant) -> WorkerID? {
    guard let (worker, at) = due.first, at <= now else { return nil }
    return WorkerID(Int32(truncatingIfNeeded: worker))
  }

  // MARK: - Listening

  @inline(__always)
  mutating func hear(_ worker: WorkerID) {
    entries[worker.index].wasHeard = true
    if entries[worker.index].answerBy != nil { change(worker) { $0.answerBy = nil } }
  }

  /// False if a ping is unanswered.
  mutating func ask(_ worker: WorkerID, at now: Instant) -> Bool {
    guard entries[worker.index].answerBy == nil else { return false }
    let answerBy = now.advanced(byMilliseconds: SchedulerOptions.pulseMilliseconds)
    change(worker) { $0.answerBy = answerBy }
    return true
  }

  func isMute(_ worker: WorkerID, at now: Instant) -> Bool {
    entries[worker.index].answerBy.map { $0 <= now } ?? false
  }

  mutating func listenAnew(at now: Instant) {
    listenAt = now.advanced(byMilliseconds: SchedulerOptions.listenMilliseconds)
    for index in entries.indices where entries[index].isListenedTo {
      hear(WorkerID(Int32(truncatingIfNeeded: index)))
    }
  }

  var isListening: Bool { listenAt != nil }

  /// Since the last check, if one is due.
  mutating func silent(at now: Instant) -> [WorkerID] {
    guard let listenAt, listenAt <= now else { return [] }
    self.listenAt = now.advanced(byMilliseconds: SchedulerOptions.listenMilliseconds)
    var silent: [WorkerID] = []
    for index in entries.indices where entries[index].isListenedTo {
      if !entries[index].wasHeard { silent.append(WorkerID(Int32(truncatingIfNeeded: index))) }
      entries[index].wasHeard = false
    }
    return silent
  }

  /// Silence is ignored while the run is suspended.
  func nextWake(isSuspended: Bool) -> Instant? {
    let first = due.first?.key
    guard let listenAt, listenedCount > 0, !isSuspended else { return first }
    return first.map { min($0, listenAt) } ?? listenAt
  }

  func checkInvariants() -> String? {
    if entries.all.count(where: \.isListenedTo) != listenedCount {
      return "a listener is miscounted"
    }
    for (index, entry) in entries.all.enumerated() where due.contains(index) != (entry.due != nil) {
      return "the deadline of worker \(index) is not watched"
    }
    return due.checkInvariants()
  }
}

struct Deadline {
  private(set) var at: Instant?
  /// Nanoseconds left while paused.
  private var left: Int64?

  var isClear: Bool { at == nil && left == nil }

  mutating func set(_ at: Instant) {
    self.at = at
    left = nil
  }

  mutating func clear() {
    at = nil
    left = nil
  }

  mutating func pause(at now: Instant) {
    guard let at else { return }
    left = at.nanoseconds - now.nanoseconds
    self.at = nil
  }

  mutating func proceed(at now: Instant) {
    guard let left else { return }
    set(now.advanced(byNanoseconds: left))
  }

  mutating func postpone(by nanoseconds: Int64, atLeastTo least: Instant) {
    guard let at else { return }
    self.at = max(at.advanced(byNanoseconds: nanoseconds), least)
  }
}
