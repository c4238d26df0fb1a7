/// The tasks that make legs and are to make others than those of an earlier drive, as far as a resume can tell.
///
/// One that runs again makes its legs anew, as tasks that the plan does not have yet, so that those which it made before
/// must not be there. What is told only later, by the files of what it needs, is decided for the safe side: where each
/// leg that has a success is one whose files are looked at, nothing is lost by making all anew. Else the legs stay, and
/// a task that comes to run and makes others fails.
package struct LegsToRemake {
  package let tasks: Set<String>

  package init(of plan: Plan, _ history: RunModel, _ decision: ResumeDecision) {
    guard plan.hasMadeLegs else {
      tasks = []
      return
    }
    var tasks: Set<String> = []
    for group in Self.groups(of: plan) {
      // What was cut short and is to fail fails, until somebody asks for it.
      let fails = group.contains {
        plan.legs(madeBy: $0)?.contains { decision[TaskID($0)] == .fail } == true
      }
      if fails { continue }
      var uncertain: Set<String> = []
      var mayRemake = true
      for maker in group {
        switch decision[maker] {
        case .run, .fail: tasks.insert(plan.nameString(maker))
        case .later, .check:
          uncertain.insert(plan.nameString(maker))
          let keepsMore = plan.legs(madeBy: maker)?.contains {
            !plan.isChecked(TaskID($0)) && history.state(TaskID($0)).isSuccess
          }
          if keepsMore == true { mayRemake = false }
        case .outside, .leave, .keep, .stay: break
        }
      }
      if mayRemake { tasks.formUnion(uncertain) }
    }
    self.tasks = tasks
  }

  /// The tasks that have made legs, with those together whose legs may need each other's.
  private static func groups(of plan: Plan) -> [[TaskID]] {
    let makers = plan.topologicalOrder.lazy.map { TaskID($0) }.filter {
      plan.legs(madeBy: $0) != nil
    }
    var groups: [[TaskID]] = []
    for maker in makers {
      let needs = Set(plan.needs(maker).map { TaskID(plan.needTargets[$0]) })
      let joined = groups.indices.filter { groups[$0].contains(where: needs.contains) }
      let group = joined.flatMap { groups[$0] } + [maker]
      for place in joined.reversed() { groups.remove(at: place) }
      groups.append(group)
    }
    return groups
  }
}
