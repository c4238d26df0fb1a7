/// What there is to know of an order (`OrderVerb.row`): the lines of journal and control.sock, its command, the
/// run model and the views are made of this. What it does to a live run says `OrderVerb.effect`.
package struct OrderRow: Sendable {
  package enum Scope: Sendable {
    case run, tasks
    /// With tasks those, without the whole run.
    case either
  }

  /// What becomes of tasks that it names and that do not run, by its line in the journal.
  package enum Effect: Sendable { case none, cancels, skips, suspends, proceeds, retries }

  /// For how long it holds, and is told of.
  package enum Standing: Sendable { case none, drive, run }

  /// What it makes of a task that has not begun.
  package struct Phrase: Sendable {
    /// Before the one who asked, as in `held by opflow suspend (pid 12)`.
    package let short: @Sendable (CarriedValue) -> String
    /// The same as a sentence: `it is held`.
    package let sentence: @Sendable (CarriedValue) -> String
  }

  package let about: Scope
  package var carries = OrderValue.Kind.nothing
  /// It answers what the run asks people: none of its own tasks may.
  package var isAnswer = false
  package var effect = Effect.none
  package var standing = Standing.none
  /// What of earlier orders about the same tasks, or about the run, holds no more.
  package var undoes: [OrderVerb] = []
  /// As long as it stands, the run does not start tasks, or the tasks that it names stand still; `continue` ends
  /// that.
  package var holdsBack = false
  /// About the whole run it ends that: what holds back does not hold against it.
  package var stopsRun = false
  /// What it is called where it is about the whole run; nil for its word.
  package var ofRun: String?
  package var phrase: Phrase?
  /// What was done, in the past tense, for who asked.
  package let done: @Sendable (ObeyedOrder) -> String
}

/// An order that was obeyed, as it is told to who asked.
package struct ObeyedOrder {
  let isOfRun: Bool
  /// How many tasks it holds for, and how they were named.
  let count: Int
  let words: [String]
  let carried: CarriedValue
  /// What it carries, as it was typed.
  let amount: String
  /// The command line that continues the run.
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

/// The command line by which a person asks for something, from its verb and the tasks, as that person can
/// type it where it is shown.
package typealias OrderLineText = @Sendable (OrderVerb, [String]) -> String
