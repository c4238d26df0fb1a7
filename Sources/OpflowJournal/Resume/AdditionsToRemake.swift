internal import OpflowBase
package import OpflowPlan

/// The dynamic tasks that must be added again: matrix tasks of generators that rerun, and tasks
/// that other tasks gave to `opflow add`.
///
/// A task that reruns adds new tasks, so the earlier ones must go first. Results are not lost:
/// added tasks rerun together with that task unless their files are up to date, which then holds
/// for new tasks too.
///
/// If only later checks of files decide, `Foresight` is asked. If the answer is unknown, matrix
/// tasks are generated again if each that succeeded is checked by its files. Other additions stay,
/// and a task that reruns and adds something else fails.
package struct AdditionsToRemake {
  /// Generators that must run again.
  package private(set) var makers: Set<String> = []
  package private(set) var requests: Set<String> = []
  package private(set) var names: Set<String> = []

  package var isEmpty: Bool { makers.isEmpty && requests.isEmpty }

  package enum Foresight {
    case starts, staysDone, unknown
  }

  package struct Addition {
    let request: String
    let generator: TaskID
    let tasks: Range<Int>

    package init(request: String, generator: TaskID, tasks: Range<Int>) {
      self.request = request
      self.generator = generator
      self.tasks = tasks
    }
  }

  /// `additions` are the `opflow add` requests of tasks, in order. `foresee` predicts tasks for
  /// which the decision is open.
  package init(
    of plan: Plan, _ additions: [Addition], _ history: RunModel, _ decision: ResumeDecision,
    foresee: (Set<TaskID>) -> (TaskID) -> Foresight
  ) {
    let groups = plan.hasMadeInstances ? Self.groups(of: plan) : []
    let open = Set(groups.joined()).union(additions.map(\.generator)).filter {
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
    // The task stays failed until the user requests it.
    let fails = makers.contains {
      plan.instances(madeBy: $0)?.contains { decision[TaskID($0)] == .fail } == true
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
        let keepsMore = plan.instances(madeBy: maker)?.contains {
          !plan.isChecked(TaskID($0)) && history.state(TaskID($0)).isSuccess
        }
        if keepsMore == true { mayRemake = false }
      }
    }
    if mayRemake { self.makers.formUnion(uncertain) }
  }

  private mutating func take(
    _ additions: [Addition], _ plan: Plan, _ decision: ResumeDecision, _ fate: (TaskID) -> Foresight
  ) {
    // Likewise: the tasks of its generator stay.
    let failing = additions.filter { $0.tasks.contains { decision[TaskID($0)] == .fail } }
    let kept = Set(failing.map(\.generator))
    var again = TaskSet(taskCount: plan.taskCount)
    for generator in Set(additions.map(\.generator)).subtracting(kept)
    where fate(generator) == .starts { again.insert(generator) }
    // Later requests can come from tasks that earlier ones added.
    for addition in additions where again.contains(addition.generator) {
      requests.insert(addition.request)
      for number in addition.tasks {
        again.insert(TaskID(number))
        names.insert(plan.nameString(TaskID(number)))
      }
    }
  }

  /// Grouped if matrix tasks may depend on each other.
  private static func groups(of plan: Plan) -> [[TaskID]] {
    let makers = plan.topologicalOrder.lazy.map { TaskID($0) }.filter {
      plan.instances(madeBy: $0) != nil
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
  fileprivate func fate(of task: TaskID) -> AdditionsToRemake.Foresight {
    switch self[task] {
    case .run, .fail: .starts
    case .later, .check: .unknown
    case .outside, .leave, .keep, .stay: .staysDone
    }
  }
}

/// Matrices whose tasks have new IDs because the axes changed, for one warning instead of many
/// removed and new tasks.
package struct RenamedMatrixGroups {
  package struct MatrixGroup: Equatable, Sendable {
    package var name: String
    package var old: [String]
    package var new: [String]
  }

  package let matrixGroups: [MatrixGroup]
  private let names: Set<String>

  package init(from last: Plan, to plan: Plan) {
    var matrixGroups: [MatrixGroup] = []
    var known: [String: MatrixGroupID] = [:]
    for index in last.matrixGroups.indices {
      known[last.matrixGroupName(MatrixGroupID(index))] = MatrixGroupID(index)
    }
    for index in plan.matrixGroups.indices {
      let matrixGroup = MatrixGroupID(index)
      let name = plan.matrixGroupName(matrixGroup)
      guard let before = known[name] else { continue }
      let old = last.axes(before).map { last.string($0) }
      let new = plan.axes(matrixGroup).map { plan.string($0) }
      let isRenamed =
        old != new
        && !last.instances(before).contains { plan.task(named: last.nameBytes(TaskID($0))) != nil }
      if isRenamed { matrixGroups.append(MatrixGroup(name: name, old: old, new: new)) }
    }
    self.matrixGroups = matrixGroups
    names = Set(matrixGroups.map(\.name))
  }

  package func contains(_ id: String) -> Bool {
    guard let open = id.utf8.firstIndex(of: UInt8(ascii: "[")) else { return false }
    return names.contains(String(id[..<open]))
  }

  package var warnings: [String] {
    matrixGroups.map { matrixGroup in
      "the names of the matrix tasks of `\(CleanText.string(matrixGroup.name))` now contain"
        + " \(CleanText.string(matrixGroup.new.joined(separator: ", "))), no longer"
        + " \(CleanText.string(matrixGroup.old.joined(separator: ", "))); all of them run"
    }
  }
}
