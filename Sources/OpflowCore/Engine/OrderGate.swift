/// Holds orders back until the lines that they follow from are written, and synced where that is
/// promised; decides when the journal is to be synced. Lets the orders for each worker go in the order
/// in which they came. Places in the journal are counted in bytes from where the drive began.
struct OrderGate: Sendable {
  /// From a write to the start of the sync that covers it, at most.
  static let groupMilliseconds: Int64 = 10

  private struct Held {
    var worker: WorkerID
    var order: WorkerOrder
    /// It starts a task that no resume may start again, so its line must outlive a power loss.
    var mustNotRepeat: Bool
    /// Where the lines end that it follows from.
    var line: UInt64
    /// Where the journal must be synced to; nil until its lines are written.
    var barrier: UInt64?
  }

  private let durability: Durability
  private var held: [Held] = []
  /// Of a pass: the next order to look at, how many stay, and for which workers.
  private var next = 0
  private var kept = 0
  private var waiting: [WorkerID] = []

  private(set) var written: UInt64 = 0
  private var synced: UInt64 = 0
  /// What the sync under way covers.
  private var requested: UInt64?
  private var due: Instant?
  /// Whether what a resume looks for is on the disk.
  private var hasFirst: Bool
  /// The journal cannot be relied on: nothing is waited for any more.
  private var hasFailed = false

  init(durability: Durability) {
    self.durability = durability
    hasFirst = durability == .none
  }

  // MARK: - The journal

  /// Lines up to `end` reached the file.
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

  /// The sync to begin now; nil when none is due or one is under way.
  @inline(__always)
  mutating func takeRequest(at now: Instant) -> (upTo: UInt64, SyncKind)? {
    guard requested == nil, !hasFailed else { return nil }
    if !hasFirst, written > 0 { return (request(), .first) }
    guard let moment = due, moment <= now else { return nil }
    return (request(), .grouped)
  }

  /// The sync that covers all there is; nil when none is needed, or while one is under way.
  mutating func takeLastRequest() -> UInt64? {
    durability == .none || hasFailed || synced >= written ? nil : request()
  }

  private mutating func request() -> UInt64 {
    due = nil
    requested = written
    return written
  }

  /// Up to where somebody may be told that lines are in the journal.
  var told: UInt64 { durability == .each ? synced : written }

  var isSyncing: Bool { requested != nil }

  mutating func completed(upTo end: UInt64) {
    // What the pass under way left may go now.
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

  /// When `takeRequest` has something to give.
  var nextWake: Instant? { requested == nil ? due : nil }

  // MARK: - Orders

  var isEmpty: Bool { held.isEmpty }

  /// - Parameter line: where the lines end that the order follows from.
  mutating func hold(
    _ order: WorkerOrder, for worker: WorkerID, line: UInt64, mustNotRepeat: Bool
  ) {
    held.append(Held(worker: worker, order: order, mustNotRepeat: mustNotRepeat, line: line))
  }

  /// Takes out one order that may go; nil when none of the others may.
  @inline(__always)
  mutating func release(at now: Instant) -> (WorkerID, WorkerOrder)? {
    held.isEmpty ? nil : releaseNext(at: now)
  }

  private mutating func releaseNext(at now: Instant) -> (WorkerID, WorkerOrder)? {
    while next < held.count {
      let place = next
      next += 1
      if mayGo(place, at: now) { return (held[place].worker, held[place].order) }
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
    // No line stands behind it.
    if case .pulse = held[place].order { return true }
    if hasFailed { return true }
    guard hasFirst, held[place].line <= written,
      waiting.isEmpty || !waiting.contains(held[place].worker)
    else { return false }
    let barrier =
      held[place].barrier ?? barrier(mustNotRepeat: held[place].mustNotRepeat, at: now)
    held[place].barrier = barrier
    return barrier <= synced
  }

  /// Where the journal must be synced to before an order may go whose lines were just written; 0
  /// where nothing has to wait.
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

  mutating func removeOrders() {
    endPass()
    held.removeAll()
  }

  /// Takes back the orders that would start a try, the last one first: the journal cannot say that
  /// they were given.
  mutating func withdrawStarts() -> [(WorkerID, TaskID, attempt: Int32)] {
    endPass()
    var starts: [(WorkerID, TaskID, attempt: Int32)] = []
    for entry in held.reversed() {
      if let (task, attempt) = entry.order.start { starts.append((entry.worker, task, attempt)) }
    }
    held.removeAll { $0.order.start != nil }
    return starts
  }
}
