package import OpflowBase
internal import OpflowEngine
package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem
package import OpflowViews
internal import OpflowWorker

/// A session that is ready to begin: folder, plan and journal exist, and this process holds the
/// run's lock until the session has ended.
package struct PreparedSession: ~Copyable {
  package let folder: RunFolder
  package let plan: Plan
  private let resumeState: ResumeState
  package var initial: [InitialState] { resumeState.initial }
  package internal(set) var isResumed = false
  /// Requests of the session that this one continues.
  package internal(set) var orders = RequestRecords()
  /// The `cpu` capacity of that session at its end; nil to use the request's.
  var maxParallel: UInt32?
  var warnings: [String] = []
  /// Secrets that tasks may read and that are masked in all output.
  package var secrets: [SecretValue] = []
  var opening: [JournalEntry] = []
  /// Services that the previous session left up; then those that this one takes over.
  var passed: PassedServices?
  var takenOver: [(service: TaskID, held: HeldService)] = []
  /// The launcher of this machine, if a worker was started ahead.
  private var workers: (watch: EventLoop, launcher: LocalLauncher)?
  let manifestPath: String
  private let trace: SessionTrace
  private let journal: JournalFile
  private let encoder: JournalEncoder
  private let lock: RunFolderLock

  init(
    _ folder: RunFolder, _ plan: Plan, resumeState: ResumeState, manifestPath: String,
    trace: SessionTrace, journal: consuming JournalFile, encoder: JournalEncoder,
    lock: consuming RunFolderLock
  ) {
    self.folder = folder
    self.plan = plan
    self.resumeState = resumeState
    self.manifestPath = manifestPath
    self.trace = trace
    self.journal = journal
    self.encoder = encoder
    self.lock = lock
  }

  /// The runs of its manifest.
  package var manifestRuns: ManifestRuns {
    ManifestRuns(
      state: StateFolder(holding: folder), path: manifestPath, keep: Int(plan.manifest.keepRuns))
  }

  /// Checks the preconditions of every run. Call it before creating one.
  package static func expectMeans() throws(PreparationError) {
    if let obstacle = ProcessStatus.obstacle { throw .noProcesses(obstacle) }
    try rethrowing(Descriptor.expectFree(leastDescriptors)) {
      PreparationError.noDescriptors(leastDescriptors, $0)
    }
  }

  /// For a run with one worker: journal, lock, socket, epoll, signals and the worker's pipes.
  private static let leastDescriptors = 15

  /// Environment variables for workers: trace context and enclosing runs.
  private var variables: [String] {
    trace.variables + RunsAround.here.variables(with: folder.id.description)
      + TasksAround.here.variables(of: manifestPath, plan.key)
  }

  /// Drives the run to its end with workers of this machine.
  ///
  /// - Parameter serving: Ends staying services when files change; nil if only a user ends them.
  package consuming func perform(
    _ asked: RunRequest, progress: ProgressOptions, heading: ProgressHeading,
    serving: ServingWatch? = nil
  ) throws(CoordinatorError) -> SessionResult {
    if let passed {
      let numbers = takenOver.map(\.held.worker)
      let links = passed.takeOver(takenOver)
      let watch = try Self.settingUp { () throws(Errno) in
        let watch = try EventLoop()
        try passed.launcher.goOn(
          watch, variables: variables, arguments: resumeState.arguments,
          with: Array(zip(links, numbers)))
        return watch
      }
      return try perform(
        asked, progress: progress, heading: heading, serving: serving, links,
        by: (watch, passed.launcher))
    }
    let workers =
      if let workers { workers } else {
        try Self.settingUp { () throws(Errno) in try makeWorkers() }
      }
    return try perform(
      asked, progress: progress, heading: heading, serving: serving, [], by: workers)
  }

  /// Adds messages to show before anything starts.
  package mutating func warn(_ texts: [String]) { warnings += texts }

  /// Starts a worker while the rest is prepared, if the first task needs one at once: that saves a
  /// twentieth of a short run.
  mutating func startEarly(_ asked: RunRequest) {
    guard asked.on.isEmpty, plan.beginsWithCommand(initial) else { return }
    // An error is ignored here and reported by the next attempt.
    workers = try? makeWorkers()
    workers?.launcher.startEarly()
  }

  private mutating func makeWorkers() throws(Errno) -> (watch: EventLoop, launcher: LocalLauncher) {
    // From here on there is a worker to end: signals are handled once the session has begun.
    try Coordinator.watchedSignals().block()
    let watch = try EventLoop()
    // Workers share the file only if it exists. An error shows in `checkRecords`.
    if plan.declaresFiles { _ = try? RecordBook(state: StateFolder(holding: folder).path) }
    var delegation = MemoryLimits.begin(plan) { warnings.append($0) }
    let launcher = try LocalLauncher(
      node: 0, watch: watch, folder: folder, runID: folder.id.description,
      complaints: folder.workerLog, variables: variables, arguments: resumeState.arguments,
      delegation: delegation.take())
    return (watch, launcher)
  }

  private static func settingUp<Result>(
    _ body: () throws(Errno) -> Result
  ) throws(CoordinatorError) -> Result {
    try rethrowing(body()) { CoordinatorError("cannot set up the run", $0) }
  }

  private consuming func perform(
    _ asked: RunRequest, progress: ProgressOptions, heading: ProgressHeading,
    serving: ServingWatch?, _ links: [WorkerLink],
    by workers: (watch: EventLoop, launcher: LocalLauncher)
  ) throws(CoordinatorError) -> SessionResult {
    var resumeState = resumeState
    resumeState.run = Hash.xxh3(Array(folder.id.description.utf8))
    resumeState.durations = StateFolder(holding: folder).durations(
      ofManifest: manifestPath, plan: plan, but: isResumed ? nil : folder.id)
    var request = SessionRequest(
      folder: folder, plan: plan, runID: folder.id.description,
      options: SchedulerOptions(asked.limited(to: maxParallel), plan, resumeState.openness),
      durability: asked.durability, resumeState: resumeState, encoder: encoder, opening: opening,
      progress: progress, heading: heading)
    request.warnings = warnings
    request.secrets = secrets
    request.serving = serving
    request.claim = lock.claim(to: folder)
    request.links = links
    request.sharesJobs = asked.maxParallel == nil
    request.controlDescriptor = asked.controlDescriptor
    if !asked.on.isEmpty {
      request.nodes = NodeSettings(
        asked.on, folder: folder, planKey: plan.key.description, variables: variables,
        arguments: resumeState.arguments, queueMilliseconds: asked.queueMilliseconds)
    }
    if plan.hasChecks { try Self.checkRecords(StateFolder(holding: folder).path) }
    let (folder, hasCaches) = (folder, plan.hasCaches)
    let (files, initial) = (files, resumeState.initial)
    if hasCaches {
      request.warnings += folder.write(asked.cache)
      folder.removeStages()
    }
    let lock = lock
    defer { serving?.endSession() }
    let result = try Coordinator.session(
      request, journal: journal, watch: workers.watch, launcher: workers.launcher)
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

  /// Checks the records first, since every worker would fail on them.
  private static func checkRecords(_ state: String) throws(CoordinatorError) {
    _ = try rethrowing(RecordBook(state: state)) {
      CoordinatorError("cannot use \(RecordBook.badPath(in: state))", $0)
    }
  }
}

extension PreparedResume {
  /// For a run with nothing left to do. `path` is nil for the run's own manifest.
  package func watch(_ path: String?) -> ManifestWatch {
    ManifestWatch(
      runFolder, plan, place: ManifestPlace(path ?? manifestPath), files: files, initial: initial)
  }
}

extension PreparedSession {
  /// `path` is nil for the run's own manifest.
  package func watch(_ path: String?) -> ManifestWatch {
    ManifestWatch(
      folder, plan, place: ManifestPlace(path ?? manifestPath), files: files, initial: initial)
  }

  /// Continues the watch of the previous session.
  package func follow(with watch: inout ManifestWatch) { watch.follow(plan, files, initial) }

  var files: [String] {
    var files: [String] = []
    for case .open(let entry) in opening { files = entry.files }
    for case .resume(let entry) in opening { files = entry.files }
    return files
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

  /// Enables memory limits for a session while the result is kept. Calls `warn` if that is
  /// impossible.
  static func begin(_ plan: Plan, warn: (String) -> Void) -> MemoryDelegation? {
    guard plan.hasMemoryLimits else { return nil }
    do throws(MemoryDelegation.Obstacle) {
      return try MemoryDelegation.begin()
    } catch {
      warn("`memory_limit` is not kept: \(error.detail); \(MemoryPolicy.remedy)")
      return nil
    }
  }
}
