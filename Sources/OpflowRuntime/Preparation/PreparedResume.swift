package import OpflowBase
package import OpflowEngine
package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem
internal import OpflowWire
internal import OpflowWorker

/// All decisions of a resume before it changes anything.
package struct PreparedResume: Preparation {
  package let asked: RunRequest
  package let plan: Plan
  private let folder: RunFolder
  package let manifestPath: String
  let found: ResumedRun
  let history: RunModel
  private let recovery: JournalRecovery
  package let warnings: [String]
  private let request: ResumeRequest
  let decision: ResumeDecision
  private let entry: ResumeEntry
  private let options: SchedulerOptions
  private let named: TaskSet?
  package var secrets: [SecretValue] = []
  /// Unchanged services that are up, by their numbers in this plan.
  private let unchanged: [TaskID: HeldService]

  /// - Parameter held: Services that this process keeps up.
  package init(
    _ found: ResumedRun, _ asked: RunRequest, holding held: HeldServices? = nil
  ) throws(PreparationError) {
    try self.init(deciding: found, asked, held)
    let remade = additionsToRemake
    // A later addition may depend on these tasks by name. Then they stay, and the task that adds
    // them reports the error.
    guard !remade.isEmpty, let rest = try? found.without(remade, asked) else { return }
    try self.init(deciding: rest, asked, held)
  }

  private init(
    deciding found: ResumedRun, _ asked: RunRequest, _ held: HeldServices?
  ) throws(PreparationError) {
    self.found = found
    self.asked = asked
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
    request.arguments = try rethrowing(
      TaskArguments(history.open?.arguments ?? [], of: history.tasks, in: plan)
    ) { PreparationError.selection($0) }
    request.added = found.added
    request.runSkip = RunScope.skipped(by: history, plan)
    request.outputMissing = MissingOutputs.find(plan, history)
    if !found.withoutInstances.isEmpty {
      var makers = TaskSet(taskCount: plan.taskCount)
      for name in found.withoutInstances {
        if let maker = plan.task(named: name) { makers.insert(maker) }
      }
      request.withoutInstances = makers
    }
    named = plan.hasServices ? RunScope.named(by: history, only: only, skip: skip, plan) : nil
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
    // The session that this one continues may have changed its `cpu` capacity.
    var limited = asked
    if history.isContinued(by: request), let parallel = history.maxParallel(plan) {
      limited.maxParallel = parallel
    }
    options = SchedulerOptions(limited, plan, history.openness)
    entry.limits = options.limits(of: plan)
    entry.on = asked.on.map(\.text)
    entry.trace = SessionTrace.parent
    entry.continues = history.isContinued(by: request)
    if found.isGrown { entry.taskCount = plan.taskCount }
    entry.dropped = found.droppedRequests.sorted()
    decision.complete(&entry)
    self.entry = entry
    let renamed = found.renamed
    var warnings =
      found.warnings + (renamed?.warnings ?? []) + recovery.warnings(path: folder.journal)
    let removed = decision.removed.filter {
      renamed?.contains($0) != true && !found.addsAnew($0)
    }
    if !removed.isEmpty {
      warnings.append("no longer in the manifest: \(CleanText.list(removed) { $0 })")
    }
    let changed = FileEntry.changed(from: history.files, to: found.files)
    if !changed.isEmpty {
      warnings.append("changed since the last session: \(CleanText.list(changed))")
    }
    self.warnings = warnings
  }

  /// True if clients that use the run as their queue know results of its tasks.
  private static func goesOn(
    _ folder: RunFolder, _ history: RunModel, _ asked: RunRequest
  ) throws(PreparationError) -> Bool {
    guard asked.isForQueue, history.close == nil else { return false }
    return try rethrowing(ClientsLock.isHeld(folder)) { PreparationError.folder($0) }
  }

  /// Services that stay up, dependencies first.
  private var staying: [(service: TaskID, held: HeldService)] {
    plan.topologicalOrder.compactMap { index in
      guard decision[TaskID(index)] == .stay, let held = unchanged[TaskID(index)] else {
        return nil
      }
      return (TaskID(index), held)
    }
  }

  /// The same services, by their numbers in the session that started them.
  package var stayingBefore: Set<TaskID> { Set(staying.map(\.held.service)) }

  var runFolder: RunFolder { folder }
  var files: [String] { entry.files }

  /// Computed on demand, like the rest: a resume without work does not need it.
  package var initial: [InitialState] { decision.initialStates(request) }

  package var resumeState: ResumeState {
    var resumeState = ResumeState(
      initial: initial, attempts: plan.tasks.map { history[TaskID($0)].attempts },
      owesFinally: decision.owesFinally)
    resumeState.attemptsOfRemoved = history.attemptsOfRemoved
    resumeState.ranBefore = history.hasStarts
    resumeState.values = request.values
    resumeState.arguments = request.arguments
    resumeState.priorities = history.requests.priorities
    resumeState.requests = history.requests.counts
    resumeState.standing = history.standing(plan, for: request)
    resumeState.triesUsed = history.triesUsed(plan, for: request, at: Clock.wallMilliseconds)
    resumeState.approved = decision.approved(plan, history, request)
    resumeState.results = decision.results(history)
    resumeState.origins = history.origins
    resumeState.asked = request.rerun
    resumeState.named = named
    resumeState.openness = history.openness
    resumeState.held = staying.enumerated().map { number, entry in
      HeldService(
        service: entry.service, worker: WorkerID(Int32(truncatingIfNeeded: number)),
        attempt: entry.held.attempt, ports: entry.held.ports)
    }
    return resumeState
  }

  package var stateFolder: StateFolder { StateFolder(holding: folder) }
  package var runID: String { folder.id.description }
  package var set: [String] { found.set }
  package var copies: [(name: String, bytes: [UInt8])] { found.copies }
  package func readManifest() throws(PreparationError) -> ManifestFile { try found.manifest() }

  package var reasons: [Transition] { decision.transitions }

  private var opening: [JournalEntry] {
    [.resume(entry)] + decision.transitions.map { .transition($0) }
  }

  /// The exit code of a finished run in which nothing would change. nil also after a stop just
  /// before the end, or if the failed tasks are no longer in the manifest.
  package var nothingToDo: Int32? {
    guard let close = history.close, close.state == .succeeded || close.state == .failed,
      !decision.startsAnything, decision.failCount == 0, decision.transitions.isEmpty,
      decision.runCount == 0, decision.checkCount == 0
    else { return nil }
    return close.state == .failed && !hasFailures ? nil : close.exitCode
  }

  private var hasFailures: Bool {
    plan.tasks.contains {
      switch decision[TaskID($0)] {
      case .keep(.failed, _), .leave(.failed, _): true
      case .keep, .leave, .outside, .check, .later, .run, .fail, .stay: false
      }
    }
  }

  /// Tasks that stay failed until they are requested.
  package var keptFailures: [TaskID] {
    guard decision.keepsFailures else { return [] }
    return plan.tasks.lazy.map { TaskID($0) }.filter {
      if case .keep(.failed, _) = decision[$0] { true } else { false }
    }
  }

  /// The previous session's `--on` options.
  package var on: [String] { history.on }

  package var state: RunState { history.close?.state ?? .interrupted }

  /// True if the workers of staying services know all secrets to mask.
  package func fits(_ passed: PassedServices) -> Bool { passed.know(secrets) }

  /// Ends leftovers of an earlier session and repairs the journal. The caller took the lock before
  /// it read the run.
  ///
  /// - Parameter passed: Services that this process's previous session left up; it left nothing
  ///   else.
  package func begin(
    holding lock: consuming RunFolderLock, passed: PassedServices? = nil
  ) throws(PreparationError) -> PreparedSession {
    let (folder, found) = (folder, found)
    passed?.end(but: stayingBefore)
    let kept = passed?.isEmpty == false ? passed : nil
    try withFolder(found.write())
    // A task must never run beside its own orphan. If the run is a copy of a live run, the
    // processes belong to the original. A session that passed services on has ended its other
    // processes.
    let isCopyOfLive = found.original.flatMap { try? RunFolderLock.isHeld($0) } ?? false
    let mayHaveLeft = !isCopyOfLive && passed == nil
    let left = mayHaveLeft ? try awaitOtherMachines() : []
    let survivors =
      mayHaveLeft
      ? Orphans.end(
        run: folder.id.description, workersLock: folder.workersLock, workers: history.workers,
        left: processesLeft, freesNumbers: plan.hasServices)
      : isCopyOfLive ? [] : Orphans.alive(processesLeft)
    guard survivors.isEmpty || asked.takesOver else { throw .survivors(survivors) }
    if mayHaveLeft {
      SurvivorFiles.remove(folder.path)
      TaskFolder.removeLeft(run: folder.id.description)
    }
    let (repair, encoder) = (recovery.repair, history.encoder)
    try withFolder(folder.makeLogs())
    let journal = try withFolder(JournalFile.reopen(folder.journal, repair: repair))
    // A lost line may have named an addition.
    if recovery.isIntact || recovery.isOnlyTorn {
      folder.removeAdded(but: Set(history.extensions.map(\.id.text)))
    }
    let unremoved = KeptValues(folder, plan, history).removeOthers()
    var session = PreparedSession(
      self, in: folder, options, files: entry.files,
      trace: SessionTrace(
        found.open, openedMilliseconds: history.openedMilliseconds, parent: entry.trace),
      journal: journal, encoder, lock: lock)
    if history.isContinued(by: request) { session.requests = history.requests }
    session.passed = kept
    session.takenOver = staying
    session.request.isResumed = true
    session.request.opening = opening
    session.request.warnings = warnings
    if let unremoved {
      session.request.warnings.append(
        "cannot remove the files of lost tasks in \(folder.values): \(unremoved)")
    }
    if let left, !left.isEmpty {
      session.request.warnings.append(
        "workers of an earlier session may still run on \(left.joined(separator: ", ")); opflow "
          + "treats them as gone")
    }
    for survivor in survivors {
      session.request.warnings.append(
        "process \(survivor.title) of an earlier session may still run")
    }
    if left == nil {
      for machine in Orphans.machinesBeyondReach(of: history.workers) {
        session.request.warnings.append(
          "an earlier session had workers on \(machine), which opflow cannot check from here")
      }
    }
    return session
  }

  private var processesLeft: [WorkerEntry] {
    history.processesLeft + SurvivorFiles.read(folder.path).flatMap(\.processes)
  }

  /// Throws processes that an earlier session could not end and that are alive.
  package func expectNothingLeft() throws(PreparationError) {
    let survivors = asked.takesOver ? [] : Orphans.alive(processesLeft)
    guard survivors.isEmpty else { throw .survivors(survivors) }
  }

  /// Waits for agents and workers of a session that did not end. Returns the machines that may
  /// still have some, which the user declared gone; nil without a known timeout.
  private func awaitOtherMachines() throws(PreparationError) -> [String]? {
    guard history.close == nil else { return [] }
    let nodes = history.nodes.of(session: history.sessions).filter { $0.state != .lost }
    let lease = nodes.map(\.offer.leaseMilliseconds).max()
    if lease == nil, !asked.takesOver { return nil }
    let haveLeft = Orphans.waitForWorkersElsewhere(
      workersLock: folder.workersLock, leaseMilliseconds: lease ?? 0)
    if haveLeft { return [] }
    // The coordinator's own machine had workers, too.
    let hosts = Set(nodes.map(\.host) + Orphans.machinesBeyondReach(of: history.workers))
    guard asked.takesOver else { throw .workersElsewhere(hosts.sorted()) }
    // Every further resume would find the lock.
    let path = folder.workersLock
    try withFolder(doing("remove", path, Path.removeIfThere(path)))
    return hosts.sorted().map { CleanText.string($0) }
  }

  private static func remaining(
    of selectors: [String], _ plan: Plan
  ) throws(PreparationError) -> [String] {
    try rethrowing(RunScope.remaining(of: selectors, plan)) { PreparationError.selection($0) }
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
      // Tasks that an earlier resume named are part of the run.
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
}

extension PreparedResume {
  /// True if a task of the last plan is left out because the task that added it runs again.
  package func addsAnew(_ name: String) -> Bool { found.addsAnew(name) }

  private var additionsToRemake: AdditionsToRemake {
    AdditionsToRemake(of: plan, found.additions, history, decision) { foresight(of: $0) }
  }

  private func foresight(of tasks: Set<TaskID>) -> (TaskID) -> AdditionsToRemake.Foresight {
    // Without records of earlier successes, no prediction is possible.
    guard let look = try? PlanScan(plan, state: stateFolder.path, cache: asked.cache) else {
      return { _ in .unknown }
    }
    var wanted = TaskSet(taskCount: plan.taskCount)
    for task in tasks { wanted.insert(task) }
    wanted.addNeeds(of: plan)
    let forecast = RunForecast(
      plan: plan, options: SchedulerOptions(asked, plan, history.openness), resumeState: resumeState
    ) { check, before in wanted.contains(check.task) ? look.foresee(check, before) : .unsure }
    let starts = Set(forecast.starts)
    return { task in
      if forecast.files.unsure[task] != nil { return .unknown }
      return starts.contains(task) ? .starts : .staysDone
    }
  }
}

/// Values that tasks left in earlier sessions. The journal has only hashes: the files are not
/// synced, so a power failure may have destroyed them.
struct KeptValues {
  private let plan: Plan
  private let folder: RunFolder
  private let left: [TaskID: ValueSet]
  private let isDone: (TaskID) -> Bool

  init(_ folder: RunFolder, _ plan: Plan, _ history: RunModel) {
    self.plan = plan
    self.folder = folder
    left = history.values.left
    isDone = { history[$0].state.holdsValues }
  }

  /// Includes the existing strings that an `if` may read.
  func withTexts() -> [TaskID: ValueSet] {
    var values = left
    for task in left.keys where plan.flags(task).contains(.decidesOthers) {
      guard let set = left[task] else { continue }
      values[task]?.values = set.values.compactMap { value in
        read(value, of: task, set.attempt).map {
          TaskValue(name: value.name, text: $0, keepsText: true)
        }
      }
    }
    return values
  }

  func areThere(_ task: TaskID) -> Bool {
    guard let set = left[task] else { return true }
    return set.values.allSatisfy { read($0, of: task, set.attempt) != nil }
  }

  /// Removes leftover values of unsuccessful attempts.
  func removeOthers() -> Errno? {
    let names = left.filter { plan.flags($0.key).contains(.leavesValues) && isDone($0.key) }
      .map { ValueFolder.name(of: plan.nameBytes($0.key), attempt: $0.value.attempt) }
    do throws(Errno) {
      try LeftValues(folder: folder.values).removeAll(but: Set(names))
      return nil
    } catch {
      return error
    }
  }

  private func read(_ value: TaskValue, of task: TaskID, _ attempt: Int32) -> [UInt8]? {
    let name = ValueFolder.name(of: plan.nameBytes(task), attempt: attempt)
    let path = "\(folder.values)/\(name)/\(value.name)"
    guard let file = try? File.openRegular(path, .readOnly),
      let bytes = try? file.readAll(atMost: ValueRules.longestBytes + 2)
    else { return nil }
    let text = ValueRules.value(ofFile: bytes)
    return Hash.xxh3(text) == value.hash ? text : nil
  }
}

struct MissingOutputs {
  private let network: NetworkFiles
  /// Folders listed again, once each: listing is expensive on a file server.
  private var refreshed: Set<String> = []

  /// Returns finished downloads without `to`, and successful tasks without content checks that lack
  /// an output; nil for none.
  static func find(
    _ plan: Plan, _ history: RunModel, network: NetworkFiles = NetworkFiles()
  ) -> TaskSet? {
    var outputs = MissingOutputs(network: network)
    var missing = TaskSet(taskCount: plan.taskCount)
    for task in plan.downloadTasks where history[task].state.isTerminal {
      let target = String(decoding: plan.downloadTarget(task), as: UTF8.self)
      if outputs.areMissing(at: target) { missing.insert(task) }
    }
    if plan.declaresFiles {
      let folders = FolderMemory(network: network)
      for number in plan.tasks {
        let task = TaskID(number)
        guard plan.declaresOutputs(task), !plan.isChecked(task), history[task].state == .succeeded
        else { continue }
        if outputs.areMissing(of: task, plan, folders) { missing.insert(task) }
      }
    }
    return missing.isEmpty ? nil : missing
  }

  private mutating func areMissing(of task: TaskID, _ plan: Plan, _ folders: FolderMemory) -> Bool {
    let folder = plan.string(plan.record(task).directory)
    return plan.outputs(of: task).contains { output in
      switch output {
      case .path(let path):
        return areMissing(
          at: path.hasPrefix("/") ? path : folder + "/" + path, followingLinks: false)
      case .glob(let pattern):
        guard
          case .success(let names) = FileNames.fitting(
            pattern, in: folder, folders: folders, keepsLinks: true)
        else { return false }
        return names.isEmpty
      }
    }
  }

  /// A path that cannot be checked, for example without permission, is not missing.
  private mutating func areMissing(at path: String, followingLinks: Bool = true) -> Bool {
    if !Self.isUnseen(path, followingLinks: followingLinks) { return false }
    let folder = Path.parent(of: path)
    guard refreshed.insert(folder).inserted, network.have(folder: folder) else { return true }
    NetworkFiles.refresh(folder: folder)
    return Self.isUnseen(path, followingLinks: followingLinks)
  }

  private static func isUnseen(_ path: String, followingLinks: Bool) -> Bool {
    do throws(Errno) {
      _ = followingLinks ? try Path.status(path) : try Path.linkStatus(path)
      return false
    } catch {
      return error == .noSuchFile || error == .notADirectory
    }
  }
}
