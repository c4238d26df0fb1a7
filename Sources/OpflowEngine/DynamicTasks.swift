package import OpflowJournal
package import OpflowPlan

/// Tasks added to a live run. The plan already has them, after its older tasks.
///
///     asked ─► grown ─► journaled ─► answered
///       └► refused
///
/// - *asked*: may the segment be added (`Engine.answer(toExtension:)`)? A crash here has added
///   nothing.
/// - *grown*: the plan file has the tasks. Readers use only tasks that the journal names, so after
///   a crash the end of the file is unused. No fact comes between the permission and this one.
/// - *journaled*: the `extend` line exists. A resume has the tasks, from the copy of their source.
///   They may be ready at once, but no command about them is sent before the line is written.
/// - *answered*: the line is written. A requester without an answer asks again with the same ID, or
///   reads the journal.
///
/// Dependencies that have succeeded are met; those that have failed skip the task. A service that
/// ended unneeded is reopened.
package struct RunGrowth: Sendable, Equatable {
  /// The plan with the new tasks.
  package var plan: Plan
  package var entry: ExtendEntry
  package var initial: [InitialState]
  package var connection: ConnectionID

  package init(plan: Plan, entry: ExtendEntry, initial: [InitialState], connection: ConnectionID) {
    self.plan = plan
    self.entry = entry
    self.initial = initial
    self.connection = connection
  }

  package static func == (one: RunGrowth, other: RunGrowth) -> Bool {
    one.plan === other.plan && one.entry == other.entry && one.initial == other.initial
      && one.connection == other.connection
  }
}

extension Scheduler {
  /// Returns why no tasks can be added.
  ///
  /// - Parameter generator: The requesting task, or `none`. A closed run accepts tasks of its own
  ///   tasks: its result must not depend on the moment of closing.
  func fault(ofExtensionBy generator: TaskID) -> String? {
    if phase.step == .done { return "the run has ended" }
    if phase.stopCause != nil { return "the run is stopping" }
    if phase.step == .finally {
      return "the `finally` tasks have started; you cannot add tasks after them"
    }
    let isOwn = !generator.isNone && graph.state(generator).isRunning
    if openness == .closed, !isOwn { return "the run is closed to new tasks" }
    if services.isLeaving { return "the run is ending" }
    return services.passedOn.isEmpty ? nil : "another session takes over the run; try again"
  }

  /// A service group is on one node: new tasks cannot join groups that may be on two remote nodes,
  /// or bind a group to the local node.
  func fault(ofSegment segment: Plan, by generator: TaskID) -> String? {
    if let fault = fault(ofInstances: segment, by: generator) { return fault }
    if let fault = fault(ofNeedsLeftOut: segment) { return fault }
    let needed = servicesNeeded(bySegment: segment)
    if let (task, service) = needed.first(where: { segment.kind($0.task) == .block }) {
      return "\(segment.nameString(task)) is an external task (`block`); it cannot need the"
        + " service \(plan.nameString(service))"
    }
    guard options.usesNodes, let first = needed.first?.service else { return nil }
    let users = Set(needed.map(\.task))
    let staying = segment.tasks.lazy.map { TaskID($0) }.first { stays($0, in: segment, users) }
    for (_, service) in needed {
      if let staying, group(of: service) != nil {
        return "\(segment.nameString(staying)) must run on the coordinator's node, but"
          + " \(plan.nameString(service)), a service that it uses, may run on another node"
      }
      if group(of: service) != group(of: first) {
        return "the new tasks need \(plan.nameString(first)) and"
          + " \(plan.nameString(service)), which may run on different nodes"
      }
    }
    return nil
  }

