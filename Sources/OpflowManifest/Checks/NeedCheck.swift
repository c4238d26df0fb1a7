internal import OpflowPlan

/// Checks the needs of all tasks, after all are read.
struct NeedCheck {
  let diagnostics: Diagnostics
  let tasks: TaskList
  let needs: NeedList
  let needed: NeededTasks

  struct ValueRead {
    var task: Int
    /// Indices into the task's needs.
    var needs: Range<Int>
    var place: Place
    /// True if the task's `if` uses the values.
    var decides: Bool
  }

  func checkValues(_ reads: [ValueRead]) {
    for read in reads {
      let edges = needs.edges(of: read.task)
      let targets = read.needs.lazy.map { Int(needs.targets[edges.lowerBound + $0]) }
      if let lacking = targets.first(where: { needed.leavesNothing($0) }) {
        reportLacking(lacking, read.place)
      } else if let lacking = targets.first(where: { needed.keepsNothing($0) }) {
        diagnostics.error(
          read.place, "`\(tasks.name(lacking).string)` is already in the run, and writes no values",
          help:
            "its `run` does not mention $OPFLOW_VALUES, and no task of the run reads a value of it;"
            + " write the value in the manifest that declares it")
      } else if read.decides, let lacking = targets.first(where: { !needed.decides($0) }) {
        diagnostics.error(
          read.place,
          "this `if` cannot read values of `\(tasks.name(lacking).string)`, which is already in the"
            + " run, where no `if` reads them",
          help: "read the value in `env`, and test it in `run`")
      }
    }
  }

  private func reportLacking(_ lacking: Int, _ place: Place) {
    let name = tasks.name(lacking).string
    let (detail, help) =
      needed.isService(lacking)
      ? ("a service", "its dependents get its `ports` as OPFLOW_PORT_NAME")
      : needed.processless(lacking).map {
        ($0.detail, "read a value of a task that runs a command")
      }
        ?? ("a download", "read the file that it downloads to (`to`)")
    diagnostics.error(place, "`\(name)` is \(detail), so it has no values", help: help)
  }

  /// A `finally` task runs after all others.
  func checkFinally() {
    guard needed.hasFinally else { return }
    for task in 0..<needs.count where !needed.isFinally(task) {
      var last: Place?
      for edge in needs.edges(of: task) where needed.isFinally(Int(needs.targets[edge])) {
        // A need for a matrix is reported once.
        let place = place(of: edge, task)
        if place == last { continue }
        last = place
        diagnostics.error(
          place,
          "task `\(tasks.name(task).string)` needs the `finally` task"
            + " `\(tasks.name(Int(needs.targets[edge])).string)`, which runs after it",
          help: "make both tasks `finally`, or neither")
      }
    }
  }

  /// A task that its own `if` skips counts as a success, which surprises users of other tools.
  func checkConditions() {
    guard needed.hasLiteralFalse else { return }
    var found: [Int: (place: Place, dependents: [String])] = [:]
    for task in 0..<needs.count where needed.literalFalse(task) == nil {
      for edge in needs.edges(of: task) {
        let need = Int(needs.targets[edge])
        let isMet = needs.conditions[edge] == .success || needs.conditions[edge] == .finished
        guard isMet, let place = needed.literalFalse(need), !isAlias(task) else { continue }
        let dependent = "`\(tasks.declaredName(task).string)`"
        let declaration = tasks.declaration(of: need)
        let known = found[declaration]?.dependents ?? []
        if known.count > Self.mostDependents || known.contains(dependent) { continue }
        found[declaration] = (place, known + [dependent])
      }
    }
    for (declaration, (place, dependents)) in found.sorted(by: { $0.key < $1.key }) {
      let names = dependents.prefix(Self.mostDependents).joined(separator: ", ")
      let isOne = dependents.count == 1
      diagnostics.warning(
        place,
        "this `if` is always false: opflow skips `\(tasks.declared.name(declaration).string)`, but"
          + (isOne
            ? " its dependent \(names) still runs"
            : " its dependents \(names)"
              + (dependents.count > Self.mostDependents ? ", …" : "") + " still run"),
        help: "to skip \(isOne ? "it" : "them") too, give \(isOne ? "it" : "them") the same `if`")
    }
  }

  private static let mostDependents = 3

  /// True for a task that only has `needs`. One with merged keys may have more.
  private func isAlias(_ task: Int) -> Bool {
    let declaration = tasks.declaration(of: task)
    let document = tasks.declared.document(declaration)
    let node = tasks.declared.key(declaration).value
    guard document.kind(node) == .mapping else { return false }
    var children = document.children(node)
    while let key = children.next(), children.next() != nil {
      guard let name = document.scalarText(key) else { continue }
      if name == "<<" || TaskKey.actions.contains(where: { name == $0.name }) { return false }
    }
    return true
  }

