/// What the coordinator tells the agent of a machine.
package enum AgentOrder: Equatable, Sendable {
  /// Comes first: what the agent is to work for.
  case open(AgentOpening)
  /// `NAME=VALUE`, for the environment of all its workers.
  case variable(String)
  /// One of the tasks gets so many words behind its command, each of which comes in pieces.
  case arguments(TaskID, count: Int)
  /// The next piece of the word with that number.
  case argument(Int, [UInt8])
  case launch(WorkerID, WorkerKind)
  /// End it at once, and all below it.
  case kill(WorkerID)
  /// A line for that worker, which was set aside.
  case line(WorkerID)
  /// The answer to a pulse, with its number.
  case pulse(Int32)
  /// End all workers, then leave.
  case bye
}

/// What an agent works for.
package struct AgentOpening: Equatable, Sendable {
  package static let currentVersion = 1
  /// Where it is another one, nothing else was understood.
  package var version: Int
  package var run: String
  /// Of the plan in the run's folder.
  package var planKey: String
  /// How long after it sent a pulse that was answered the agent may go on, in milliseconds.
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

/// What the agent of a machine tells the coordinator.
package enum AgentReport: Equatable, Sendable {
  /// Comes first, after `open`.
  case hello(AgentHello)
  /// It cannot work for that run; why, for people.
  case refused(String)
  /// A line of that worker's, which was set aside.
  case line(WorkerID)
  /// Nothing is left of that worker and below it; what is known of why.
  case gone(WorkerID, complaint: String?)
  /// Answered with the same number.
  case pulse(Int32)
  /// Somebody wants the machine back: all workers are ended now; who, for people.
  case leaving(String)
  /// Nothing is left of any worker, and the agent leaves.
  case bye
}

/// What a machine is, and has for tasks.
package struct AgentHello: Equatable, Sendable {
  /// 32 hexadecimal digits: the plan that the agent has found.
  package var planKey: String
  package var pid: Int32
  package var cores: Int
  package var memoryBytes: Int64
  /// The names that programs know its accelerators by; empty for none.
  package var gpus: [String] = []
  /// In seconds, until the machine is taken back; nil where that is not known.
  package var secondsLeft: Int64?
  /// As the transport names it, so that two of one host name can be told apart.
  package var host: String
  /// New with each boot of the machine; empty where nobody tells.
  package var bootID = ""
  /// Slurm's number of the job and its step, where there are any.
  package var job = ""
  package var step = ""
  /// The job, and how often it was begun anew.
  package var incarnation = ""

  package init(planKey: String, pid: Int32, cores: Int, memoryBytes: Int64, host: String) {
    self.planKey = planKey
    self.pid = pid
    self.cores = cores
    self.memoryBytes = memoryBytes
    self.host = host
  }
}
