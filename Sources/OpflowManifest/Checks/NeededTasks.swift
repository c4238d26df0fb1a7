internal import OpflowCore

/// What dependents have to know about tasks, including tasks of the run.
struct NeededTasks {
  private let tasks: TaskList
  private var finallyTasks: [Bool]
  /// Tasks that cannot leave values.
  private var leavingNothing: [Bool]
  /// Services; then tasks without a process.
  private var services: Set<Int> = []
  private var processless: [Int: ActionKind] = [:]
  /// The variables of services' ports.
  private var ports: [Int: [String]] = [:]
  /// Demands for user-defined resources.
  private var demands: [Int: [DemandItem]] = [:]

  init(_ tasks: TaskList) {
    self.tasks = tasks
    finallyTasks = [Bool](repeating: false, count: tasks.count)
    leavingNothing = finallyTasks
  }

  /// Records a task that has `TaskValues.isOfNote`.
  mutating func note(_ task: borrowing TaskValues, _ number: Int) {
    if task.flags.contains(.finally) { finallyTasks[number] = true }
    if let service = task.service {
      services.insert(number)
      if !service.ports.isEmpty { ports[number] = service.portVariables }
    }
    switch task.kind {
    case .approve, .block:
      processless[number] = task.kind
      leavingNothing[number] = true
    case .download: leavingNothing[number] = true
    case .shell, .command: if task.service != nil { leavingNothing[number] = true }
    }
    if task.own.contains(.demands), !task.lists.demands.items.isEmpty {
      demands[number] = task.lists.demands.items.filter {
        $0.resource > ResourceEntry.download
      }
    }
  }

  /// Whether there may be such tasks.
  var hasServices: Bool { !services.isEmpty || tasks.run?.plan.hasServices == true }
  var hasFinally: Bool { tasks.run != nil || finallyTasks.contains(true) }
  var hasPorts: Bool { hasServices && (!ports.isEmpty || tasks.run != nil) }

  func isService(_ task: Int) -> Bool {
    if let (run, id) = tasks.ofRun(task) { return run.plan.isService(id) }
    return services.contains(task)
  }

  /// Describes a task without a process, and names the key that makes it so.
  func processless(_ task: Int) -> (what: String, key: TaskKey)? {
    let kind: ActionKind? =
      if let (run, id) = tasks.ofRun(task) { run.plan.kind(id) } else { processless[task] }
    return switch kind {
    case .approve: ("a question", .approve)
    case .block: ("a block", .block)
    case .shell, .command, .download, nil: nil
    }
  }

  func isFinally(_ task: Int) -> Bool {
    if let (run, id) = tasks.ofRun(task) { return run.plan.flags(id).contains(.finally) }
    return finallyTasks[task]
  }

  func leavesNothing(_ task: Int) -> Bool {
    guard let (run, id) = tasks.ofRun(task) else { return leavingNothing[task] }
    return switch run.plan.kind(id) {
    case .approve, .download, .block: true
    case .shell, .command: run.plan.isService(id)
    }
  }

  /// Whether a task of the run leaves no values, because nothing mentioned any when it was added.
  func keepsNothing(_ task: Int) -> Bool {
    guard let (run, id) = tasks.ofRun(task) else { return false }
    return !run.plan.flags(id).contains(.leavesValues)
  }

  /// Whether an `if` can read the task's values.
  func decides(_ task: Int) -> Bool {
    guard let (run, id) = tasks.ofRun(task) else { return true }
    return run.plan.flags(id).contains(.decidesOthers)
  }

  func ports(_ task: Int) -> [String] {
    if let (run, id) = tasks.ofRun(task) {
      return run.plan.portNames(of: id).map { ServicePorts.variable($0) }
    }
    return ports[task] ?? []
  }

  func demands(_ task: Int) -> [DemandItem] {
    if let (run, id) = tasks.ofRun(task) {
      return run.plan.demandList(run.plan.demand[id.index]).filter {
        $0.resource > ResourceEntry.download
      }
    }
    return demands[task] ?? []
  }

  /// - Parameter needs: The needs of the manifest's tasks.
  @inline(__always)
  func forEachNeed(of task: Int, _ needs: NeedList, _ body: (Int) -> Void) {
    guard let (run, id) = tasks.ofRun(task) else {
      for edge in needs.edges(of: task) { body(Int(needs.targets[edge])) }
      return
    }
    for edge in run.plan.needs(id) {
      body(tasks.number(ofRun: TaskID(run.plan.needTargets[edge])))
    }
  }
}
