internal import OpflowCore
internal import OpflowSystem
internal import Synchronization

/// What a queue is asked for, on its way to the reader.
enum QueueRequest: Sendable {
  case add(AddJob)
  case order(OrderJob)
  /// A closure has ended.
  case blockEnded(BlockEnd)
  /// Who waits for this has been cancelled.
  case giveUp(any PendingReply)
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
  private let reply: Reply<[Int32]>

  init(_ content: Content, _ reply: Reply<[Int32]>) {
    self.content = content
    self.reply = reply
  }

  func answer(_ result: Result<[Int32], QueueError>) { reply.give(result) }
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
  /// Nil where nobody waits.
  private let reply: Reply<Int>?

  init(
    _ verb: OrderVerb, _ about: About = .run, _ carried: CarriedValue = CarriedValue(),
    _ reply: Reply<Int>? = nil
  ) {
    self.verb = verb
    self.about = about
    self.carried = carried
    self.reply = reply
  }

  func answer(_ result: Result<Int, QueueError>) { reply?.give(result) }
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
  private let leaving: EventDescriptor

  init() throws(Errno) {
    event = try EventDescriptor()
    leaving = try EventDescriptor()
  }

  var rawDescriptor: Int32 { event.rawValue }
  /// Readable from the moment on at which the host needs the queue no more: for a reader that waits for something else
  /// before it takes requests.
  var leavingDescriptor: Int32 { leaving.rawValue }

  func put(_ request: QueueRequest) {
    if case .leave = request { try? leaving.signal() }
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
