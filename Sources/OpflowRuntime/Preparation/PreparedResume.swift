package import OpflowCore
internal import OpflowSystem
internal import OpflowWorker

/// All that a resume decides before it touches anything: what follows for each task from the run's
/// journal and from the manifest as it is now.
package struct PreparedResume {
  package let plan: Plan
  private let folder: RunFolder
  let manifestPath: String
  let found: ResumedRun
  let history: RunModel
  private let recovery: JournalRecovery
  /// What is to be told before anything starts.
  package let warnings: [String]
  private let request: ResumeRequest
  let decision: ResumeDecision
  private let entry: ResumeEntry
  private let named: TaskSet?
  private let takesOver: Bool
  /// Of the drive that this one goes on with.
  private let lostParallel: UInt32?
  private var secrets: [SecretValue] = []
  /// Services that are up and defined as they were, by their numbers in the plan.
  private let unchanged: [TaskID: HeldService]

  /// - Parameter held: services that are up in the hands of this process.
  package init(
    _ found: ResumedRun, _ asked: RunRequest, holding held: HeldServices? = nil
  ) throws(PreparationError) {
    try self.init(deciding: found, asked, held)
    let remade = additionsToRemake(asked)
    // What was added behind it may need it by name: then it stays, and what adds it says what is wrong.
    guard !remade.isEmpty, let rest = try? found.without(remade, asked) else { return }
    try self.init(deciding: rest, asked, held)
  }

  private init(
    deciding found: ResumedRun, _ asked: RunRequest, _ held: HeldServices?
  ) throws(PreparationError) {
    self.found = found
    takesOver = asked.takesOver
    plan = found.plan
    folder = found.folder
    manifestPath = found.manifestPath
    (history, recovery) = try found.read()
    let plan = plan

    let only = asked.only.isEmpty ? try Self.remaining(of: history.only, plan) : asked.only
    let skip = asked.skip.isEmpty ? RunScope.fitting(history.skip, plan) : asked.skip
    let tasks = try Self.remaining(of: history.tasks, plan)
    let scope = RunScope.of(history, plan)
    var request = try Self.request(
      tasks: tasks, only: only, skip: skip, scope: asked.only.isEmpty ? scope : nil,
      rerun: asked.rerun, mayBeIdle: history.openness != .ordinary, plan)
    request.keepsEnds = try Self.goesOn(folder, history, asked)
    if let selected = request.selected {
      request.scope = scope
      request.scope?.formUnion(selected)
    }
    do throws(SelectionError) {
      request.arguments = try TaskArguments(
        history.open?.arguments ?? [], of: history.tasks, in: plan)
    } catch {
      throw .selection(error)
    }
    request.added = found.added
    request.runSkip = RunScope.skipped(by: history, plan)
    request.outputMissing = MissingOutputs.find(plan, history)
    if !found.withoutLegs.isEmpty {
      var makers = TaskSet(taskCount: plan.taskCount)
      for name in found.withoutLegs {
        if let maker = plan.task(named: name) { makers.insert(maker) }
      }
      request.withoutLegs = makers
    }
    named =
      plan.hasServices ? RunScope.named(by: history, only: only, skip: skip, plan) : nil
    if plan.hasServices {
      let standing = RunScope.standing(named, selected: request.selected, plan)
      request.namedServices = standing
      if asked.watches { request.standing = standing }
    }
    unchanged = held?.unchanged(in: plan) ?? [:]
    if !unchanged.isEmpty {
      var services = TaskSet(taskCount: plan.taskCount)
      for (service, held) in unchanged
      where history[service].isReady && history[service].attempts == held.attempt {
        services.insert(service)
      }
      request.held = services
    }
    let values = KeptValues(folder, plan, history)
    request.values = values.withTexts()
    decision = ResumeDecision.heedingValues(plan: plan, history: history, request: &request) {
      values.areThere($0)
    }
    self.request = request

    var entry = ResumeEntry(planKey: plan.key.description, opflowVersion: Version.text)
    entry.set = ResumedRun.set(asked, history.set)
    entry.only = only
    entry.skip = skip
    entry.environment = found.environment
    entry.files = found.files
    lostParallel = history.isContinued(by: request) ? history.maxParallel(plan) : nil
    entry.limits = SchedulerOptions(asked.limited(to: lostParallel), plan, history.openness)
      .limits(of: plan)
    entry.on = asked.on.map(\.text)
    entry.trace = DriveTrace.parent
    entry.continues = history.isContinued(by: request)
    if found.isGrown { entry.taskCount = plan.taskCount }
    entry.dropped = found.dropped?.orders.sorted() ?? []
    decision.complete(&entry)
    self.entry = entry
    let renamed = found.renamed
    warnings =
      found.warnings + (renamed?.warnings ?? [])
      + Self.warnings(
        folder, recovery,
        removed: decision.removed.filter {
          renamed?.contains($0) != true && !found.addsAnew($0)
        })
      + Self.changedFiles(FileEntry.changed(from: history.files, to: found.files))
  }

  /// Whether programs have the run as their queue that were told what its tasks have come to.
  private static func goesOn(
    _ folder: RunFolder, _ history: RunModel, _ asked: RunRequest
  ) throws(PreparationError) -> Bool {
    guard asked.isForQueue, history.close == nil else { return false }
    do throws(RunFolderError) {
      return try HostsLock.isHeld(folder)
    } catch {
      throw .folder(error)
    }
  }

  /// Sees whether this machine has the GPUs that its tasks want.
  package func expectDevices(_ asked: RunRequest) throws(PreparationError) {
    try PreparationError.expectDevices(of: plan, usesSites: !asked.on.isEmpty, initial)
  }

  /// Sees whether `memory_limit` of its tasks can be kept, where the run is not to go on else.
  package func expectMemoryLimits(_ asked: RunRequest) throws(PreparationError) {
    if asked.memory == .enforce { try MemoryLimits.expect(plan) }
  }

  /// The runs of which one is to be live at a time.
  package func group(_ asked: RunRequest) -> RunGroup {
    RunGroup(
      plan.concurrency, manifest: manifestPath, in: StateFolder(holding: folder),
      asked: asked.ifRunning)
  }

  /// Services that are up and stay so, each behind those that it needs.
  private var staying: [(service: TaskID, held: HeldService)] {
    plan.topologicalOrder.compactMap { index in
      guard decision[TaskID(index)] == .stay, let held = unchanged[TaskID(index)] else {
        return nil
      }
      return (TaskID(index), held)
    }
  }

  /// The same by their numbers in the plan of the drive that started them.
  package var stayingBefore: Set<TaskID> { Set(staying.map(\.held.service)) }

  var runFolder: RunFolder { folder }
  /// What the plan was compiled from, as the journal keeps it.
  var files: [String] { entry.files }

  /// How each task enters the scheduler. Made on demand, as all that follows: a resume that finds
  /// nothing to run does without.
  package var initial: [InitialState] { decision.initialStates(request) }

  /// How its tasks enter the engine, but for how long they take.
  package var entering: Entering {
    var entering = Entering(
      initial: initial, attempts: plan.tasks.map { history[TaskID($0)].attempts },
      owesFinally: decision.owesFinally)
    entering.attemptsOfRemoved = history.attemptsOfRemoved
    entering.ranBefore = history.hasStarts
    entering.values = request.values
    entering.arguments = request.arguments
    entering.priorities = history.orders.priorities
    entering.orders = history.orders.counts
    entering.standing = history.standing(plan, for: request)
    entering.triesUsed = history.triesUsed(plan, for: request, at: Clock.wallMilliseconds)
    entering.approved = decision.approved(plan, history, request)
    entering.results = decision.results(history)
    entering.origins = history.origins
    entering.asked = request.rerun
    entering.named = named
    entering.openness = history.openness
    entering.held = staying.enumerated().map { number, entry in
      HeldService(
        service: entry.service, worker: WorkerID(Int32(truncatingIfNeeded: number)),
        attempt: entry.held.attempt, ports: entry.held.ports)
    }
    return entering
  }

  /// Where the run's state folder is.
  package var statePath: String { StateFolder(holding: folder).path }

  /// What earlier runs, this one among them, tell of how long tasks take.
  package var durations: TaskDurations {
    StateFolder(holding: folder).durations(ofManifest: manifestPath, plan: plan)
  }

  /// Why tasks run again.
  package var reasons: [Transition] { decision.transitions }

  /// What is journaled first.
  private var opening: [JournalEntry] {
    [.resume(entry)] + decision.transitions.map { .transition($0) }
  }

  /// The exit code of a run that came to its end and in which nothing would change; nil for others. One
  /// that was stopped when all was done but its end has that before it, and so has one whose failures
  /// were of tasks that the manifest has no more.
  package var nothingToDo: Int32? {
    guard let close = history.close, close.state == .succeeded || close.state == .failed,
      !decision.startsAnything, decision.failCount == 0, decision.transitions.isEmpty,
      decision.runCount == 0, decision.checkCount == 0
    else { return nil }
    return close.state == .failed && !hasFailures ? nil : close.exitCode
  }

  /// Whether a task stays failed.
  private var hasFailures: Bool {
    plan.tasks.contains {
      switch decision[TaskID($0)] {
      case .keep(.failed, _), .leave(.failed, _): true
      case .keep, .leave, .outside, .check, .later, .run, .fail, .stay: false
      }
    }
  }

  /// Tasks that stay failed until somebody asks for them.
  package var keptFailures: [TaskID] {
    guard decision.keepsFailures else { return [] }
    return plan.tasks.lazy.map { TaskID($0) }.filter {
      if case .keep(.failed, _) = decision[$0] { true } else { false }
    }
  }

  /// Where its tasks ran beside this machine in the drive before, as that was given.
  package var on: [String] { history.on }

  /// As the journal has it so far.
  package var state: RunState { history.close?.state ?? .interrupted }

  /// Takes the values of the secrets that its tasks need: they are nowhere since the drive before.
  ///
  /// - Parameter complain: gets what the commands wrote to standard error that print them.
  /// - Throws: those that cannot be had, where tasks list them.
  package mutating func takeSecrets(
    _ asked: RunRequest, _ complain: (String) -> Void
  ) throws(PreparationError) {
    guard plan.hasSecrets else { return }
    do throws(SecretFaults) {
      secrets = try SecretTaking.take(plan, initial, copies: found.copies, complain: complain)
    } catch {
      var asked = asked
      asked.set = found.set
      throw try found.manifest().mistakes(error, runID: folder.id.description, asked)
    }
    try asked.expectNoSecret(secrets)
  }

  /// Whether the workers of what stays up know all that is to be masked.
  package func fits(_ passed: PassedServices) -> Bool { passed.know(secrets) }

  /// What is to be said of secrets that a resume would miss; nil where it would miss none.
  package var missingSecrets: String? {
    plan.hasSecrets ? SecretFaults.warning(SecretTaking.missing(plan, initial)) : nil
  }

  /// Sees whether none of its tasks runs this process.
  package func expectNotAround() throws(PreparationError) {
    try PreparationError.expectNotAround(plan, of: manifestPath, initial)
  }

  /// Sees whether there is a terminal, where tasks need one.
  ///
  /// - Throws: the places of those tasks, where there is none.
  package func expectTerminal(_ asked: RunRequest) throws(PreparationError) {
    let tasks = MissingTerminal.tasks(of: plan, initial)
    if tasks.isEmpty { return }
    var asked = asked
    asked.set = found.set
    throw try found.manifest().mistakes(
      withoutTerminal: tasks, runID: folder.id.description, asked)
  }

  /// Makes the run ready to go on, with the lock that was taken before it was read: what an earlier
  /// drive left running is ended, and the journal is mended.
  ///
  /// - Parameter passed: what the drive before left up, in this process: it has left nothing else.
  package func begin(
    holding lock: consuming RunFolderLock, passed: PassedServices? = nil
  ) throws(PreparationError) -> PreparedDrive {
    let (folder, found) = (folder, found)
    passed?.end(but: stayingBefore)
    let kept = passed?.isEmpty == false ? passed : nil
    try withFolder { () throws(RunFolderError) in try found.write() }
    // So that no task runs beside its own orphan. What a run that this one is a copy of drives now is
    // that one's, and a drive that passed services on was ended as any other but for these.
    let isCopyOfLive = found.original.flatMap { try? RunFolderLock.isHeld($0) } ?? false
    let mayHaveLeft = !isCopyOfLive && passed == nil
    let left = mayHaveLeft ? try awaitOtherMachines() : []
    let survivors =
      mayHaveLeft
      ? Orphans.end(
        run: folder.id.description, workersLock: folder.workersLock, workers: history.workers,
        freesNumbers: plan.hasServices)
      : []
    guard survivors.isEmpty || takesOver else { throw .survivors(survivors) }
    if mayHaveLeft { TaskFolder.removeLeft(run: folder.id.description) }
    let (repair, encoder) = (recovery.repair, history.encoder)
    let journal = try withFolder { () throws(RunFolderError) in
      try folder.makeLogs()
      return try JournalFile.reopen(folder.journal, repair: repair)
    }
    // Where lines are lost, one of them may have told of an addition.
    if recovery.isIntact || recovery.isOnlyTorn {
      folder.removeAdded(but: Set(history.extensions.map(\.id.text)))
    }
    let unremoved = KeptValues(folder, plan, history).removeOthers()
    var drive = PreparedDrive(
      folder, plan, entering: entering, manifestPath: manifestPath,
      trace: DriveTrace(
        found.open, openedMilliseconds: history.openedMilliseconds, parent: entry.trace),
      journal: journal,
      encoder: encoder, lock: lock)
    drive.isResumed = true
    if history.isContinued(by: request) { drive.orders = history.orders }
    drive.maxParallel = lostParallel
    drive.passed = kept
    drive.takenOver = staying
    drive.secrets = secrets
    drive.opening = opening
    drive.warnings = warnings
    if let unremoved {
      drive.warnings.append(
        "what lost tasks left in \(folder.values) cannot be removed: \(unremoved)")
    }
    if let left, !left.isEmpty {
      drive.warnings.append(
        "workers of an earlier drive may still run on \(left.joined(separator: ", ")): taken for gone"
      )
    }
    for survivor in survivors {
      drive.warnings.append("process \(survivor.title) of an earlier session may still run")
    }
    if left == nil {
      for machine in Orphans.machinesBeyondReach(of: history.workers) {
        drive.warnings.append(
          "an earlier drive had workers on \(machine), which cannot be looked at from here")
      }
    }
    return drive
  }

  /// The agents of an earlier drive that did not come to its end, and their workers.
  ///
  /// - Returns: the machines that may have some still, and are gone by the word of a person; nil where nothing says
  ///   how long any may stay, so that none was waited for.
  private func awaitOtherMachines() throws(PreparationError) -> [String]? {
    guard history.close == nil else { return [] }
    let sites = history.sites.of(drive: history.drives).filter { $0.state != .lost }
    let lease = sites.map(\.offer.leaseMilliseconds).max()
    if lease == nil, !takesOver { return nil }
    let haveLeft = Orphans.waitForWorkersElsewhere(
      workersLock: folder.workersLock, leaseMilliseconds: lease ?? 0)
    if haveLeft { return [] }
    // The coordinator's own machine had workers, too.
    let hosts = Set(sites.map(\.offer.host) + Orphans.machinesBeyondReach(of: history.workers))
    guard takesOver else { throw .workersElsewhere(hosts.sorted()) }
    // Else each further resume would find their lock.
    let path = folder.workersLock
    try withFolder { () throws(RunFolderError) in
      try doing("remove", path) { () throws(Errno) in try Path.removeIfThere(path) }
    }
    return hosts.sorted().map { CleanText.string($0) }
  }

  private static func remaining(
    of selectors: [String], _ plan: Plan
  ) throws(PreparationError) -> [String] {
    do throws(SelectionError) {
      return try RunScope.remaining(of: selectors, plan)
    } catch {
      throw .selection(error)
    }
  }

  private static func request(
    tasks: [String], only: [String], skip: [String], scope: TaskSet?, rerun: [String],
    mayBeIdle: Bool, _ plan: Plan
  ) throws(PreparationError) -> ResumeRequest {
    do throws(SelectionError) {
      var request = ResumeRequest()
      let selection = try Selection(tasks: tasks, only: only, skip: skip, of: plan)
      if !mayBeIdle || !(tasks + only + skip).isEmpty {
        try selection.expectSomething(of: plan)
      }
      // What an earlier resume named besides is part of the run by now.
      if !only.isEmpty || !tasks.isEmpty || plan.hasManual {
        request.selected = scope ?? selection.included
      }
      request.finallyFollowsNeeds = !tasks.isEmpty
      if !skip.isEmpty { request.skip = selection.skipped }
      request.namedFinally = selection.namedFinally
      if !rerun.isEmpty {
        let asked = try Selection.tasks("--rerun", rerun, plan)
        let runs = plan.tasks.lazy.map { TaskID($0) }.contains {
          asked.contains($0) && request.selects($0) && !request.skips($0)
        }
        guard runs else {
          throw SelectionError.rerunLeftOut
        }
        request.rerun = asked
      }
      return request
    } catch {
      throw .selection(error)
    }
  }

  private static func changedFiles(_ paths: [String]) -> [String] {
    if paths.isEmpty { return [] }
    let names = paths.prefix(5).map(CleanText.string).joined(separator: ", ")
    let more = paths.count > 5 ? " and \(paths.count - 5) more" : ""
    return ["changed since the run was driven last: \(names)\(more)"]
  }

  private static func warnings(
    _ folder: RunFolder, _ recovery: JournalRecovery, removed: [String]
  ) -> [String] {
    var warnings = recovery.warnings(path: folder.journal)
    if !removed.isEmpty {
      let names = removed.prefix(5).joined(separator: ", ")
      let more = removed.count > 5 ? " and \(removed.count - 5) more" : ""
      warnings.append("no longer in the manifest: \(names)\(more)")
    }
    return warnings
  }
}
