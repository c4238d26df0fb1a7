/// The properties of a verb, from which lines, commands, the run model and views are derived.
/// `OrderVerb.effect` has its effect on a live run.
package struct OrderRow: Sendable {
  package enum Scope: Sendable {
    case run, tasks
    /// The named tasks, or the whole run.
    case either
  }

  /// The effect on named tasks that do not run, by the journal.
  package enum Effect: Sendable { case none, cancels, skips, suspends, proceeds, retries }

  /// How long it holds and is shown.
  package enum Standing: Sendable { case none, drive, run }

  /// Words about a task that has not begun.
  package struct Phrase: Sendable {
    /// Before the requester: `held by opflow suspend (pid 12)`.
    package let short: @Sendable (CarriedValue) -> String
    /// `it is held`.
    package let sentence: @Sendable (CarriedValue) -> String
  }

  package let about: Scope
  package var carries = OrderValue.Kind.nothing
  /// To approvals; the run's own tasks may not give it.
  package var isAnswer = false
  package var effect = Effect.none
  package var standing = Standing.none
  /// Earlier requests about the same tasks or run that it ends.
  package var undoes: [OrderVerb] = []
  /// Holds starts back, or suspends the named tasks, until `continue`.
  package var holdsBack = false
  /// Even a paused run, if it names no tasks.
  package var stopsRun = false
  /// The name for the whole run, if not the verb.
  package var ofRun: String?
  package var phrase: Phrase?
  package let done: @Sendable (ObeyedOrder) -> String
}

/// An applied request, as reported to the requester.
package struct ObeyedOrder {
  let isOfRun: Bool
  let count: Int
  let words: [String]
  let carried: CarriedValue
  let amount: String
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

/// The command line of a request, as the user can type it.
package typealias OrderLineText = @Sendable (OrderVerb, [String]) -> String