  /// A task that needs one left out of this session would run without its result.
  private func fault(ofNeedsLeftOut segment: Plan) -> String? {
    guard let leftOut = graph.leftOut else { return nil }
    for need in segment.outerNeeds {
      guard let task = plan.task(named: segment.text(need.name)), leftOut.contains(task) else {
        continue
      }
      let isOpen = graph.state(task) == .skipped && !graph.has(.skippedUpstream, task)
      if !isOpen, !isService(task) { continue }
      return "\(segment.nameString(TaskID(need.task))) needs \(plan.nameString(task)),"
        + " which is not part of this session"
    }
    return nil
  }

  private func fault(ofInstances segment: Plan, by generator: TaskID) -> String? {
    for matrixGroup in segment.matrixGroups {
      guard let maker = plan.task(named: segment.text(matrixGroup.name)), plan.makesInstances(maker)
      else { continue }
      let name = plan.nameString(maker)
      if plan.instances(madeBy: maker) != nil {
        return "\(name) already has matrix tasks in this run"
      }
      if maker != generator || !graph.state(maker).isRunning {
        return "only \(name) itself can add its matrix tasks, while it runs"
      }
      if needsWhatNeeds(maker, segment) {
        return "dependency cycle: matrix tasks of \(name) need one of their dependents"
      }
    }
    return nil
  }

  /// True if a new matrix task needs a dependent of its matrix. Generators that do not read its
  /// values are not dependents.
  private func needsWhatNeeds(_ maker: TaskID, _ segment: Plan) -> Bool {
    var wanted: Set<TaskID> = []
    for need in segment.outerNeeds {
      if let task = plan.task(named: segment.text(need.name)) { wanted.insert(task) }
    }
    var seen: Set<TaskID> = []
    var open = [maker]
    while let task = open.popLast() {
      for edge in plan.dependents(task) {
        let dependent = plan.dependent(edge)
        if task == maker, plan.makesInstances(dependent), plan.dependentCondition(edge) != .ran {
          continue
        }
        if wanted.contains(dependent) { return true }
        if seen.insert(dependent).inserted { open.append(dependent) }
      }
    }
    return false
  }

  private func servicesNeeded(bySegment segment: Plan) -> [(task: TaskID, service: TaskID)] {
    guard plan.hasServices else { return [] }
    return segment.outerNeeds.compactMap { need in
      guard let service = plan.task(named: segment.text(need.name)), plan.isService(service) else {
        return nil
      }
      return (TaskID(need.task), service)
    }
  }

  private func group(of service: TaskID) -> Int? {
    resources.serviceClasses.group(of: resources.demandClass(of: service))
  }

  private func stays(_ task: TaskID, in segment: Plan, _ users: Set<TaskID>) -> Bool {
    if segment.isService(task) {
      return segment.staysOnCoordinator(task) || segment.stays(task, named: nil)
    }
    let needsServices = users.contains(task) || !segment.services(neededBy: task).isEmpty
    return needsServices && segment.staysOnCoordinator(task)
  }

  mutating func extend(by growth: RunGrowth) {
    let first = plan.taskCount
    plan = growth.plan
    returnSetAside()
    growParts(from: first)
    graph.grow(to: plan, initial: growth.initial)
    let hasInstances = graph.awaitInstances(from: first)
    let added = growth.initial.count
    for index in first..<plan.taskCount {
      let isNew = attemptsOfRemoved.isEmpty
      attempt.append(isNew ? 0 : attemptsOfRemoved[plan.nameString(TaskID(index))] ?? 0)
    }
    triesUsed.append(repeating: 0, count: added)
    lostCount.append(repeating: 0, count: added)
    returnCount.append(repeating: 0, count: added)
    if options.usesNodes { ranAt.append(repeating: .local, count: added) }
    durations.grow(to: plan)
    requests.note(growth.entry.id, count: growth.entry.added)
    let generator = growth.entry.generator
    if !generator.isNone, !plan.makesInstances(generator) { additions.note(growth.entry) }
    steps.append(.tell(.extend(growth.entry)))
    rankAdded(from: first, hasInstances: hasInstances)
    let lacking = graph.meetNeeds(from: first)
    if phase.isHalted {
      // An exempt task may now depend on the new ones.
      if hasInstances { graph.endExemption() }
      exemptAll()
    }
    findBeyondDevices()
    for number in plan.order(addedFrom: first) {
      let task = TaskID(number)
      if graph.state(task).isTerminal, graph.leftOut?.contains(task) == true {
        spread(from: task)
      } else if graph.state(task) == .waiting {
        enter(task, lacking: lacking[task])
      }
    }
    takeServicesBack(neededFrom: first)
    oweFinally(from: first)
    steps.append(
      .answer(
        growth.connection, growth.entry.id, .done(count: growth.entry.added)))
  }

