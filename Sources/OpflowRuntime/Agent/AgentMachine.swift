internal import OpflowSystem
internal import OpflowWire

/// An agent's machine, or what Slurm gave the step (srun(1), "OUTPUT ENVIRONMENT VARIABLES").
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

  /// Maps each GPU of another agent to the same GPU here, by name, if both are on one machine;
  /// empty if none are shared.
  func devices(
    alsoOf other: AgentHello, bootID: String = Machine.bootID,
    names: [String] = GraphicsProcessors.names
  ) -> [Int?] {
    // Several nodes of a cluster on one machine have one kernel, but different GPUs.
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
