internal import Synchronization

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
