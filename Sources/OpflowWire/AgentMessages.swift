package import OpflowPlan

/// A message from the coordinator to the agent of a node.
package enum AgentOrder: Equatable, Sendable {
  /// Comes first.
  case open(AgentOpening)
  /// `NAME=VALUE` for all its workers.
  case variable(String)
  /// That many follow in pieces.
  case arguments(TaskID, count: Int)
  case argument(Int, [UInt8])
  case launch(WorkerID, WorkerKind)
  /// With all descendants.
  case kill(WorkerID)
  /// The worker's line is set aside for the caller.
  case line(WorkerID)
  case pulse(Int32)
  /// End all workers, then exit.
  case bye
}

/// The run that an agent works for.
package struct AgentOpening: Equatable, Sendable {
  package static let currentVersion = 1
  /// If this differs from `currentVersion`, the other fields are empty.
  package var version: Int
  package var run: String
  package var planKey: String
  /// The heartbeat timeout.
  package var leaseMilliseconds: Int64
  /// The run's, absolute.
  package var folder: String

  package init(
    version: Int = AgentOpening.currentVersion, run: String, planKey: String,
    leaseMilliseconds: Int64, folder: String
  ) {
    self.version = version
    self.run = run
    self.planKey = planKey
    self.leaseMilliseconds = leaseMilliseconds
    self.folder = folder
  }
}

/// A message from the agent of a node to the coordinator.
package enum AgentReport: Equatable, Sendable {
  case hello(AgentHello)
  case refused(String)
  /// The worker's line is set aside for the caller.
  case line(WorkerID)
  /// Processes that the agent could not end; `gone` follows.
  case survived(WorkerID, LeftBehind)
  /// With its other descendants.
  case gone(WorkerID, complaint: String?)
  /// Asks for an answer with the same number.
  case pulse(Int32)
  /// Why the node is taken back. All workers are being ended.
  case leaving(String)
  /// All workers are gone.
  case bye
}

/// A node and its resources for tasks.
package struct AgentHello: Equatable, Sendable {
  /// 32 hexadecimal digits.
  package var planKey: String
  package var pid: Int32
  package var cores: Int
  package var memoryBytes: Int64
  package var gpus: [String] = []
  /// Until the node is taken back; nil if unknown.
  package var secondsLeft: Int64?
  /// Unique for the transport, even if host names are not.
  package var host: String
  /// Changes with each boot; empty if unknown.
  package var bootID = ""
  /// Slurm's, if any.
  package var job = ""
  package var step = ""
  /// The job and its restart count.
  package var incarnation = ""

  package init(planKey: String, pid: Int32, cores: Int, memoryBytes: Int64, host: String) {
    self.planKey = planKey
    self.pid = pid
    self.cores = cores
    self.memoryBytes = memoryBytes
    self.host = host
  }
}
