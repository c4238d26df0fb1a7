internal import OpflowBase
package import OpflowEngine
internal import OpflowJournal
package import OpflowPlan
internal import OpflowSystem
package import OpflowWire
package import OpflowWorker

/// Empty lists and nil mean that an option was not given.
package struct RunRequest: Equatable, Sendable {
  /// `NAME=VALUE`, one per name, sorted.
  package var set: [String] = []
  /// Selectors, like `only`, `skip` and `rerun`.
  package var tasks: [String] = []
  /// The arguments of the one named task.
  package var arguments: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  package var rerun: [String] = []
  /// The run stays open for further tasks, under `name` if that is not empty.
  package var serves = false
  package var name = ""
  /// Services start again even if they were ended.
  package var watches = false
  /// Continues the newest run of the same manifest, values and tasks.
  package var resumesNewest = false
  /// Resumes only runs that this task started before.
  package var around: TaskAround?
  /// The user says that a process of another machine that holds the run is gone.
  package var takesOver = false
  /// Overrides the manifest.
  package var ifRunning: IfRunning?
  package var memory = MemoryPolicy.warn
  /// The capacity of `cpu`.
  package var maxParallel: UInt32?
  /// 0 for no limit.
  package var maxFailures: UInt32?
  package var durability: Durability = .group
  /// Empty for this machine only.
  package var on: [NodeRequest] = []
  /// The longest wait for a Slurm allocation.
  package var queueMilliseconds: Int64?
  /// An inherited socket whose peer is a client of the run's control socket.
  package var controlDescriptor: Int32?
  /// If the run's coordinator died while clients have the run, finished tasks are not retried.
  package var isForQueue = false
  /// nil for no cache.
  package var cache: CacheSetting? = .own(limitBytes: CacheSetting.standardLimitBytes)

  var openness: RunOpenness { serves ? .open : .ordinary }

  package init() {}

  /// The journal stores options, so none may contain a secret.
  func expectNoSecret(_ secrets: [SecretValue]) throws(PreparationError) {
    guard let masker = Masker(secrets) else { return }
    if let found = set.first(where: { masker.finds($0) }) {
      throw .secretSet(name: String(found.prefix { $0 != "=" }))
    }
    if on.contains(where: { masker.finds($0.text) }) { throw .secretOn }
    let named = [
      ("--name", [name]), ("--only", only), ("--skip", skip), ("--rerun", rerun),
      ("the name of a task", tasks),
    ]
    for (option, texts) in named where texts.contains(where: { masker.finds($0) }) {
      throw .secretNamed(option: option)
    }
  }
}

extension RunRequest {
  package func expectPrograms() throws(PreparationError) {
    for request in on {
      guard let program = request.program else { continue }
      guard Program.isInPath(program) else { throw .noProgram(program, for: request.text) }
      if program == "salloc", let complaint = SlurmProgram.complaintOfController() {
        throw .noController(complaint)
      }
    }
  }
}

extension NodeRequest {
  fileprivate var program: String? {
    switch self {
    case .slurm(let options):
      SlurmAllocation.Want.of(options, queueMilliseconds: nil) == .inside ? "srun" : "salloc"
    case .ssh: "ssh"
    case .exec: nil
    }
  }
}

extension SchedulerOptions {
  /// The request precedes the manifest, which precedes the machine. A run that is or was open
  /// ignores the manifest's `max_failures`: a failed task means nothing for tasks of others.
  package init(_ request: RunRequest, _ plan: Plan, _ openness: RunOpenness = .ordinary) {
    let ofManifest = UInt64(plan.manifest.maxParallel)
    let ofMake = MakeJobs.runsOneByOne ? 1 : UInt64.max
    self.init(
      maxParallel: request.maxParallel.map { UInt64($0) }
        ?? min(ofMake, ofManifest > 0 ? ofManifest : UInt64(MakeJobs.announced ?? Machine.cores)),
      memoryBytes: Machine.memoryBytes,
      maxFailures: Int(
        request.maxFailures ?? (openness == .ordinary ? plan.manifest.maxFailures : 0)),
      seed: UInt64.random(in: 0 ... .max))
    if plan.gpuResource != nil { gpus = UInt64(GraphicsProcessors.names.count) }
    usesNodes = !request.on.isEmpty
    if usesNodes { wholeParallel = request.maxParallel.map { UInt64($0) } }
  }
}

extension StateFolder {
  /// The newest run with the same manifest, values and tasks, unless it succeeded. Throws `held` if
  /// another process holds it.
  package func resumable(
    ofManifest path: String, _ request: RunRequest
  ) throws(RunFolderError) -> RunFolder? {
    let origin = RunOrigin(
      set: request.set, tasks: request.tasks, arguments: request.arguments, only: request.only,
      skip: request.skip)
    let newest = try newestRun(ofManifest: path) {
      $0.origin == origin && (request.around == nil || $0.around == request.around)
    }
    guard let folder = newest else { return nil }
    try RunFolderLock.expectFree(folder)
    // The resume handles a plan of another opflow version.
    let history = try folder.readRunHistory()
    return history.close?.state != .succeeded ? folder : nil
  }

  package func newestState(ofManifest path: String) -> (run: RunID, state: RunState, on: [String])?
  {
    guard let newest = try? newestRun(ofManifest: path),
      // First: a run that ends in between is then running, never interrupted.
      let isHeld = try? RunFolderLock.isHeld(newest), let history = try? newest.readRunHistory()
    else { return nil }
    return (newest.id, history.state(isHeld: isHeld), history.on)
  }
}
