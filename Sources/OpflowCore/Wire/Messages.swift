/// What the coordinator tells a worker. Tasks are named by their number in the plan that both map.
package enum WorkerOrder: Equatable, Sendable {
  /// Start this task.
  case run(TaskID, attempt: Int32)
  /// Handed ahead: start this task when the one before it has ended with exit code 0, also where
  /// that was before this order came; after any other end, give it back.
  case follow(TaskID, attempt: Int32)
  /// Give back a task handed ahead that has not started.
  case revoke(TaskID, attempt: Int32)
  /// End its process tree by its stop rule; reason `kill` ends it at once.
  case stop(TaskID, attempt: Int32, reason: StopReason)
  case suspend(TaskID, attempt: Int32)
  case proceed(TaskID, attempt: Int32)
  case watch(TaskID, on: Bool)
  /// All tasks but the `finally` ones have ended: those that start from now on find the state in
  /// `OPFLOW_RUN_STATE`.
  case conclude(RunState)
  /// Look whether a task is up to date: answered by `checked`.
  indirect case check(TaskCheck)
  /// Say something: answered with the same number.
  case pulse(Int32)
  /// The values that a task has are those of that try, or of `ValueFolder.ofRecord`; nil: it has none. Before
  /// the start of a task that reads them.
  case values(TaskID, attempt: Int32?)
  /// One of them, by which its text is known; follows that.
  case value(TaskID, name: String, hash: UInt64)
  /// The ports of a service, in the order of its names. Before the start of a task that needs it.
  case ports(TaskID, [UInt16])
  /// So many tokens more for the jobserver of the task that runs, which are lent; or so many back, as soon
  /// as they are free there.
  case tokens(TaskID, Int32)
  /// Of so many jobs in all, which it may come to have, so many are a task's own beside its first one. Before
  /// its start.
  case jobs(TaskID, own: Int32, all: Int32)
  /// The GPUs that a task has for itself. Before its start.
  case devices(TaskID, DeviceSet)
  case bye
}

extension WorkerOrder {
  /// The try that the order may start.
  package var start: (task: TaskID, attempt: Int32)? {
    switch self {
    case .run(let task, let attempt), .follow(let task, let attempt): (task, attempt)
    case .revoke, .stop, .suspend, .proceed, .watch, .conclude, .check, .pulse, .values, .value,
      .ports, .tokens, .jobs, .devices, .bye:
      nil
    }
  }
}

/// What a worker tells the coordinator.
package enum WorkerReport: Equatable, Sendable {
  case hello(WorkerHello)
  case started(TaskID, attempt: Int32, pid: Int32)
  case progress(WorkerProgress)
  /// What a download did; comes right before its end.
  case fetched(TaskID, attempt: Int32, FetchRecord)
  /// What was ended with a task that had left it behind; comes before the task's end.
  case left(TaskID, attempt: Int32, LeftBehind)
  /// What a task left for others; comes before its end.
  case value(TaskID, attempt: Int32, TaskValue)
  /// What is the matter with values of a task that ends with reason `value`; comes before its end.
  case fault(TaskID, attempt: Int32, what: String)
  case ended(TaskID, attempt: Int32, Outcome)
  case refused(TaskID, attempt: Int32, errorNumber: Int32, what: String)
  case revoked(TaskID, attempt: Int32)
  /// No process can be made for a task at the moment, so that it comes back unstarted; why, for people.
  case lacks(TaskID, attempt: Int32, what: String)
  /// What a task left that is up to date; comes before that answer, with the number of the question.
  case kept(TaskID, serial: Int32, TaskValue)
  /// Whether a task is up to date, with the number of the question.
  case checked(TaskID, serial: Int32, CheckResult)
  /// The answer takes its time: another run of the state folder runs the task.
  case awaits(TaskID, serial: Int32)
  /// What a task read and made is written down, under a number of that success alone; comes before its end.
  case recorded(TaskID, attempt: Int32, origin: UInt64)
  /// It succeeded, and is not up to date with that; why; comes before its end.
  case changed(TaskID, attempt: Int32, what: String)
  /// It did not run: its result came from a cache; comes before its end.
  case restored(TaskID, attempt: Int32)
  /// A service is ready: what needs it may start. With the ports that were found for it, in the order of
  /// their names.
  case ready(TaskID, attempt: Int32, ports: [UInt16])
  /// So many of the tokens came back that were lent to a task, asked for or not.
  case tokens(TaskID, Int32)
  /// Something is wrong that no task is the worse for; for people.
  case warning(String)
  /// The answer to a pulse, with its number.
  case pulse(Int32)
}

/// A worker's first line.
package struct WorkerHello: Equatable, Sendable {
  package static let currentVersion = 10
  /// Where it is another one, nothing else was understood.
  package var version: Int
  /// 32 hexadecimal digits: the plan that the worker has mapped.
  package var planKey: String
  /// On its host.
  package var pid: Int32
  package var offer: WorkerOffer
  /// The name of the machine that it is on; empty where it does not say.
  package var host: String

  package init(
    version: Int = WorkerHello.currentVersion, planKey: String, pid: Int32, offer: WorkerOffer,
    host: String
  ) {
    self.version = version
    self.planKey = planKey
    self.pid = pid
    self.offer = offer
    self.host = host
  }

  /// Why the worker is no use for the tasks of a run, in words for a person; nil where it is.
  package func fault(planKey: String, kind: WorkerKind) -> String? {
    if version != Self.currentVersion {
      return "it speaks version \(version) of the worker protocol, "
        + "this opflow version \(Self.currentVersion)"
    }
    if self.planKey != planKey {
      return "it has the plan \(self.planKey), this run the plan \(planKey)"
    }
    guard !offer.actions.contains(kind.row.action) else { return nil }
    let can = offer.actions.isEmpty ? "nothing" : offer.actions.text
    return "it cannot do '\(kind.row.action.text)', which it is here for; it can do: \(can)"
  }
}

/// How far a task is.
package struct WorkerProgress: Equatable, Sendable {
  package var task: TaskID
  package var doneBytes: Int64
  /// -1 where nobody knows.
  package var totalBytes: Int64
  package var bytesPerSecond: Int64
  /// The last line of output, for a watched task; of a download what `resumeText` says.
  package var text: String

  package init(
    task: TaskID, doneBytes: Int64, totalBytes: Int64, bytesPerSecond: Int64, text: String
  ) {
    self.task = task
    self.doneBytes = doneBytes
    self.totalBytes = totalBytes
    self.bytesPerSecond = bytesPerSecond
    self.text = text
  }
}

extension WorkerProgress {
  private static let resumeKey = "from="

  /// How a download tells that it goes on behind bytes which were there: empty for none.
  package static func resumeText(bytes: Int64) -> String {
    bytes > 0 ? "\(resumeKey)\(bytes)" : ""
  }

  /// The bytes of a download that were there when its try began and are not fetched again.
  var resumedBytes: Int64 {
    guard text.hasPrefix(Self.resumeKey) else { return 0 }
    return Field.number(text.utf8.dropFirst(Self.resumeKey.utf8.count)) ?? 0
  }
}
