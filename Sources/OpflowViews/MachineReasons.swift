internal import OpflowCore

/// Explains why a task of a live run does not start on any node.
struct MachineReasons {
  private let status: RunStatus
  private let durations: TaskDurations
  private let nowMilliseconds: Int64
  /// The nodes of the newest session.
  private let sites: [SiteRecord]
  private let groups: ServiceGroups
  /// By node and resource.
  private let held: [SiteID: [UInt64]]
  private var plan: Plan { status.plan }

  private static let mostNames = 5

  /// Returns nil for a run that neither has nor waits for nodes.
  ///
  /// - Parameter running: the running tasks.
  init?(
    _ status: RunStatus, running: [TaskID], durations: TaskDurations, nowMilliseconds: Int64
  ) {
    sites = Array(status.history.sites.of(drive: status.history.drives))
    if sites.isEmpty, status.awaited == nil { return nil }
    self.status = status
    self.durations = durations
    self.nowMilliseconds = nowMilliseconds
    groups = ServiceGroups(status.plan)
    var held: [SiteID: [UInt64]] = [:]
    for task in running {
      guard let site = status.history.site(of: task)?.site else { continue }
      for item in RunQueue.demand(of: task, status) {
        let none = [UInt64](repeating: 0, count: status.plan.resources.count)
        held[site, default: none][Int(item.resource)] &+= item.amount
      }
    }
    self.held = held
  }

  /// Whether the task belongs on a node.
  func apply(to task: TaskID) -> Bool {
    guard plan.isService(task) || !plan.services(neededBy: task).isEmpty else {
      return !plan.staysOnCoordinator(task)
    }
    return groups.group(of: task) != nil && home(of: task).map { $0.site != nil } ?? true
  }

  /// Returns a running task of the same service group, if possible a service that the task depends
  /// on, and its node (nil: the coordinator's machine); nil if no such task runs.
  private func home(of task: TaskID) -> (member: TaskID, site: SiteRecord?)? {
    guard let group = groups.group(of: task) else { return nil }
    let members = plan.tasks.lazy.map { TaskID($0) }.filter {
      groups.group(of: $0) == group && status.state($0).isRunning
    }
    let own = Set(plan.services(neededBy: task))
    guard let member = members.first(where: own.contains) ?? members.first else { return nil }
    return (member, status.history.site(of: member))
  }

  /// Explains why a ready task waits; nil if a node has room and time for it.
  func waiting(_ task: TaskID) -> TaskReason? {
    if let (member, site) = home(of: task), let site { return waiting(task, for: member, on: site) }
    let inUse = sites.filter(\.isInUse)
    if inUse.isEmpty {
      if let awaited = status.awaited {
        return TaskReason(.machine, "waits for a machine: \(CleanText.string(awaited))")
      }
      let last = sites.last.map { ": \(StatusMachines.text($0))" } ?? ""
      return TaskReason(.machine, "waits for a machine, and none is there\(last)")
    }
    let wanted = wanted(by: task)
    let gpus = wanted.first { Int($0.resource) == plan.gpuResource }?.amount ?? 0
    if gpus > (inUse.map { $0.offer.gpus * 1000 }.max() ?? 0) {
      let amount = ResourceEntry.text(gpus, of: UInt32(clamping: plan.gpuResource ?? 0))
      return TaskReason(.machine, "wants \(amount) of gpu, which no machine has")
    }
    let lacks = inUse.compactMap { lack(of: wanted, $0) }
    if lacks.count == inUse.count {
      let wants = wanted.map {
        "\(AmountText.text($0.amount, of: $0.resource)) of \(name($0.resource))"
      }
      return TaskReason(
        .resources,
        "wants \(wants.joined(separator: ", ")), and no machine has room: \(list(lacks))",
        shared: "no machine has room for it")
    }
    return lacksTime(task, inUse)
  }

  /// The same for a task that must start on the node of a member of its service group.
  private func waiting(
    _ task: TaskID, for member: TaskID, on site: SiteRecord
  ) -> TaskReason? {
    let lack =
      site.isInUse ? lack(of: wanted(by: task), site) : StatusMachines.text(site)
    guard let lack else { return lacksTime(task, [site]) }
    let waits = "waits for the machine of \(plan.nameString(member))"
    return TaskReason(.machine, "\(waits): \(lack)", shared: waits, tasks: [member])
  }

  /// Returns what a node lacks; nil if everything fits.
  private func lack(of wanted: [DemandItem], _ site: SiteRecord) -> String? {
    for item in wanted {
      let whole = site.capacity(of: item.resource)
      let held = held[site.site]?[Int(item.resource)] ?? 0
      let free = whole - min(whole, held)
      // Demands that fit no node are reduced to the largest one, except for GPUs.
      let isCut = Int(item.resource) != plan.gpuResource
      if isCut ? min(item.amount, whole) <= free : item.amount <= free { continue }
      return
        "\(MachineText.name(site.offer.host)) has \(AmountText.text(free, of: item.resource)) of"
        + " \(AmountText.text(whole, of: item.resource)) \(name(item.resource)) free"
    }
    return nil
  }

  private func lacksTime(_ task: TaskID, _ inUse: [SiteRecord]) -> TaskReason? {
    let isKnown = durations.areKnown && !durations.isGuess(task)
    let timeout = Int64(clamping: plan.policy(task).timeoutMilliseconds)
    let needed = isKnown ? durations[task] / 1000 : timeout
    if needed == 0 { return nil }
    let lacks = inUse.compactMap { site -> String? in
      guard let left = site.offer.leftMilliseconds, isKnown || needed <= left else { return nil }
      let rest = max(0, left - max(0, nowMilliseconds.minus(site.joinedMilliseconds)))
      if needed <= rest { return nil }
      return "\(MachineText.name(site.offer.host)) has \(DurationText.text(milliseconds: rest))"
    }
    if lacks.count < inUse.count { return nil }
    let takes = DurationText.text(milliseconds: needed)
    return TaskReason(
      .machine,
      (isKnown ? "took \(takes) before" : "may take \(takes)")
        + ", and no machine has that much time left: \(list(lacks))",
      shared: "no machine has the time left that it takes")
  }

  // MARK: - Amounts

  /// Returns the demands for resources that each node has for itself.
  private func wanted(by task: TaskID) -> [DemandItem] {
    let gpu = plan.gpuResource ?? -1
    return plan.demandList(plan.demand[task.index]).filter {
      ResourceEntry.isOfMachine(Int($0.resource), gpu: gpu)
    }
  }

  private func name(_ resource: UInt32) -> String {
    plan.string(plan.resources[Int(resource)].name)
  }

  private func list(_ parts: [String]) -> String {
    let more = parts.count - Self.mostNames
    return parts.prefix(Self.mostNames).joined(separator: ", ")
      + (more > 0 ? " and \(more) more" : "")
  }
}
