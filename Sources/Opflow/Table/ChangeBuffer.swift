/// One change of a task, without what its reader is given in its place.
struct RawChange: Sendable {
  /// The task's place in the table.
  var place: Int32
  var attempt: Int32
  var state: TaskStatus
  /// Changes of this task before this one that the reader was too slow for.
  var skipped: Int32 = 0
  /// Since the epoch; 0 where the journal's line had none.
  var milliseconds: Int64 = 0
  var progress: TaskProgress?
}

/// Changes that a reader has not taken yet, in their order.
///
/// There are at most `limit` of them, or as many as tasks where those are more: when it is full, what came before is
/// thinned out to the newest of each task, which then tells how many went; from then on a further change of a task that
/// waits in it takes the place of the older one.
struct ChangeBuffer {
  private let limit: Int
  private var changes: [RawChange?] = []
  private var start = 0
  private var count = 0
  /// Where the newest change of a task stands, while only those are kept; nil while all are.
  private var newest: [Int32: Int]?
  private let keepsNewestOnly: Bool

  /// - Parameter limit: 1 for the newest state of each task alone.
  init(limit: Int) {
    // More never wait, and it is reckoned with.
    self.limit = min(max(1, limit), Int(Int32.max))
    keepsNewestOnly = limit <= 1
    newest = keepsNewestOnly ? [:] : nil
  }

  var isEmpty: Bool { count == 0 }

  mutating func append(_ change: RawChange) {
    var change = change
    if newest == nil, count >= limit { thinOut() }
    if let place = newest?[change.place], let older = changes[place] {
      // That it came further is no state of its own.
      change.skipped = older.skipped &+ (change.progress == nil || older.progress == nil ? 1 : 0)
      changes[place] = nil
      count -= 1
    }
    newest?[change.place] = changes.count
    changes.append(change)
    count += 1
    if changes.count > 2 * (count + limit) { compact() }
  }

  mutating func next() -> RawChange? {
    while start < changes.count {
      let change = changes[start]
      changes[start] = nil
      start += 1
      guard let change else { continue }
      count -= 1
      newest?[change.place] = nil
      if count == 0 { forget() }
      return change
    }
    return nil
  }

  /// The reader has caught up: from now on every change counts again.
  private mutating func forget() {
    changes.removeAll(keepingCapacity: changes.capacity <= 1 << 16)
    start = 0
    newest = keepsNewestOnly ? [:] : nil
  }

  private mutating func thinOut() {
    let all = changes[start...]
    changes = []
    start = 0
    count = 0
    newest = [:]
    for case let change? in all { append(change) }
  }

  private mutating func compact() {
    let rest = changes[start...].compactMap { $0 }
    changes = rest
    start = 0
    guard newest != nil else { return }
    newest = [:]
    for (place, change) in rest.enumerated() { newest?[change.place] = place }
  }
}
