/// Services and dependents that must run on the same node, because a service is reached through its
/// node's address. A dependent of two services joins their groups.
package struct ServiceGroups: Sendable {
  /// By task: its group, or -1 without services and if a member is bound to the coordinator's
  /// machine. Empty in a plan without services.
  private var groups: [Int32] = []
  package private(set) var count = 0

  /// - Parameter staysHere: a service must stay on the coordinator's machine for a reason outside
  /// the plan.
  package init(_ plan: Plan, staysHere: (TaskID) -> Bool = { _ in false }) {
    guard plan.hasServices else { return }
    var roots = [Int32](repeating: -1, count: plan.taskCount)
    for index in plan.tasks {
      let task = TaskID(index)
      let services = plan.services(neededBy: task)
      if services.isEmpty && !plan.isService(task) { continue }
      if roots[task.index] < 0 { roots[task.index] = task.rawValue }
      for service in services {
        if roots[service.index] < 0 { roots[service.index] = service.rawValue }
        let (own, other) = (
          Self.root(of: task.rawValue, &roots), Self.root(of: service.rawValue, &roots)
        )
        roots[Int(max(own, other))] = min(own, other)
      }
    }
    var stay: Set<Int32> = []
    for index in plan.tasks where roots[Int(index)] >= 0 {
      let task = TaskID(index)
      if plan.staysOnCoordinator(task) || plan.isService(task) && staysHere(task) {
        stay.insert(Self.root(of: task.rawValue, &roots))
      }
    }
    number(&roots, without: stay)
  }

  private static func root(of task: Int32, _ roots: inout [Int32]) -> Int32 {
    var task = task
    while roots[Int(task)] != task {
      roots[Int(task)] = roots[Int(roots[Int(task)])]
      task = roots[Int(task)]
    }
    return task
  }

  /// Groups in `stay` get -1.
  private mutating func number(_ roots: inout [Int32], without stay: Set<Int32>) {
    groups = roots
    for task in roots.indices where roots[task] >= 0 {
      let root = Self.root(of: Int32(truncatingIfNeeded: task), &roots)
      if stay.contains(root) {
        groups[task] = -1
      } else if Int(root) == task {
        groups[task] = Int32(truncatingIfNeeded: count)
        count += 1
      } else {
        // The root has the lowest index, so it is numbered already.
        groups[task] = groups[Int(root)]
      }
    }
  }

  /// Nil if bound to the coordinator's machine.
  package func group(of task: TaskID) -> Int? {
    if groups.isEmpty { return nil }
    let group = Int(groups[task.index])
    return group < 0 ? nil : group
  }
}

extension Plan {
  package func staysOnCoordinator(_ task: TaskID) -> Bool {
    let (kind, flags) = (kind(task), flags(task))
    return kind == .download || kind == .approve || kind == .block || flags.contains(.finally)
      || flags.contains(.interactive) || record(task).processes.isLocal
  }
}
