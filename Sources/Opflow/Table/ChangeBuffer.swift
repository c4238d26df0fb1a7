internal import Synchronization

struct RawChange: Sendable {
  var place: Int32
  var attempt: Int32
  var state: TaskStatus
  /// Dropped changes before this one.
  var skipped: Int32 = 0
  /// Since the epoch; 0 if unknown.
  var milliseconds: Int64 = 0
  var progress: TaskProgress?
}

/// At most `limit` changes, or one per task if that is more. When full, it keeps only the newest
/// change of each task, with the number of dropped ones.
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
      // Lost progress is not a lost state.
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

/// The queue's thread adds changes; the iterating Swift task takes them.
final class Subscription: Sendable {
  /// Nil for all tasks.
  let place: Int32?
  private let content: Mutex<Content>

  private struct Content {
    var buffer: ChangeBuffer
    var hasEnded = false
    var waiter: CheckedContinuation<RawChange?, Never>?
  }

  init(of place: Int32?, limit: Int) {
    self.place = place
    content = Mutex(Content(buffer: ChangeBuffer(limit: limit)))
  }

  func add(_ changes: [RawChange], ends: Bool) {
    let (waiter, first) = content.withLock {
      content -> (CheckedContinuation<RawChange?, Never>?, RawChange?) in
      if content.hasEnded { return (nil, nil) }
      for change in changes { content.buffer.append(change) }
      content.hasEnded = ends
      guard let waiter = content.waiter, ends || !content.buffer.isEmpty else { return (nil, nil) }
      content.waiter = nil
      return (waiter, content.buffer.next())
    }
    waiter?.resume(returning: first)
  }

  /// Nil at the end, or if the waiting Swift task was cancelled.
  func next() async -> RawChange? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let found = content.withLock { content -> RawChange?? in
          if let change = content.buffer.next() { return .some(change) }
          // Only one iterator can wait.
          if content.hasEnded || Task.isCancelled || content.waiter != nil { return .some(nil) }
          content.waiter = continuation
          return nil
        }
        if let found { continuation.resume(returning: found) }
      }
    } onCancel: {
      let waiter = content.withLock { content in
        defer { content.waiter = nil }
        return content.waiter
      }
      waiter?.resume(returning: nil)
    }
  }
}
