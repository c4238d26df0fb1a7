package import OpflowCore
internal import OpflowSystem
internal import OpflowWorker

/// A drive of a run, new or further, that can begin: the run's folder, plan and journal are there, and
/// this process holds its lock until the drive has ended.
package struct PreparedDrive: ~Copyable {
  package let folder: RunFolder
  package let plan: Plan
  /// How its tasks enter the engine.
  private let entering: Entering
  package var initial: [InitialState] { entering.initial }
  package internal(set) var isResumed = false
  /// What was ordered of a drive that this one goes on with.
  package internal(set) var orders = OrderRecords()
  /// How many tasks that one began with at once; nil for as many as is asked for.
  var maxParallel: UInt32?
  /// What is to be told before anything starts.
  var warnings: [String] = []
  /// Those that its tasks may know, and that no task is to show.
  package var secrets: [SecretValue] = []
  /// What is journaled first.
  var opening: [JournalEntry] = []
  /// What the drive before left up, and which of that this one takes over.
  var passed: PassedServices?
  var takenOver: [(service: TaskID, held: HeldService)] = []
  /// Those of this machine, where one is on its way already.
  private var workers: (watch: Watch, launcher: LocalLauncher)?
  let manifestPath: String
  private let trace: DriveTrace
  private let journal: JournalFile
  private let encoder: JournalEncoder
  private let lock: RunFolderLock

  init(
    _ folder: RunFolder, _ plan: Plan, entering: Entering, manifestPath: String,
    trace: DriveTrace, journal: consuming JournalFile, encoder: JournalEncoder,
    lock: consuming RunFolderLock
  ) {
    self.folder = folder
    self.plan = plan
    self.entering = entering
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

  /// Sees whether there is what no run can do without. Call it before there is one.
  package static func expectMeans() throws(PreparationError) {
    if let obstacle = ProcessStatus.obstacle { throw .noProcesses(obstacle) }
    do throws(Errno) {
      try Descriptor.expectFree(leastDescriptors)
    } catch {
      throw .noDescriptors(leastDescriptors, error)
    }
  }

  /// Of a run with one worker: for journal, lock, socket, waiting, signals and the worker's pipes.
  private static let leastDescriptors = 15

  /// What workers find in their environment of what the drive is a part of.
  private var variables: [String] {
    trace.variables + RunsAround.here.variables(with: folder.id.description)
      + TasksAround.here.variables(of: manifestPath)
  }

  /// Drives the run to its end, by workers of this machine.
  ///
  /// - Parameter serving: what is to end services that stay; nil for nothing but a person.
  package consuming func perform(
    _ asked: RunRequest, progress: ProgressOptions, heading: ProgressHeading,
    serving: ServingWatch? = nil
  ) throws(CoordinatorError) -> DriveResult {
    if let passed {
      let numbers = takenOver.map(\.held.worker)
      let links = passed.takeOver(takenOver)
      let watch = try Self.settingUp { () throws(Errno) in
        let watch = try Watch()
        try passed.launcher.goOn(
          watch, variables: variables, arguments: entering.arguments,
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

  /// Tells a person that before anything starts.
  package mutating func warn(_ texts: [String]) { warnings += texts }

  /// Has a worker come up while the rest gets ready, where the first task wants one at once: for a short one that is
  /// a twentieth of a run. It leaves when the drive is not performed.
  mutating func startAhead(_ asked: RunRequest) {
    guard asked.on.isEmpty, plan.beginsWithCommand(initial) else { return }
    // What fails is tried again when there is somebody to tell.
    workers = try? makeWorkers()
    workers?.launcher.startAhead()
  }

  private mutating func makeWorkers() throws(Errno) -> (watch: Watch, launcher: LocalLauncher) {
    // From here on there is something to be ended in order: who asks for that now is heard when the drive has begun.
    try Coordinator.watchedSignals().block()
    let watch = try Watch()
    var delegation = MemoryLimits.begin(plan) { warnings.append($0) }
    let launcher = try LocalLauncher(
      site: 0, watch: watch, folder: folder, runID: folder.id.description,
      complaints: folder.workerLog, variables: variables, arguments: entering.arguments,
      delegation: delegation.take())
    return (watch, launcher)
  }

  private static func settingUp<Result>(
    _ body: () throws(Errno) -> Result
  ) throws(CoordinatorError) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw CoordinatorError("cannot set up the run", error)
    }
  }

  /// Drives the run to its end, by those workers.
  private consuming func perform(
    _ asked: RunRequest, progress: ProgressOptions, heading: ProgressHeading,
    serving: ServingWatch?, _ links: [WorkerLink],
    by workers: (watch: Watch, launcher: LocalLauncher)
  ) throws(CoordinatorError) -> DriveResult {
    var entering = entering
    entering.run = Hash.xxh3(Array(folder.id.description.utf8))
    entering.durations = StateFolder(holding: folder).durations(
      ofManifest: manifestPath, plan: plan, but: isResumed ? nil : folder.id)
    var request = DriveRequest(
      folder: folder, plan: plan, runID: folder.id.description,
      options: SchedulerOptions(asked.limited(to: maxParallel), plan, entering.openness),
      durability: asked.durability,
      entering: entering,
      encoder: encoder, opening: opening, progress: progress, heading: heading)
    request.warnings = warnings
    request.secrets = secrets
    request.serving = serving
    request.claim = lock.claim(to: folder)
    request.links = links
    request.sharesJobs = asked.maxParallel == nil
    request.controlDescriptor = asked.controlDescriptor
    if !asked.on.isEmpty {
      request.sites = SiteSettings(
        asked.on, folder: folder, planKey: plan.key.description, variables: variables,
        arguments: entering.arguments, queueMilliseconds: asked.queueMilliseconds)
    }
    if plan.hasChecks { try Self.checkRecords(StateFolder(holding: folder).path) }
    let (folder, hasCaches) = (folder, plan.hasCaches)
    let (files, initial) = (files, entering.initial)
    if hasCaches {
      request.warnings += folder.write(asked.cache)
      folder.removeStages()
    }
    let lock = lock
    defer { serving?.endDrive() }
    let result = try Coordinator.drive(
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
        workers.launcher,
        lock: lock)
    } else {
      _ = consume lock
    }
    return result
  }

  /// Sees that workers can use the records, of whom each would else be lost over that.
  private static func checkRecords(_ state: String) throws(CoordinatorError) {
    do throws(Errno) {
      _ = try RecordBook(state: state)
    } catch {
      throw CoordinatorError("cannot use \(RecordBook.path(in: state))", error)
    }
  }
}
