internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// `opflow agent`: runs workers for a remote coordinator over standard input and output
/// (`RelayLines`).
package enum AgentMain {
  package static let command = "agent"

  /// Cancels the agent's Slurm job, which the coordinator requested, if the coordinator is gone.
  static let endsJob = "--end-job"

  /// Returns 0, 1 if the agent could not work for the run, 2 for a usage error, 74 for a system
  /// error.
  package static func run(arguments: [String]) -> Int32 {
    guard arguments.isEmpty || arguments == [endsJob] else {
      complain("usage: opflow agent (`opflow run --on` starts it; do not start it yourself)")
      return 2
    }
    do throws(Errno) {
      let agent = try Agent(endsJob: !arguments.isEmpty)
      return try agent.work() ? 0 : 1
    } catch {
      complain("cannot continue: \(error)")
      return 74
    }
  }

  static func complain(_ text: String) {
    try? StandardStream.error.writeAll(Array("opflow agent: \(text)\n".utf8))
  }
}

/// The resources of this machine, or of the Slurm step (srun(1), "OUTPUT ENVIRONMENT VARIABLES").
struct AgentMachine {
  private let environment: (String) -> String?

  init(environment: @escaping (String) -> String? = { Environment.value($0) }) {
    self.environment = environment
  }

  func hello(planKey: String) -> AgentHello {
    var hello = AgentHello(
      planKey: planKey, pid: ProcessID.own, cores: cores, memoryBytes: memoryBytes, host: host)
    hello.gpus = GraphicsProcessors.names
    hello.bootID = Machine.bootID
    hello.job = environment("SLURM_JOB_ID") ?? ""
    hello.step = environment("SLURM_STEP_ID") ?? ""
    if !hello.job.isEmpty {
      hello.incarnation = "\(hello.job).\(environment("SLURM_RESTART_COUNT") ?? "0")"
    }
    if let end = number("SLURM_JOB_END_TIME") {
      hello.secondsLeft = max(0, end - Clock.wallMilliseconds / 1_000)
    }
    return hello
  }

  /// Nodes of a test cluster on one machine share a host name.
  var host: String { environment("SLURMD_NODENAME") ?? Machine.hostName }

  /// Returns the index here of each GPU of another agent, by name; empty if none are shared.
  func devices(
    alsoOf other: AgentHello, bootID: String = Machine.bootID,
    names: [String] = GraphicsProcessors.names
  ) -> [Int?] {
    // Nodes of a cluster on one machine share a kernel, but have different GPUs.
    guard !bootID.isEmpty, other.bootID == bootID, other.host == host else { return [] }
    let own = other.gpus.map { names.firstIndex(of: $0) }
    return own.contains { $0 != nil } ? own : []
  }

  private var cores: Int {
    number("SLURM_CPUS_PER_TASK").map { max(1, Int(clamping: $0)) }
      ?? number("SLURM_CPUS_ON_NODE").map { max(1, Int(clamping: $0)) } ?? Machine.cores
  }

  private var memoryBytes: Int64 {
    let mebibytes: Int64? =
      if let whole = number("SLURM_MEM_PER_NODE"), whole > 0 {
        whole
      } else if let each = number("SLURM_MEM_PER_CPU"), each > 0 {
        each * Int64(cores)
      } else {
        nil
      }
    let physical = Int64(clamping: Machine.memoryBytes)
    let bytes = mebibytes.map { $0.multipliedReportingOverflow(by: 1 << 20) }
    guard let bytes, !bytes.overflow else { return max(physical, 1) }
    return bytes.partialValue
  }

  private func number(_ name: String) -> Int64? { environment(name).flatMap { Int64($0) } }
}

/// A Slurm job whose coordinator, and the processes that would cancel it, may be dead. After the
/// heartbeat timeout, the agent cancels it if the run's lock is free. A coordinator that only lost
/// this agent holds the lock.
struct AbandonedJob {
  private let job: Int64
  private let lock: String
  private let owner: [UInt8]?

  init(job: Int64, runFolder: RunFolder) {
    self.job = job
    lock = runFolder.lock
    owner = try? LockHolder.content(lock)
  }

  func end(after leaseEnd: Instant, now: () -> Instant) {
    while case let left = leaseEnd.nanoseconds - now().nanoseconds, left > 0 {
      Clock.sleep(milliseconds: Int32(clamping: left / 1_000_000 + 1))
    }
    // Slurm's time limit then ends the job.
    guard let isHeld = try? FileLock.isHeld(lock) else { return }
    // A new coordinator does not use this job.
    let isOthers = owner != nil && (try? LockHolder.content(lock)) != owner
    guard !isHeld || isOthers else { return }
    AgentMain.complain(
      "the opflow process that requested Slurm job \(job) is gone; cancelling the job")
    if let complaint = SlurmProgram.cancel(job) { AgentMain.complain(complaint) }
  }
}