  /// A service runs while its dependents do, so these need a process and the condition `success`.
  func checkServices(_ resources: ResourceTable) {
    guard needed.hasServices else { return }
    var together = JointDemands(needs: needs, needed: needed, resources: resources)
    for task in 0..<needs.count {
      if together.exceed(with: task) { report(together, of: task, resources) }
      if needed.hasPorts { checkPorts(of: task) }
      var last: Place?
      for edge in needs.edges(of: task) where needed.isService(Int(needs.targets[edge])) {
        let processless = needed.processless(task)
        if needs.conditions[edge] == .success, processless == nil { continue }
        let place = place(of: edge, task)
        if place == last { continue }
        last = place
        let service = tasks.name(Int(needs.targets[edge])).string
        if let processless {
          diagnostics.error(
            place,
            "\(processless.detail) (`\(processless.key.name)`) cannot need the service "
              + "`\(service)`",
            help: "it has no process that could use it; let its dependents need the service")
        } else {
          diagnostics.error(
            place, "`on: \(needs.conditions[edge])` does not apply to the service `\(service)`",
            help: "a service runs while its dependents run; write `needs: [\(service)]`")
        }
      }
    }
  }

  private func place(of edge: Int, _ task: Int) -> Place {
    needs.place(of: edge, in: tasks.document(task).file)
  }

  private func checkPorts(of task: Int) {
    var owners: [String: Int] = [:]
    for variable in needed.ports(task) { owners[variable] = task }
    for edge in needs.edges(of: task) {
      let need = Int(needs.targets[edge])
      for variable in needed.ports(need) {
        guard let other = owners.updateValue(need, forKey: variable), other != need else {
          continue
        }
        diagnostics.error(
          place(of: edge, task),
          "`\(tasks.name(need).string)` and `\(tasks.name(other).string)` both set \(variable) to a"
            + " port", help: "rename the port of one of them under `ports`")
      }
    }
  }

  /// A task and its services exceed a capacity.
  private func report(_ together: JointDemands, of task: Int, _ resources: ResourceTable) {
    let first = needs.edges(of: task).first { needed.isService(Int(needs.targets[$0])) }
    guard let first else { return }
    let (services, sums) = together.demands(of: task)
    for (resource, sum) in sums.sorted(by: { $0.key < $1.key }) {
      let capacity = resources.capacity(resource)
      guard sum > capacity else { continue }
      let name = resources.names.texts[Int(resource)].string
      let names = services.map { tasks.name($0).string }
      diagnostics.error(
        place(of: first, task),
        "the task and its services (\(names.joined(separator: ", "))) need"
          + " \(ResourceEntry.text(sum, of: resource)) of `\(name)`; the limit is"
          + " \(ResourceEntry.text(capacity, of: resource))",
        help: "they run at the same time; ask for less, or raise the limit of `\(name)`")
    }
  }
}

/// Demands of tasks with their services. The exact sum of a task visits all of its services, so it
/// is computed only if cheaper bounds do not decide.
private struct JointDemands {
  private let needs: NeedList
  private let needed: NeededTasks
  private let resources: ResourceTable
  /// Resources of which all services and one more task demand more than the capacity.
  private var scarce: Set<UInt32> = []
  /// Upper bounds: a service that is reachable in two ways may be counted twice.
  private var most: [Int: [UInt32: UInt64]] = [:]
  private var isOpen: Set<Int> = []
  private var exceeding: Set<Int> = []

  init(needs: NeedList, needed: NeededTasks, resources: ResourceTable) {
    (self.needs, self.needed, self.resources) = (needs, needed, resources)
    var largest: [UInt32: UInt64] = [:]
    for task in 0..<needs.count where !needed.isService(task) {
      for item in needed.demands(task) {
        largest[item.resource] = max(largest[item.resource] ?? 0, item.amount)
      }
    }
    for service in allServices(neededBy: Array(0..<needs.count)) {
      for item in needed.demands(service) { Self.add(item.amount, of: item.resource, to: &largest) }
    }
    scarce = Set(
      largest.lazy.filter { $0.value > resources.capacity($0.key) }.map(\.key)
        .filter { !resources.isGPUOfMachine($0) })
  }

  /// False if one of the services exceeds a capacity on its own, which is reported there.
  mutating func exceed(with task: Int) -> Bool {
    if scarce.isEmpty { return false }
    let services = services(neededBy: task)
    if services.isEmpty { return false }
    decide(task)
    return exceeding.contains(task) && exceeding.isDisjoint(with: services)
  }

  func demands(of task: Int) -> (services: [Int], sums: [UInt32: UInt64]) {
    let services = allServices(neededBy: [task])
    var sums = ownDemands(of: task)
    for service in services { Self.add(ownDemands(of: service), to: &sums) }
    return (services, sums)
  }

