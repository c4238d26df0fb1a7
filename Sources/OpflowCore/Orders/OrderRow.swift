/// The properties of a verb, from which journal and socket lines, the command, the run model and
/// the views are derived. Its effect on a live run is in `OrderVerb.effect`.
package struct OrderRow: Sendable {
  package enum Scope: Sendable {
    case run, tasks
    /// The named tasks, or the whole run.
    case either
  }

  /// The effect on named tasks that do not run, by the journal.
  package enum Effect: Sendable { case none, cancels, skips, suspends, proceeds, retries }

  /// The time for which it holds and is shown.
  package enum Standing: Sendable { case none, drive, run }

  /// The effect on a task that has not begun, in words.
  package struct Phrase: Sendable {
    /// The words before the requester, as in `held by opflow suspend (pid 12)`.
    package let short: @Sendable (CarriedValue) -> String
    /// A sentence, as `it is held`.
    package let sentence: @Sendable (CarriedValue) -> String
  }

  package let about: Scope
  package var carries = OrderValue.Kind.nothing
  /// Whether it answers approvals; the run's own tasks may not.
  package var isAnswer = false
  package var effect = Effect.none
  package var standing = Standing.none
  /// The earlier requests, about the same tasks or the run, that it ends.
  package var undoes: [OrderVerb] = []
  /// Whether it holds starts back, or suspends the named tasks, until `continue`.
  package var holdsBack = false
  /// Whether it stops the run, even a paused one, if it names no tasks.
  package var stopsRun = false
  /// The name for the whole run, if not the verb.
  package var ofRun: String?
  package var phrase: Phrase?
  /// The report, in the past tense.
  package let done: @Sendable (ObeyedOrder) -> String
}

/// An applied request, as reported to the requester.
package struct ObeyedOrder {
  let isOfRun: Bool
  /// The number of tasks, and their names as typed.
  let count: Int
  let words: [String]
  let carried: CarriedValue
  let amount: String
  /// Returns the command line that resumes the run.
  let resumeCommand: () -> String
  let orderCommand: OrderLineText

  package init(
    isOfRun: Bool, count: Int, words: [String], carried: CarriedValue, amount: String,
    resumeCommand: @escaping () -> String, orderCommand: @escaping OrderLineText
  ) {
    self.isOfRun = isOfRun
    self.count = count
    self.words = words
    self.carried = carried
    self.amount = amount
    self.resumeCommand = resumeCommand
    self.orderCommand = orderCommand
  }

  var tasks: String { "\(count) task\(count == 1 ? "" : "s")" }
}

/// Returns the command line of a request, as the user can type it.
package typealias OrderLineText = @Sendable (OrderVerb, [String]) -> String
