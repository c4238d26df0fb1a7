/// What tasks of a run added to it in earlier drives and are to add anew, as far as a resume can tell: the legs of
/// those that make legs, and all that others gave to `opflow add`.
///
/// One that runs again says once more what is to be added, as tasks that the plan does not have yet, so that those
/// of before must not be there: what it adds otherwise now holds as it is now, and what it does not add any more is gone.
/// Nothing is lost by that. What a task added runs again where that one does, unless its files say else, and these say
/// the same of a task that comes anew.
///
/// What is told only later, by the files of what it needs, is for `Foresight`; where that cannot tell either, legs are
/// made anew if each that has a success is one whose files are looked at, and all else stays. Then a task that comes to
/// run and adds something else fails.
package struct AdditionsToRemake {
  /// By name, the tasks that are to make their legs anew.
  package private(set) var makers: Set<String> = []
  /// The orders that added what is to be added anew.
  package private(set) var orders: Set<String> = []
  /// By name, the tasks that they added.
  package private(set) var names: Set<String> = []

  package var isEmpty: Bool { makers.isEmpty && orders.isEmpty }

  /// What is known of a task without running anything.
  package enum Foresight {
    case starts, staysDone, unknown
  }

  /// Tasks that a task added, as a plan has them.
  package struct Addition {
    let order: String
    let adder: TaskID
    let tasks: Range<Int>

    package init(order: String, adder: TaskID, tasks: Range<Int>) {
      self.order = order
      self.adder = adder
      self.tasks = tasks
    }
  }

  /// - Parameters:
  ///   - additions: those that tasks gave to `opflow add`, in their order.
  ///   - foresee: is asked about tasks of which the decision leaves open whether they run.
  package init(
    of plan: Plan, _ additions: [Addition], _ history: RunModel, _ decision: ResumeDecision,
    foresee: (Set<TaskID>) -> (TaskID) -> Foresight
  ) {
    let groups = plan.hasMadeLegs ? Self.groups(of: plan) : []
    let open = Set(groups.joined()).union(additions.map(\.adder)).filter {
      decision.fate(of: $0) == .unknown
    }
    let foresight = open.isEmpty ? { _ in .unknown } : foresee(open)
    let fate = { (task: TaskID) -> Foresight in
      let known = decision.fate(of: task)
      return known == .unknown ? foresight(task) : known
    }
    for group in groups { take(group, plan, history, decision, fate) }
    take(additions, plan, decision, fate)
  }

  private mutating func take(
    _ makers: [TaskID], _ plan: Plan, _ history: RunModel, _ decision: ResumeDecision,
    _ fate: (TaskID) -> Foresight
  ) {
    // What was cut short and is to fail fails, until somebody asks for it.
    let fails = makers.contains {
      plan.legs(madeBy: $0)?.contains { decision[TaskID($0)] == .fail } == true
    }
    if fails { return }
    var uncertain: Set<String> = []
    var mayRemake = true
    for maker in makers {
      let name = plan.nameString(maker)
      switch fate(maker) {
      case .starts: self.makers.insert(name)
      case .staysDone: break
      case .unknown:
        uncertain.insert(name)
        let keepsMore = plan.legs(madeBy: maker)?.contains {
          !plan.isChecked(TaskID($0)) && history.state(TaskID($0)).isSuccess
        }
        if keepsMore == true { mayRemake = false }
      }
    }
    if mayRemake { self.makers.formUnion(uncertain) }
  }

  private mutating func take(
    _ additions: [Addition], _ plan: Plan, _ decision: ResumeDecision,
    _ fate: (TaskID) -> Foresight
  ) {
    // What was cut short and is to fail keeps all that came with it.
    let failing = additions.filter { $0.tasks.contains { decision[TaskID($0)] == .fail } }
    let kept = Set(failing.map(\.adder))
    var again = TaskSet(taskCount: plan.taskCount)
    for adder in Set(additions.map(\.adder)).subtracting(kept) where fate(adder) == .starts {
      again.insert(adder)
    }
    // Behind what comes anew stands what that added itself.
    for addition in additions where again.contains(addition.adder) {
      orders.insert(addition.order)
      for number in addition.tasks {
        again.insert(TaskID(number))
        names.insert(plan.nameString(TaskID(number)))
      }
    }
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

extension ResumeDecision {
  /// Unknown where files that are looked at later say if the task runs.
  fileprivate func fate(of task: TaskID) -> AdditionsToRemake.Foresight {
    switch self[task] {
    case .run, .fail: .starts
    case .later, .check: .unknown
    case .outside, .leave, .keep, .stay: .staysDone
    }
  }
}