  private mutating func decide(_ task: Int) {
    var open = [task]
    while let next = open.last {
      let services = services(neededBy: next)
      // A service that needs itself is a separate error.
      let unknown = services.filter { most[$0] == nil && isOpen.insert($0).inserted }
      if !unknown.isEmpty {
        open += unknown
        continue
      }
      open.removeLast()
      most[next] = [:]
      var isTooMuch = !exceeding.isDisjoint(with: services)
      if !isTooMuch {
        var sums = ownDemands(of: next)
        for service in services { Self.add(most[service] ?? [:], to: &sums) }
        if isBeyond(sums) { sums = demands(of: next).sums }
        isTooMuch = isBeyond(sums)
        most[next] = sums
      }
      if isTooMuch { exceeding.insert(next) }
    }
  }

  private func isBeyond(_ sums: [UInt32: UInt64]) -> Bool {
    sums.contains { $0.value > resources.capacity($0.key) }
  }

  private func ownDemands(of task: Int) -> [UInt32: UInt64] {
    var sums: [UInt32: UInt64] = [:]
    for item in needed.demands(task) where scarce.contains(item.resource) {
      Self.add(item.amount, of: item.resource, to: &sums)
    }
    return sums
  }

  private func services(neededBy task: Int) -> [Int] {
    var services: [Int] = []
    needed.forEachNeed(of: task, needs) { if needed.isService($0) { services.append($0) } }
    return services
  }

  /// Returns the services that the tasks need, transitively.
  private func allServices(neededBy tasks: [Int]) -> [Int] {
    var services: [Int] = []
    var seen: Set<Int> = []
    var open = tasks
    while let next = open.popLast() {
      needed.forEachNeed(of: next, needs) { need in
        guard needed.isService(need), seen.insert(need).inserted else { return }
        services.append(need)
        open.append(need)
      }
    }
    return services
  }

  private static func add(_ demands: [UInt32: UInt64], to sums: inout [UInt32: UInt64]) {
    for (resource, amount) in demands { add(amount, of: resource, to: &sums) }
  }

  private static func add(_ amount: UInt64, of resource: UInt32, to sums: inout [UInt32: UInt64]) {
    let (sum, overflows) = sums[resource, default: 0].addingReportingOverflow(amount)
    sums[resource] = overflows ? .max : sum
  }
}

/// Facts about tasks for their dependents, including tasks of the run.
struct NeededTasks {
  private let tasks: TaskList
  private var finallyTasks: [Bool]
  private var leavingNothing: [Bool]
  /// Services; then tasks without a process.
  private var services: Set<Int> = []
  private var processless: [Int: ActionKind] = [:]
  private var ports: [Int: [String]] = [:]
  /// Demands for user-defined resources.
  private var demands: [Int: [DemandItem]] = [:]
  /// The places of `if: false`.
  private var literalFalse: [Int: Place] = [:]

  init(_ tasks: TaskList) {
    self.tasks = tasks
    finallyTasks = [Bool](repeating: false, count: tasks.count)
    leavingNothing = finallyTasks
  }

  /// Records a task that has `TaskValues.isOfNote`.
  mutating func note(_ task: borrowing TaskValues, _ number: Int) {
    if task.flags.contains(.finally) { finallyTasks[number] = true }
    if let node = task.literalFalse { literalFalse[number] = tasks.document(number).place(node) }
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
      demands[number] = task.lists.demands.items.filter { $0.resource > ResourceEntry.download }
    }
  }

  var hasServices: Bool { !services.isEmpty || tasks.run?.plan.hasServices == true }
  var hasFinally: Bool { tasks.run != nil || finallyTasks.contains(true) }
  var hasLiteralFalse: Bool { !literalFalse.isEmpty }
  var hasPorts: Bool { hasServices && (!ports.isEmpty || tasks.run != nil) }

  /// The place of an `if: false` of the manifest.
  func literalFalse(_ task: Int) -> Place? { literalFalse[task] }

  func isService(_ task: Int) -> Bool {
    if let (run, id) = tasks.ofRun(task) { return run.plan.isService(id) }
    return services.contains(task)
  }

  /// Describes a task without a process, and names the key that makes it so.
  func processless(_ task: Int) -> (detail: String, key: TaskKey)? {
    let kind: ActionKind? =
      if let (run, id) = tasks.ofRun(task) { run.plan.kind(id) } else { processless[task] }
    return switch kind {
    case .approve: ("an approval", .approve)
    case .block: ("an external task", .block)
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

  /// Nothing mentioned values when the run's task was added.
  func keepsNothing(_ task: Int) -> Bool {
    guard let (run, id) = tasks.ofRun(task) else { return false }
    return !run.plan.flags(id).contains(.leavesValues)
  }

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
