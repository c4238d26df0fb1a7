internal import OpflowBase
internal import OpflowEngine
package import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
package import OpflowViews
internal import OpflowWorker

/// A session that is ready to begin: folder, plan and journal exist, and this process holds the
/// run's lock until the session ends.
package struct PreparedSession: ~Copyable {
  package var request: SessionRequest
  private let asked: RunRequest
  private let manifestPath: String
  /// The manifest's files in the journal's format.
  private let files: [String]
  /// Requests of the session that this one continues.
  package internal(set) var requests = RequestRecords()
  /// Services that the previous session left up; then those that this session takes over.
  var passed: PassedServices?
  var takenOver: [(service: TaskID, held: HeldService)] = []
  /// This machine's launcher, if a worker was started early.
  private var workers: Workers?
  private let trace: SessionTrace
  private let journal: JournalFile
  private let lock: RunFolderLock

  private typealias Workers = (watch: EventLoop, launcher: LocalLauncher)

  init(
    _ prepared: some Preparation, in folder: RunFolder, _ options: SchedulerOptions,
    files: [String], trace: SessionTrace, journal: consuming JournalFile,
    _ encoder: JournalEncoder, lock: consuming RunFolderLock
  ) {
    asked = prepared.asked
    request = SessionRequest(
      folder: folder, plan: prepared.plan, options: options, durability: asked.durability,
      resumeState: prepared.resumeState, encoder: encoder, secrets: prepared.secrets,
      sharesJobs: asked.maxParallel == nil, controlDescriptor: asked.controlDescriptor)
    manifestPath = prepared.manifestPath
    self.files = files
    self.trace = trace
    self.journal = journal
    self.lock = lock
  }

  package var manifestRuns: ManifestRuns {
    ManifestRuns(
      state: StateFolder(holding: request.folder), path: manifestPath,
      keep: Int(request.plan.manifest.keepRuns))
  }

  /// Checks the preconditions of every run, before it is created.
  package static func expectMeans() throws(PreparationError) {
    if let obstacle = ProcessStatus.obstacle { throw .noProcesses(obstacle) }
    try rethrowing(Descriptor.expectFree(leastDescriptors)) {
      PreparationError.noDescriptors(leastDescriptors, $0)
    }
  }

  /// A run with one worker needs journal, lock, socket, epoll, signals and the worker's pipes.
  private static let leastDescriptors = 15

  private var variables: [String] {
    trace.variables + RunsAround.here.variables(with: request.folder.id.description)
      + TasksAround.here.variables(of: manifestPath, request.plan.key)
  }

  /// Starts a worker early if the first task needs one at once: that saves a twentieth of a short
  /// run.
  mutating func startEarly() {
    guard asked.on.isEmpty, request.plan.beginsWithCommand(request.resumeState.initial)
    else { return }
    // The next attempt reports an error.
    workers = try? makeWorkers()
    workers?.launcher.startEarly()
  }

  /// Takes early workers, workers that the previous session left, or new ones.
  private mutating func takeWorkers() throws(Errno) -> Workers {
    if let workers { return workers }
    guard let passed else { return try makeWorkers() }
    let numbers = takenOver.map(\.held.worker)
    request.links = passed.takeOver(takenOver)
    let watch = try EventLoop()
    try passed.launcher.goOn(
      watch, variables: variables, arguments: request.resumeState.arguments,
      with: Array(zip(request.links, numbers)))
    return (watch, passed.launcher)
  }

  private mutating func makeWorkers() throws(Errno) -> Workers {
    let (folder, plan) = (request.folder, request.plan)
    // From here on there is a worker to end: signals are handled once the session has begun.
    try Coordinator.watchedSignals().block()
    let watch = try EventLoop()
    // Workers share the file only if it exists. `checkRecords` reports an error.
    if plan.declaresFiles { _ = try? RecordBook(state: StateFolder(holding: folder).path) }
    var delegation = MemoryLimits.begin(plan) { request.warnings.append($0) }
    let launcher = try LocalLauncher(
      node: 0, watch: watch, folder: folder, runID: folder.id.description,
      complaints: folder.workerLog, variables: variables,
      arguments: request.resumeState.arguments, delegation: delegation.take())
    return (watch, launcher)
  }

  /// Runs the session to its end with workers of this machine.
  ///
  /// - Parameter serving: Ends staying services when files change; nil if only the user ends them.
  package consuming func perform(
    progress: ProgressOptions, heading: ProgressHeading, serving: ServingWatch? = nil
  ) throws(CoordinatorError) -> SessionResult {
    let workers = try rethrowing(takeWorkers()) { CoordinatorError("cannot set up the run", $0) }
    var request = request
    let (folder, plan) = (request.folder, request.plan)
    let state = StateFolder(holding: folder)
    request.resumeState.run = Hash.xxh3(Array(folder.id.description.utf8))
    request.resumeState.durations = state.durations(
      ofManifest: manifestPath, plan: plan, but: request.isResumed ? nil : folder.id)
    request.serving = serving
    request.claim = lock.claim(to: folder)
    if !asked.on.isEmpty {
      request.nodes = NodeSettings(
        asked.on, folder: folder, planKey: plan.key.description, variables: variables,
        arguments: request.resumeState.arguments, queueMilliseconds: asked.queueMilliseconds)
    }
    if plan.hasChecks { try Self.checkRecords(state.path) }
    let hasCaches = plan.hasCaches
    let (files, initial) = (files, request.resumeState.initial)
    if hasCaches {
      request.warnings += folder.write(asked.cache)
      folder.removeStages()
    }
    let lock = lock
    defer { serving?.endSession() }
    let result = try Coordinator.session(
      request, progress, heading, journal: journal, watch: workers.watch,
      launcher: workers.launcher)
    if hasCaches { folder.removeStages() }
    let added = result.plan.taskCount - initial.count
    if let serving, added > 0 {
      serving.grown = (result.plan, files, initial + repeatElement(.run, count: added))
    }
    if let serving, !result.passed.isEmpty {
      serving.passed = PassedServices(
        HeldServices(plan: result.plan, services: result.passed.map(\.0)),
        Dictionary(uniqueKeysWithValues: result.passed.map { ($0.0.service, $0.1) }),
        workers.launcher, lock: lock)
    } else {
      _ = consume lock
    }
    return result
  }

  /// Every worker would fail on unusable records.
  private static func checkRecords(_ state: String) throws(CoordinatorError) {
    _ = try rethrowing(RecordBook(state: state)) {
      CoordinatorError("cannot use \(RecordBook.badPath(in: state))", $0)
    }
  }
}

