internal import OpflowCore

/// What counts of tasks where others need them, by their numbers: those of the run too that a manifest is
/// added to.
struct NeededTasks {
  private let tasks: TaskList
  private var finallyTasks: [Bool]
  /// For each task: no process of it could leave a value.
  private var leavingNothing: [Bool]
  /// Tasks that do not end by themselves, and those that are no process.
  private var services: Set<Int> = []
  private var processless: [Int: ActionKind] = [:]
  /// Variables of the ports of services.
  private var ports: [Int: [String]] = [:]
  /// Of tasks that want some of what the manifest names.
  private var demands: [Int: [DemandItem]] = [:]

  init(_ tasks: TaskList) {
    self.tasks = tasks
    finallyTasks = [Bool](repeating: false, count: tasks.count)
    leavingNothing = finallyTasks
  }

  /// Notes a task of the manifest that is of note (`TaskValues.isOfNote`).
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

  /// Whether any may be.
  var hasServices: Bool { !services.isEmpty || tasks.run?.plan.hasServices == true }
  var hasFinally: Bool { tasks.run != nil || finallyTasks.contains(true) }
  var hasPorts: Bool { hasServices && (!ports.isEmpty || tasks.run != nil) }

  func isService(_ task: Int) -> Bool {
    if let (run, id) = tasks.ofRun(task) { return run.plan.isService(id) }
    return services.contains(task)
  }

  /// What a task is, with its article, that is no process of the run, and the key that makes it so; nil for others.
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

  /// Whether a task has no folder for values though it could have had one: nothing of the run spoke of any when it
  /// was added.
  func keepsNothing(_ task: Int) -> Bool {
    guard let (run, id) = tasks.ofRun(task) else { return false }
    return !run.plan.flags(id).contains(.leavesValues)
  }

  /// Whether what a task leaves is at hand for an `if`.
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

  /// Calls `body` for each task that one needs.
  ///
  /// - Parameter needs: those of the manifest's tasks.
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
