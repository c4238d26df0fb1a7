package import OpflowCore
internal import OpflowSystem

/// What is asked of a run or a resume. Lists are empty and values nil where nothing is said.
package struct RunRequest: Equatable, Sendable {
  /// `NAME=VALUE` of each name once, by name.
  package var set: [String] = []
  /// Tasks that are named, as selectors, and those that `only`, `skip` and `rerun` name.
  package var tasks: [String] = []
  /// For the one task that is named.
  package var arguments: [String] = []
  package var only: [String] = []
  package var skip: [String] = []
  package var rerun: [String] = []
  /// It stays open for tasks to come, and is known by that name, where that is not empty.
  package var serves = false
  package var name = ""
  /// It stays for what changes: services that stay start again though somebody ended them.
  package var watches = false
  /// Goes on with the newest run of the same manifest, values and tasks.
  package var resumesNewest = false
  /// The same of those that this task began before.
  package var around: TaskAround?
  /// A process of another machine that holds the run is gone, by the word of a person.
  package var takesOver = false
  /// Wins over what the manifest says.
  package var ifRunning: IfRunning?
  package var memory = MemoryPolicy.warn
  /// The capacity of `cpu`.
  package var maxParallel: UInt32?
  /// 0 for no limit.
  package var maxFailures: UInt32?
  package var durability: Durability = .group
  /// Where tasks run beside this machine; empty for here alone.
  package var on: [SiteRequest] = []
  /// How long an allocation of Slurm is waited for; nil for ever.
  package var queueMilliseconds: Int64?
  /// A socket that this process was started with: who is at its other end counts as one who is connected to the
  /// run's own.
  package var controlDescriptor: Int32?
  /// A resume of a queue's run: where programs have it whose drive was lost, it goes on, and tries nothing again that has
  /// its end.
  package var isForQueue = false
  /// Where results are cached; nil for nowhere.
  package var cache: CacheSetting? = .own(limitBytes: CacheSetting.standardLimitBytes)

  /// Of the run that it begins.
  var openness: RunOpenness { serves ? .open : .ordinary }

  package init() {}

  /// The same with that many tasks at once; nil for as many as it says.
  func limited(to maxParallel: UInt32?) -> RunRequest {
    guard let maxParallel else { return self }
    var request = self
    request.maxParallel = maxParallel
    return request
  }

  /// Expects that nothing that the command line names holds one: it stands in the journal.
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
  /// Expects the programs that lead to the machines of `on`: a run without them has nowhere to go.
  package func expectPrograms() throws(PreparationError) {
    for request in on {
      guard let program = request.program, !Program.isInPath(program) else { continue }
      throw .noProgram(program, for: request.text)
    }
  }
}

extension SiteRequest {
  /// What is started here to get there; nil where a shell finds that.
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
  /// What the request, the manifest and the machine say, in this order. Of a run that is or was open one task that fails
  /// says nothing of what others added.
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
