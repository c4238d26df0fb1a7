package import OpflowCore
internal import OpflowSystem

/// The options of a run or a resume. Empty lists and nil stand for options that were not given.
package struct RunRequest: Equatable, Sendable {
  /// `NAME=VALUE`, one per name, sorted by name.
  package var set: [String] = []
  /// Selectors of the tasks to run, and those of `--only`, `--skip` and `--rerun` below.
  package var tasks: [String] = []
  /// Arguments for the one named task.
  package var arguments: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  package var rerun: [String] = []
  /// The run stays open for further tasks, under that name unless it is empty.
  package var serves = false
  package var name = ""
  /// `--watch`: staying services start again even if they were ended.
  package var watches = false
  /// Continues the newest run of the same manifest, values and tasks.
  package var resumesNewest = false
  /// Limits that to runs that this task started before.
  package var around: TaskAround?
  /// The user states that a process on another machine that holds the run is gone.
  package var takesOver = false
  /// Overrides the manifest.
  package var ifRunning: IfRunning?
  package var memory = MemoryPolicy.warn
  /// The capacity of `cpu`.
  package var maxParallel: UInt32?
  /// 0 for no limit.
  package var maxFailures: UInt32?
  package var durability: Durability = .group
  /// The nodes to use; empty for this machine only.
  package var on: [SiteRequest] = []
  /// How long to wait for a Slurm allocation; nil for no limit.
  package var queueMilliseconds: Int64?
  /// An inherited socket whose peer counts as a client of the run's control socket.
  package var controlDescriptor: Int32?
  /// A resume of a queue's run: if its coordinator died while clients have the run, it continues
  /// without retrying finished tasks.
  package var isForQueue = false
  /// Where results are cached; nil for no cache.
  package var cache: CacheSetting? = .own(limitBytes: CacheSetting.standardLimitBytes)

  var openness: RunOpenness { serves ? .open : .ordinary }

  package init() {}

  /// nil keeps the request's own capacity.
  func limited(to maxParallel: UInt32?) -> RunRequest {
    guard let maxParallel else { return self }
    var request = self
    request.maxParallel = maxParallel
    return request
  }

  /// Checks that no option contains a secret, since the journal stores them.
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
  /// Checks that the programs for reaching the nodes of `on` are installed.
  package func expectPrograms() throws(PreparationError) {
    for request in on {
      guard let program = request.program, !Program.isInPath(program) else { continue }
      throw .noProgram(program, for: request.text)
    }
  }
}

extension SiteRequest {
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
  /// Options from the request, the manifest and the machine, in this priority. A run that is or was
  /// open ignores the manifest's `max_failures`, since a failed task means nothing for tasks of
  /// others.
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
    usesSites = !request.on.isEmpty
    if usesSites { wholeParallel = request.maxParallel.map { UInt64($0) } }
  }
}
