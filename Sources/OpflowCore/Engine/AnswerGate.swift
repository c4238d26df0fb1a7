/// Holds answers to orders back until the journal has the lines that they speak of. They come out in the
/// order in which they came in.
struct AnswerGate: Sendable {
  private struct Held {
    var client: ClientID
    var order: OrderID
    var answer: OrderAnswer
    /// Where the lines end that it speaks of.
    var line: UInt64
  }

  private var held: [Held] = []
  /// The journal takes nothing any more.
  private var hasFailed = false

  /// - Parameter line: where the lines end that the answer speaks of; of a refusal, those before it.
  mutating func append(
    _ client: ClientID, _ order: OrderID, _ answer: OrderAnswer, line: UInt64
  ) {
    let entry = Held(client: client, order: order, answer: answer, line: line)
    held.append(hasFailed ? Self.untold(entry) : entry)
  }

  /// The next answer, where its lines are in the journal.
  @inline(__always)
  mutating func release(upTo place: UInt64) -> EngineStep? {
    guard let first = held.first, first.line <= place else { return nil }
    held.removeFirst()
    return .answer(first.client, first.order, first.answer)
  }

  /// The journal takes nothing any more: what it does not tell of was not done, for a resume.
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
