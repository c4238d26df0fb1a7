internal import OpflowPlan
internal import OpflowWire

/// Holds worker commands until their lines are written, and synced if promised; decides when to
/// sync. Commands for one worker keep their order. Offsets are bytes since the session's start.
struct MessageGate: Sendable {
  static let groupMilliseconds: Int64 = 10

  private struct Held {
    var worker: WorkerID
    var message: WorkerMessage
    /// Starts a task that must not run twice: its line must survive a power loss.
    var mustNotRepeat: Bool
    var line: UInt64
    /// Sync to this offset first; nil until the lines are written.
    var barrier: UInt64?
  }

  private let durability: Durability
  private var held: [Held] = []
  /// A pass: the next entry, the kept entries, and the workers whose commands wait.
  private var next = 0
  private var kept = 0
  private var waiting: [WorkerID] = []

  private(set) var written: UInt64 = 0
  private var synced: UInt64 = 0
  private var requested: UInt64?
  private var due: Instant?
  /// The files that a resume reads are synced.
  private var hasFirst: Bool
  /// Nothing waits any more.
  private var hasFailed = false

  init(durability: Durability) {
    self.durability = durability
    hasFirst = durability == .none
  }

  // MARK: - The journal

  mutating func wrote(upTo end: UInt64, at now: Instant) {
    guard end > written else { return }
    endPass()
    written = end
    switch durability {
    case .none: break
    case .group:
      if due == nil { due = now.advanced(byMilliseconds: Self.groupMilliseconds) }
    case .each: due = now
    }
  }

  /// Nil while another sync is in progress.
  @inline(__always)
  mutating func takeRequest(at now: Instant) -> (upTo: UInt64, SyncKind)? {
    guard requested == nil, !hasFailed else { return nil }
    if !hasFirst, written > 0 { return (request(), .first) }
    guard let moment = due, moment <= now else { return nil }
    return (request(), .grouped)
  }

  mutating func takeLastRequest() -> UInt64? {
    durability == .none || hasFailed || synced >= written ? nil : request()
  }

  private mutating func request() -> UInt64 {
    due = nil
    requested = written
    return written
  }

  /// Lines up to here may be reported as journaled.
  var told: UInt64 { durability == .each ? synced : written }

  var isSyncing: Bool { requested != nil }

  mutating func completed(upTo end: UInt64) {
    // Commands that this pass skipped may be free now.
    endPass()
    synced = max(synced, end)
    requested = nil
    hasFirst = true
    if synced >= written { due = nil }
  }

  mutating func fail() {
    endPass()
    hasFailed = true
    requested = nil
    due = nil
  }

  var nextWake: Instant? { requested == nil ? due : nil }

  // MARK: - Worker commands

  var isEmpty: Bool { held.isEmpty }

  mutating func hold(
    _ message: WorkerMessage, for worker: WorkerID, line: UInt64, mustNotRepeat: Bool
  ) {
    held.append(Held(worker: worker, message: message, mustNotRepeat: mustNotRepeat, line: line))
  }

  @inline(__always)
  mutating func release(at now: Instant) -> (WorkerID, WorkerMessage)? {
    held.isEmpty ? nil : releaseNext(at: now)
  }

  private mutating func releaseNext(at now: Instant) -> (WorkerID, WorkerMessage)? {
    while next < held.count {
      let place = next
      next += 1
      if mayGo(place, at: now) { return (held[place].worker, held[place].message) }
      waiting.append(held[place].worker)
      if place != kept { held[kept] = held[place] }
      kept += 1
    }
    endPass()
    return nil
  }

  private mutating func endPass() {
    if next == 0 { return }
    held.removeSubrange(kept..<next)
    next = 0
    kept = 0
    waiting.removeAll(keepingCapacity: true)
  }

  private mutating func mayGo(_ place: Int, at now: Instant) -> Bool {
    // A ping depends on no line.
    if case .pulse = held[place].message { return true }
    if hasFailed { return true }
    guard hasFirst, held[place].line <= written,
      waiting.isEmpty || !waiting.contains(held[place].worker)
    else { return false }
    let barrier = held[place].barrier ?? barrier(mustNotRepeat: held[place].mustNotRepeat, at: now)
    held[place].barrier = barrier
    return barrier <= synced
  }

  /// Returns the offset to sync first; 0 for none.
  private mutating func barrier(mustNotRepeat: Bool, at now: Instant) -> UInt64 {
    switch durability {
    case .none: return 0
    case .each: return written
    case .group:
      guard mustNotRepeat else { return 0 }
      due = now
      return written
    }
  }

  mutating func removeMessages() {
    endPass()
    held.removeAll()
  }

  /// Removes starts of attempts, last first: a failed journal cannot record them.
  mutating func retractStarts() -> [(WorkerID, TaskID, attempt: Int32)] {
    endPass()
    var starts: [(WorkerID, TaskID, attempt: Int32)] = []
    for entry in held.reversed() {
      if let (task, attempt) = entry.message.start { starts.append((entry.worker, task, attempt)) }
    }
    held.removeAll { $0.message.start != nil }
    return starts
  }
}