  private mutating func growParts(from first: Int) {
    services.add(servicesOf: plan, from: first, named: nil)
    var groups: ServiceGroups?
    if options.usesNodes, plan.hasServices {
      groups = Self.groups(plan, staying: services.standing.union(heldBefore))
    }
    resources.grow(to: plan, groups: groups)
    workforce.grow(classCount: resources.classCount)
    workforce.setServices(services.all.count)
    ready.grow(to: resources.classCount)
    ready.wakeAll()
    if options.usesNodes {
      let least = Self.leastGrace(of: plan, from: first)
      machines.leastGrace = first == 0 ? least : min(machines.leastGrace, least)
    }
  }

  private mutating func takeServicesBack(neededFrom first: Int) {
    guard plan.hasServices else { return }
    // Skipped tasks need no services.
    let open = (first..<plan.taskCount).map { TaskID($0) }.filter {
      !graph.state($0).isTerminal && (!isService($0) || stands($0))
    }
    let back = graph.servicesToReopen(for: open)
    if back.isEmpty { return }
    services.countUsersAnew()
    rankAll()
    for service in back { tellTakenBack(service) }
    graph.offerAnew(back)
    followChanges()
  }

  private mutating func oweFinally(from first: Int) {
    guard ranBefore, !startedAny else { return }
    startedAny = (first..<plan.taskCount).contains {
      plan.flags(TaskID($0)).contains(.finally) && !graph.state(TaskID($0)).isTerminal
    }
  }

  /// Settles, skips or readies a task, as `begin` does.
  private mutating func enter(_ task: TaskID, lacking need: TaskID?) {
    if settlesByItself(task) { return }
    if let need {
      graph.skip(task, for: need)
    } else if graph.unmetNeeds(of: task) == 0 {
      graph.release(task)
    }
    graph.spreadSkips()
    followChanges()
  }
}

/// Tasks that a generator added in an earlier attempt and that are retracted because it runs again.
/// It may then add the same IDs, with equal or different definitions.
///
///     added ─► let go ─► renamed ─► journaled
///                └► kept
///
/// - *added*: the tasks wait for the end of their generator. If one has begun nevertheless (a
///   request retried a failure), was cancelled or skipped by a request, or is needed by others, all
///   stay: an equal definition then has no effect, and a different one is refused.
/// - *let go*: the generator starts (`Scheduler.start`). The caller gets `EngineStep.retract`
///   before the line of the start. Tasks that have ended (by `if`, or for another dependency) are
///   reopened by their old names. The start is sent after all this is written. After a crash from
///   here on, a resume leaves out the tasks that the unfinished generator added.
/// - *renamed*: the plan file was replaced by one with names that cannot be declared
///   (`PlanGrowth`). Readers can keep the old file: numbers are unchanged. New tasks find the IDs
///   free.
/// - *journaled*: `withdraw`, then a `skip` for each task by its new name. Readers now reopen the
///   plan.
/// - *kept*: the file could not be written. Tasks that had ended get their ends again.
package struct Retraction: Sendable, Equatable {
  package let entry: RetractEntry
  package let tasks: [Range<Int>]
  package var plan: Plan?

  package var numbers: some Sequence<Int> { tasks.joined() }

  package static func == (one: Retraction, other: Retraction) -> Bool {
    one.entry == other.entry && one.tasks == other.tasks && one.plan === other.plan
  }
}

