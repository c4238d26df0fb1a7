/// A message of the coordinator to the agent of a node.
package enum AgentOrder: Equatable, Sendable {
  /// The first message.
  case open(AgentOpening)
  /// `NAME=VALUE`, for the environment of all its workers.
  case variable(String)
  /// How many arguments follow in pieces.
  case arguments(TaskID, count: Int)
  /// The next piece of this argument.
  case argument(Int, [UInt8])
  case launch(WorkerID, WorkerKind)
  /// Kill it with all its descendants.
  case kill(WorkerID)
  /// A line for the worker, set aside for the caller.
  case line(WorkerID)
  /// The answer to this pulse.
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
  /// Of the plan in the run's folder.
  package var planKey: String
  /// How long the agent may go on after it sent the last answered pulse.
  package var leaseMilliseconds: Int64
  /// The run's folder, absolute.
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

/// A message of the agent of a node to the coordinator.
package enum AgentReport: Equatable, Sendable {
  /// The answer to `open`.
  case hello(AgentHello)
  /// Why the agent cannot work for this run, for people.
  case refused(String)
  /// A line of the worker, set aside for the caller.
  case line(WorkerID)
  /// Processes of the worker's task that the agent could not end; `gone` follows.
  case survived(WorkerID, LeftBehind)
  /// The worker and its other descendants are gone; why, if known.
  case gone(WorkerID, complaint: String?)
  /// Asks for an answer with the same number.
  case pulse(Int32)
  /// Why the node is being taken back, for people. All workers are being ended.
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
  /// The device names of its GPUs.
  package var gpus: [String] = []
  /// Until the node is taken back; nil if unknown.
  package var secondsLeft: Int64?
  /// Unique for the transport, even if host names are not.
  package var host: String
  /// Changes with each boot; empty if unknown.
  package var bootID = ""
  /// Slurm's job and step number, if any.
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