extension PreparedResume {
  /// Watches a run that has finished. `path` is nil for the run's own manifest.
  package func watch(_ path: String?) -> ManifestWatch {
    ManifestWatch(
      runFolder, plan, place: ManifestPlace(path ?? manifestPath), files: files, initial: initial)
  }
}

extension PreparedSession {
  package func watch(_ path: String?) -> ManifestWatch {
    ManifestWatch(
      request.folder, request.plan, place: ManifestPlace(path ?? manifestPath),
      files: files, initial: request.resumeState.initial)
  }

  package func follow(with watch: inout ManifestWatch) {
    watch.follow(request.plan, files, request.resumeState.initial)
  }
}

enum MemoryLimits {
  static func expect(_ plan: Plan) throws(PreparationError) {
    guard plan.hasMemoryLimits else { return }
    do throws(MemoryDelegation.Obstacle) {
      _ = try MemoryDelegation.begin()
    } catch {
      throw .noMemoryLimits(error.detail)
    }
  }

  /// Enables memory limits while the result is kept, or calls `warn`.
  static func begin(_ plan: Plan, warn: (String) -> Void) -> MemoryDelegation? {
    guard plan.hasMemoryLimits else { return nil }
    do throws(MemoryDelegation.Obstacle) {
      return try MemoryDelegation.begin()
    } catch {
      warn("`memory_limit` is not enforced: \(error.detail); \(MemoryPolicy.remedy)")
      return nil
    }
  }
}
