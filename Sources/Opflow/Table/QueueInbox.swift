internal import OpflowCore
internal import OpflowSystem
internal import Synchronization

/// What a queue is asked for, on its way to the reader.
enum QueueRequest: Sendable {
  case add(AddJob)
  case order(OrderJob)
  /// A closure has ended.
  case blockEnded(BlockEnd)
  /// The host needs the queue no more.
  case leave
}

/// Tasks that are to join the run.
final class AddJob: Sendable {
  enum Content: Sendable {
    case tasks([NewTask])
    case manifest(path: String)
  }

  let content: Content
  /// Of the tasks' places, in their order; of a manifest's in any.
  private let answered: @Sendable (Result<[Int32], QueueError>) -> Void

  init(_ content: Content, _ answered: @escaping @Sendable (Result<[Int32], QueueError>) -> Void) {
    self.content = content
    self.answered = answered
  }

  func answer(_ result: Result<[Int32], QueueError>) { answered(result) }
}

/// Something that is asked of the run.
final class OrderJob: Sendable {
  enum About: Sendable {
    case run
    case task(Int32)
    /// All that it applies to.
    case all
  }

  let verb: OrderVerb
  let about: About
  let carried: CarriedValue
  private let answered: @Sendable (Result<Int, QueueError>) -> Void

  init(
    _ verb: OrderVerb, _ about: About = .run, _ carried: CarriedValue = CarriedValue(),
    _ answered: @escaping @Sendable (Result<Int, QueueError>) -> Void
  ) {
    self.verb = verb
    self.about = about
    self.carried = carried
    self.answered = answered
  }

  func answer(_ result: Result<Int, QueueError>) { answered(result) }
}

/// A closure that was run has ended.
struct BlockEnd: Sendable {
  let place: Int32
  let attempt: Int32
  /// Which connection it was ordered on.
  let generation: Int
  /// What it threw, in words; nil where it returned.
  let error: String?
  let took: Duration
}

/// Requests, from any thread to the reader.
final class QueueInbox: Sendable {
  private let requests = Mutex<[QueueRequest]>([])
  private let event: EventDescriptor

  init() throws(Errno) { event = try EventDescriptor() }

  var rawDescriptor: Int32 { event.rawValue }

  func put(_ request: QueueRequest) {
    let isFirst = requests.withLock { requests in
      requests.append(request)
      return requests.count == 1
    }
    // The counter is far from full, and that is all that such a write can fail of.
    if isFirst { try? event.signal() }
  }

  func take() -> [QueueRequest] {
    _ = try? event.take()
    return requests.withLock { requests in
      defer { requests = [] }
      return requests
    }
  }
}
