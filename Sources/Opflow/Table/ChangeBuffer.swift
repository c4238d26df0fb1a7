struct RawChange: Sendable {
  var place: Int32
  var attempt: Int32
  var state: TaskStatus
  /// Dropped before this one.
  var skipped: Int32 = 0
  /// Since the epoch; 0 if unknown.
  var milliseconds: Int64 = 0
  var progress: TaskProgress?
}

/// The changes that a reader has not taken, in order: at most `limit`, or one per task if that is
/// more. When full, it keeps only the newest change of each task, with the number of dropped ones.
struct ChangeBuffer {
  private let limit: Int
  private var changes: [RawChange?] = []
  private var start = 0
  private var count = 0
  /// Nil unless only the newest change of each task is kept.
  private var newest: [Int32: Int]?
  private let keepsNewestOnly: Bool

  /// 1 keeps the newest state only.
  init(limit: Int) {
    // Bounded for the arithmetic below.
    self.limit = min(max(1, limit), Int(Int32.max))
    keepsNewestOnly = limit <= 1
    newest = keepsNewestOnly ? [:] : nil
  }

  var isEmpty: Bool { count == 0 }

  mutating func append(_ change: RawChange) {
    var change = change
    if newest == nil, count >= limit { thinOut() }
    if let place = newest?[change.place], let older = changes[place] {
      // Lost progress does not count as a lost state.
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
