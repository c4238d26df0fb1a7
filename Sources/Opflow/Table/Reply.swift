internal import Synchronization

protocol PendingReply: Sendable {
  /// Answers that the wait was cancelled, unless there is an answer.
  func giveUp()
}

/// The first answer counts.
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
          "the task that waited was cancelled; what it asked for may be done all the same")))
  }
}
