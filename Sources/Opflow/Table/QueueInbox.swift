internal import OpflowPlan
internal import OpflowSystem
internal import Synchronization

enum QueueRequest: Sendable {
  case add(AddJob)
  case order(OrderJob)
  case blockEnded(BlockEnd)
  /// The waiting Swift task was cancelled.
  case giveUp(any PendingReply)
  case leave
}

final class AddJob: Sendable {
  enum Content: Sendable {
    case tasks([NewTask])
    case manifest(path: String)
  }

  let content: Content
  /// In the order of tasks; of a manifest in any order.
  private let reply: Reply<[Int32]>

  init(_ content: Content, _ reply: Reply<[Int32]>) {
    self.content = content
    self.reply = reply
  }

  func answer(_ result: Result<[Int32], QueueError>) { reply.give(result) }
}

final class OrderJob: Sendable {
  enum About: Sendable {
    case run
    case task(Int32)
    /// Those that it applies to.
    case all
  }

  let verb: OrderVerb
  let about: About
  let carried: CarriedValue
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

struct BlockEnd: Sendable {
  let place: Int32
  let attempt: Int32
  /// The connection that started it.
  let generation: Int
  /// Nil if it returned.
  let error: String?
  let took: Duration
}

final class QueueInbox: Sendable {
  private let requests = Mutex<[QueueRequest]>([])
  private let event: EventDescriptor
  private let leaving: EventDescriptor

  init() throws(Errno) {
    event = try EventDescriptor()
    leaving = try EventDescriptor()
  }

  var rawDescriptor: Int32 { event.rawValue }
  /// Readable when the client drops the queue, even if the reader takes no requests.
  var leavingDescriptor: Int32 { leaving.rawValue }

  func put(_ request: QueueRequest) {
    if case .leave = request { try? leaving.signal() }
    let isFirst = requests.withLock { requests in
      requests.append(request)
      return requests.count == 1
    }
    // Fails only at the counter's limit.
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
