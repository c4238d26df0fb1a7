internal import OpflowPlan
internal import OpflowSystem
internal import Synchronization

/// Shared by the client's threads and the reader.
final class QueueBoard: Sendable {
  let inbox: QueueInbox
  let table = Mutex(TaskTable())
  /// A forked child has no reader thread.
  let process = ProcessID.own

  init() throws(Errno) { inbox = try QueueInbox() }

  func setRun(_ id: String) { table.withLock { $0.runID = id } }

  var endError: QueueError {
    table.withLock { $0.end } ?? QueueError(.ended, "the run of the queue has ended")
  }

  // MARK: - From the reader

  func tell(_ changes: [RawChange], _ finished: [Int32], isPaused: Bool) {
    var calls: [(@Sendable (TaskOutcome) -> Void, TaskOutcome)] = []
    var ofTasks: [(Subscription, [RawChange])] = []
    let (all, answered) = table.withLock { table in
      table.isPaused = isPaused
      for place in finished {
        for body in table.takeClosures(of: place) { calls.append((body, table[place].outcome)) }
      }
      if !table.subscriptionsOfTasks.isEmpty {
        for change in changes {
          for subscription in table.subscriptionsOfTasks[change.place] ?? [] {
            ofTasks.append((subscription, [change]))
          }
        }
      }
      return (table.subscriptions, table.takeAnswered(finished))
    }
    for (continuation, answer) in answered { continuation.resume(returning: answer) }
    if !changes.isEmpty { for subscription in all { subscription.add(changes, ends: false) } }
    for (subscription, changes) in ofTasks {
      subscription.add(changes, ends: changes.contains { $0.state.isFinished })
    }
    for (body, outcome) in calls { Task { body(outcome) } }
  }

  func finish(_ error: QueueError, isComplete: Bool = false) {
    let (subscriptions, answered) = table.withLock { table in
      table.finish(error, isComplete: isComplete)
      return (
        table.subscriptions + table.subscriptionsOfTasks.values.joined(), table.takeAnswered([])
      )
    }
    for (continuation, answer) in answered { continuation.resume(returning: answer) }
    for subscription in subscriptions { subscription.add([], ends: true) }
  }

  // MARK: - From the client

  func subscribe(_ place: Int32?, limit: Int) -> Subscription {
    let subscription = Subscription(of: place, limit: limit)
    table.withLock { table in
      var first: [RawChange] = []
      var ends = table.end != nil
      if let place {
        let entry = table[place]
        first = [
          RawChange(
            place: place, attempt: entry.attempts, state: entry.state, progress: entry.progress)
        ]
        ends = ends || entry.state.isFinished
      }
      subscription.add(first, ends: ends)
      if !ends { table.subscribe(subscription) }
    }
    return subscription
  }

  func unsubscribe(_ subscription: Subscription) {
    table.withLock { $0.unsubscribe(subscription) }
  }

  func wait(for awaited: TaskTable.Awaited) async throws(QueueError) {
    try expectOwnProcess()
    let number = Mutex<(number: UInt64?, isCancelled: Bool)>((nil, false))
    let answer = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isCancelled = number.withLock { state in
          if state.isCancelled { return true }
          state.number = table.withLock { $0.wait(for: awaited, continuation) }
          return false
        }
        if isCancelled { continuation.resume(returning: .failure(Self.waitCancelled)) }
      }
    } onCancel: {
      let waiting = number.withLock { state in
        state.isCancelled = true
        return state.number
      }
      guard let waiting else { return }
      let continuation = table.withLock { $0.giveUp(waiting) }
      continuation?.resume(returning: .failure(Self.waitCancelled))
    }
    try answer.get()
  }

  private static let waitCancelled = QueueError(
    .waitCancelled, "the waiting task was cancelled; the queue continues")

  func whenFinished(_ place: Int32, _ body: @escaping @Sendable (TaskOutcome) -> Void) {
    let outcome = table.withLock { table in
      table.whenFinished(place, body) ? nil : table[place].outcome
    }
    if let outcome { Task { body(outcome) } }
  }

  func isReady(_ place: Int32) -> Bool {
    table.withLock { table in
      let entry = table[place]
      guard entry.state == .pending else { return false }
      return entry.needs.allSatisfy { need in
        let needed = table[need.place]
        return needed.exactState.meets(need.condition, skippedUpstream: needed.isSkippedUpstream)
      }
    }
  }
}

enum QueueRequest: Sendable {
  case add(AddJob)
  case request(RequestJob)
  case externalTaskEnded(ExternalTaskEnd)
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
  /// Tasks in the order of `tasks`; those of a manifest in any order.
  private let reply: Reply<[Int32]>

  init(_ content: Content, _ reply: Reply<[Int32]>) {
    self.content = content
    self.reply = reply
  }

  func answer(_ result: Result<[Int32], QueueError>) { reply.give(result) }
}

final class RequestJob: Sendable {
  enum About: Sendable {
    case run
    case task(Int32)
    case all
  }

  let verb: ControlAction
  let about: About
  let carried: CarriedValue
  private let reply: Reply<Int>?

  init(
    _ verb: ControlAction, _ about: About = .run, _ carried: CarriedValue = CarriedValue(),
    _ reply: Reply<Int>? = nil
  ) {
    self.verb = verb
    self.about = about
    self.carried = carried
    self.reply = reply
  }

  func answer(_ result: Result<Int, QueueError>) { reply?.give(result) }
}

struct ExternalTaskEnd: Sendable {
  let place: Int32
  let attempt: Int32
  /// The connection that started the closure.
  let generation: Int
  /// Nil if the closure returned.
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

protocol PendingReply: Sendable {
  func giveUp()
}

/// Only the first answer is used.
final class Reply<Value: Sendable>: PendingReply {
  typealias Answer = Result<Value, QueueError>

  private enum State {
    case unasked
    case waiting(CheckedContinuation<Answer, Never>)
    case answered(Answer)
  }

  private let state = Mutex(State.unasked)

  func wait(_ continuation: CheckedContinuation<Answer, Never>) {
    let early = state.withLock { state -> Answer? in
      if case .answered(let answer) = state { return answer }
      state = .waiting(continuation)
      return nil
    }
    if let early { continuation.resume(returning: early) }
  }

  func give(_ answer: Answer) {
    let continuation = state.withLock { state -> CheckedContinuation<Answer, Never>? in
      switch state {
      case .answered: return nil
      case .unasked:
        state = .answered(answer)
        return nil
      case .waiting(let continuation):
        state = .answered(answer)
        return continuation
      }
    }
    continuation?.resume(returning: answer)
  }

  func giveUp() {
    give(
      .failure(
        QueueError(
          .waitCancelled,
          "the waiting task was cancelled; opflow may still carry out its request")))
  }
}
