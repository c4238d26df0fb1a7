import OpflowJournal
import OpflowPlan

/// A line that the scheduler had written, and when.
struct SessionLine {
  var transition: Transition
  var at: Instant
  /// A request says it, and no line of its own.
  var isRequested: Bool
}

extension Transition {
  /// For a person who replays a seed.
  func brief(_ plan: Plan) -> String {
    let name = task.isNone ? "run" : plan.nameString(task)
    var why = why.map { ", \($0.word)" } ?? ""
    if case .skip(.upstream(let need)) = event, !need.isNone { why += " \(plan.nameString(need))" }
    return "\(event.kind.word) \(name) \(attempt) \(outcome.status)\(why)"
  }
}
