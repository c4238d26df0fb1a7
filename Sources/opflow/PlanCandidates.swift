internal import OpflowBase
import OpflowCommandLine
internal import OpflowPlan

enum PlanCandidates {
  /// Matrix tasks and tags are listed once their prefix is typed.
  static func tasks(_ plan: Plan, stem: String) -> [CompletionCandidate] {
    if stem.hasPrefix("tag:") { return tags(plan) }
    var candidates: [CompletionCandidate] = []
    var next = 0
    while next < plan.taskCount, candidates.count <= most {
      let task = TaskID(next)
      guard let family = plan.family(of: task) else {
        let name = plan.nameString(task)
        if name.hasPrefix(stem) || plan.taskCount <= most {
          candidates.append(CompletionCandidate(name, description(of: task, plan)))
        }
        next += 1
        continue
      }
      let name = plan.familyName(family)
      let legs = plan.legs(family)
      if name.hasPrefix(stem) || plan.taskCount <= most {
        let count = legs.count == 1 ? "1 leg" : "\(legs.count) legs"
        let text = description(of: task, plan)
        candidates.append(
          CompletionCandidate(name, text.isEmpty ? count : "\(text) (\(count))"))
      }
      if stem.hasPrefix(name) { candidates += self.legs(legs, plan, stem) }
      next = legs.upperBound
    }
    if "tag:".hasPrefix(stem), !tags(plan).isEmpty {
      candidates.append(CompletionCandidate("tag:", "tasks with a tag", isOpen: true))
    }
    return candidates
  }

  private static func legs(_ legs: Range<Int>, _ plan: Plan, _ stem: String)
    -> [CompletionCandidate]
  {
    var candidates: [CompletionCandidate] = []
    for leg in legs where candidates.count <= most {
      let name = plan.nameString(TaskID(leg))
      if name.hasPrefix(stem) { candidates.append(CompletionCandidate(name)) }
    }
    return candidates
  }

  static func resources(_ plan: Plan) -> [CompletionCandidate] {
    plan.resources.map { CompletionCandidate(plan.string($0.name) + "=", isOpen: true) }
  }

  private static func tags(_ plan: Plan) -> [CompletionCandidate] {
    var names: Set<String> = []
    var seen: Set<ListIndex> = []
    for task in plan.tasks {
      let tags = plan.record(TaskID(task)).texts[.tags]
      guard seen.insert(tags).inserted else { continue }
      for tag in plan.list(tags) { names.insert(plan.string(tag)) }
    }
    return names.sorted().map { CompletionCandidate("tag:" + $0) }
  }

  private static func description(of task: TaskID, _ plan: Plan) -> String {
    CleanText.string(plan.description(of: task))
  }

  /// More than a user would read.
  private static let most = 2000
}
