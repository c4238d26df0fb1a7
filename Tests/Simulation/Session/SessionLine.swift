import OpflowJournal
import OpflowPlan

/// A transition from the scheduler, with its time.
struct SessionLine {
  var transition: Transition
  var at: Instant
  /// The line of a request implies it; it has no line of its own.
  var isRequested: Bool
}

extension Transition {
  /// Formats the line for the log of a replayed seed.
  func brief(_ plan: Plan) -> String {
    let name = task.isNone ? "run" : plan.nameString(task)
    var why = why.map { ", \($0.word)" } ?? ""
    if case .skip(.upstream(let need)) = event, !need.isNone { why += " \(plan.nameString(need))" }
    return "\(event.kind.word) \(name) \(attempt) \(outcome.status)\(why)"
  }
}
