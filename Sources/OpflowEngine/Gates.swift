internal import OpflowPlan

/// Approvals use no worker and no resources, and no queue delays them.
struct Gates {
  struct Open {
    let since: Instant
    /// Nil without a timeout.
    var deadline: Instant?
  }

  /// Kept for requests that come too late.
  struct Answer {
    let verb: OrderVerb
    let asker: OrderAsker
  }

  /// In order of readiness.
  private(set) var ready: [TaskID] = []
  private(set) var open: [TaskID: Open] = [:]
  /// Open approvals with a deadline: usually 0, which saves a scan.
  private var timedCount = 0
  private(set) var answers: [TaskID: Answer] = [:]
  /// See `Entering`.
  private var approved: Set<TaskID>
  private var suspendedAt: Instant?

  init(approved: Set<TaskID>) { self.approved = approved }

  var isEmpty: Bool { ready.isEmpty && open.isEmpty }

  mutating func enqueue(_ task: TaskID) { ready.append(task) }

  mutating func removeReady() -> [TaskID] {
    defer { ready.removeAll() }
    return ready
  }

  mutating func removeFirstReady() -> TaskID? { ready.isEmpty ? nil : ready.removeFirst() }

  mutating func removeReady(_ task: TaskID) { ready.removeAll { $0 == task } }

  /// - Returns: whether it was approved in an earlier session.
  mutating func ask(_ task: TaskID, timeoutMilliseconds: UInt64, at now: Instant) -> Bool {
    let deadline =
      timeoutMilliseconds > 0
      ? now.advanced(byMilliseconds: Int64(clamping: timeoutMilliseconds)) : nil
    _ = close(task)
    open[task] = Open(since: now, deadline: deadline)
    if deadline != nil { timedCount += 1 }
    return approved.remove(task) != nil
  }

  mutating func close(_ task: TaskID) -> Open? {
    let closed = open.removeValue(forKey: task)
    if closed?.deadline != nil { timedCount -= 1 }
    return closed
  }

  mutating func note(_ answer: Answer, of task: TaskID) { answers[task] = answer }

  var nextDeadline: Instant? {
    timedCount == 0 || suspendedAt != nil ? nil : open.values.lazy.compactMap(\.deadline).min()
  }

  func overdue(at now: Instant) -> [TaskID] {
    if timedCount == 0 || suspendedAt != nil { return [] }
    return open.filter { $0.value.deadline.map { $0 <= now } ?? false }.keys
      .sorted { $0.rawValue < $1.rawValue }
  }

  mutating func suspend(at now: Instant) { suspendedAt = now }

  mutating func proceed(at now: Instant) {
    guard let since = suspendedAt else { return }
    suspendedAt = nil
    for task in open.keys {
      guard let deadline = open[task]?.deadline else { continue }
      open[task]?.deadline = deadline.advanced(byNanoseconds: now.nanoseconds - since.nanoseconds)
    }
  }
}
