internal import Synchronization

/// Somebody who reads changes: of one task, or of all.
///
/// The reader of the journal adds, and never waits; the one who iterates takes.
final class Subscription: Sendable {
  /// Of one task; nil for all.
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

  /// - Parameter ends: nothing comes after these.
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

  /// The next change; nil where none comes any more, and where the Swift task that waits was cancelled.
  func next() async -> RawChange? {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let found = content.withLock { content -> RawChange?? in
          if let change = content.buffer.next() { return .some(change) }
          // Two that iterate over the same take turns badly; the older one is let go.
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
