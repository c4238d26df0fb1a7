/// What keeps a worker that hangs from holding its task for ever: deadlines, the first one at hand
/// without a look at all workers, and pulses for those of which nothing was heard.
struct WorkerWatch {
  private struct Entry {
    /// Until then it must say hello, or that a task ended which was stopped or whose time is up.
    var deadline = Deadline()
    /// Until then it must answer a pulse.
    var answerBy: Instant?
    /// It has said something since it was last looked at.
    var wasHeard = true
    /// It has said hello, and is to say something now and then.
    var isListenedTo = false

    var due: Instant? {
      guard let at = deadline.at else { return answerBy }
      return answerBy.map { min($0, at) } ?? at
    }
  }

  /// By worker.
  private var entries = Table<Entry>()
  private var due = IndexedHeap<Instant>()
  private var listenedCount = 0
  /// When it is looked again which of them said nothing.
  private var listenAt: Instant?

  // MARK: - Who is watched

  /// The next worker, which is to say hello until then.
  mutating func add(helloBy at: Instant) {
    entries.append(Entry())
    setDeadline(of: WorkerID(Int32(truncatingIfNeeded: entries.count - 1)), at: at)
  }

  /// It said hello.
  mutating func listen(to worker: WorkerID) {
    if entries[worker.index].isListenedTo { return }
    entries[worker.index].isListenedTo = true
    listenedCount += 1
  }

  /// It is to end, or is gone: nothing is expected of it.
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

  /// Its time does not count until it is proceeded with.
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

  /// A worker that owes something by now.
  func firstDue(at now: Instant) -> WorkerID? {
    guard let (worker, at) = due.first, at <= now else { return nil }
    return WorkerID(Int32(truncatingIfNeeded: worker))
  }

  // MARK: - Listening

  /// The worker said something.
  @inline(__always)
  mutating func hear(_ worker: WorkerID) {
    entries[worker.index].wasHeard = true
    if entries[worker.index].answerBy != nil { change(worker) { $0.answerBy = nil } }
  }

  /// Asks for a sign of life.
  ///
  /// - Returns: whether it was not asked already.
  mutating func ask(_ worker: WorkerID, at now: Instant) -> Bool {
    guard entries[worker.index].answerBy == nil else { return false }
    let answerBy = now.advanced(byMilliseconds: SchedulerOptions.pulseMilliseconds)
    change(worker) { $0.answerBy = answerBy }
    return true
  }

  /// Whether it was asked, and its time to answer is over.
  func isMute(_ worker: WorkerID, at now: Instant) -> Bool {
    entries[worker.index].answerBy.map { $0 <= now } ?? false
  }

  /// Silence is counted from now on, for all.
  mutating func listenAnew(at now: Instant) {
    listenAt = now.advanced(byMilliseconds: SchedulerOptions.listenMilliseconds)
    for index in entries.indices where entries[index].isListenedTo {
      hear(WorkerID(Int32(truncatingIfNeeded: index)))
    }
  }

  /// Whether silence is counted at all yet.
  var isListening: Bool { listenAt != nil }

  /// Those who said nothing since the last look, where it is time for one.
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

  /// When something is due; while the run is suspended nobody is listened to.
  func nextWake(isSuspended: Bool) -> Instant? {
    let first = due.first?.key
    guard let listenAt, listenedCount > 0, !isSuspended else { return first }
    return first.map { min($0, listenAt) } ?? listenAt
  }

  /// What is wrong with it; nil when nothing is.
  func checkInvariants() -> String? {
    if entries.all.count(where: \.isListenedTo) != listenedCount {
      return "a listener is miscounted"
    }
    for (index, entry) in entries.all.enumerated() where due.contains(index) != (entry.due != nil) {
      return "worker \(index) owes something that is not watched"
    }
    return due.checkInvariants()
  }
}