/// Tasks added in this session, by generator.
struct OwnAdditions: Sendable {
  private var additions: [TaskID: [(request: RequestID, tasks: Range<Int>)]] = [:]
  /// Tasks that were let go, until the caller answers.
  private var letGo: Set<Int32> = []

  var isEmpty: Bool { additions.isEmpty }

  mutating func note(_ entry: ExtendEntry) {
    additions[entry.generator, default: []].append(
      (entry.id, (entry.taskCount - entry.added)..<entry.taskCount))
  }

  func of(_ generator: TaskID) -> [(request: RequestID, tasks: Range<Int>)] {
    additions[generator] ?? []
  }

  mutating func forget(_ generator: TaskID) { additions[generator] = nil }

  mutating func letGo(_ tasks: Set<Int32>) { letGo.formUnion(tasks) }
  mutating func noteAnswer(about tasks: some Sequence<Int>) {
    letGo.subtract(tasks.lazy.map { Int32(truncatingIfNeeded: $0) })
  }
  func isLetGo(_ task: TaskID) -> Bool { letGo.contains(task.rawValue) }
}

extension Scheduler {
  mutating func askToRetract(additionsOf generator: TaskID) {
    let additions = additions.of(generator)
    if additions.isEmpty { return }
    let tasks = additions.map(\.tasks)
    let all = Set(tasks.joined().lazy.map { Int32(truncatingIfNeeded: $0) })
    guard all.allSatisfy({ mayRetract(TaskID($0), with: all) }) else { return }
    for number in tasks.joined() where graph.state(TaskID(number)) != .waiting {
      tellTakenBack(TaskID(number))
    }
    self.additions.letGo(all)
    let entry = RetractEntry(
      generator: generator, attempt: attempt[generator.index],
      requests: additions.map(\.request.text),
      count: all.count)
    steps.append(.retract(Retraction(entry: entry, tasks: tasks)))
  }

  private func mayRetract(_ task: TaskID, with all: Set<Int32>) -> Bool {
    switch graph.state(task) {
    case .waiting:
      if graph.has(.ran, task) || graph.has(.delayed, task) || lostCount[task.index] > 0 {
        return false
      }
    case .skipped:
      let isByItself = plan.flags(task).contains(.conditionFalse)
      if !isByItself, !graph.has(.skippedUpstream, task) { return false }
    case .ready, .checking, .prefetched, .running, .suspended, .succeeded, .upToDate,
      .failedAllowed,
      .failed, .cancelled:
      return false
    }
    return plan.dependents(task).allSatisfy { all.contains(plan.dependent($0).rawValue) }
  }

  mutating func retract(_ retraction: Retraction) {
    additions.noteAnswer(about: retraction.numbers)
    services.review.touchAll()
    guard let renamed = retraction.plan else {
      for task in retraction.numbers.lazy.map({ TaskID($0) }) where graph.state(task) == .skipped {
        tell(Transition(.skip(reasonOfSkip(of: task)), task))
      }
      return
    }
    plan = renamed
    additions.forget(retraction.entry.generator)
    steps.append(.tell(.retract(retraction.entry)))
    for number in retraction.numbers {
      // The tasks' dependents are retracted too.
      if graph.state(TaskID(number)) == .waiting { graph.set(TaskID(number), .skipped) }
      // A retry of the failed dependency must not bring the task back.
      graph.unmark(TaskID(number), .skippedUpstream)
      tell(Transition(.skip(.retracted), TaskID(number)))
    }
    services.countUsersAnew()
  }

  private func reasonOfSkip(of task: TaskID) -> SkipReason {
    plan.flags(task).contains(.conditionFalse)
      ? falseCondition(of: task) : .upstream(graph.firstLackedNeed(of: task) ?? .none)
  }
}
