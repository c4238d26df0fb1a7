internal import OpflowPlan

/// Holds answers to requests, in order of arrival, until their journal lines are written.
struct AnswerGate: Sendable {
  private struct Held {
    var client: ClientID
    var order: OrderID
    var answer: OrderAnswer
    /// The journal offset to wait for.
    var line: UInt64
  }

  private var held: [Held] = []
  private var hasFailed = false

  mutating func append(
    _ client: ClientID, _ order: OrderID, _ answer: OrderAnswer, line: UInt64
  ) {
    let entry = Held(client: client, order: order, answer: answer, line: line)
    held.append(hasFailed ? Self.untold(entry) : entry)
  }

  @inline(__always)
  mutating func release(upTo place: UInt64) -> EngineStep? {
    guard let first = held.first, first.line <= place else { return nil }
    held.removeFirst()
    return .answer(first.client, first.order, first.answer)
  }

  /// Refuses all answers beyond `place`, since a resume will not know those requests.
  mutating func fail(beyond place: UInt64) {
    hasFailed = true
    for index in held.indices where held[index].line > place {
      held[index] = Self.untold(held[index])
    }
  }

  private static func untold(_ entry: Held) -> Held {
    var entry = entry
    entry.line = 0
    if case .done = entry.answer {
      entry.answer = .refused(what: "the journal cannot be written, and the run ends")
    }
    return entry
  }
}
