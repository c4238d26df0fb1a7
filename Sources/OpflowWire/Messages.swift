internal import OpflowBase
package import OpflowPlan

/// A command to a worker. Tasks are numbered as in the mapped plan.
package enum WorkerOrder: Equatable, Sendable {
  case run(TaskID, attempt: Int32)
  /// Prefetched: start it when the task before has ended with exit code 0, even if that is past;
  /// after any other end, give it back.
  case follow(TaskID, attempt: Int32)
  /// Give back a prefetched task unless it started.
  case revoke(TaskID, attempt: Int32)
  /// By its stop rule, or at once for `kill`.
  case stop(TaskID, attempt: Int32, reason: StopReason)
  case suspend(TaskID, attempt: Int32)
  case proceed(TaskID, attempt: Int32)
  case watch(TaskID, on: Bool)
  /// All other tasks have ended: `finally` tasks get this state in `OPFLOW_RUN_STATE`.
  case conclude(RunState)
  indirect case check(TaskCheck)
  /// Answer with the same number.
  case pulse(Int32)
  /// The attempt that set the task's values, or `ValueFolder.ofRecord`; nil without values. Sent
  /// before a task that reads them.
  case values(TaskID, attempt: Int32?)
  /// The hash identifies the value's text.
  case value(TaskID, name: String, hash: UInt64)
  /// In the order of their names. Sent before a dependent starts.
  case ports(TaskID, [UInt16])
  /// Lends tokens to a running task's jobserver; a negative number asks for free ones back.
  case tokens(TaskID, Int32)
  /// The job limit, and how many are the task's own apart from the first. Sent before it starts.
  case jobs(TaskID, own: Int32, all: Int32)
  /// Sent before the task starts.
  case devices(TaskID, DeviceSet)
  case bye
}

extension WorkerOrder {
  package var start: (task: TaskID, attempt: Int32)? {
    switch self {
    case .run(let task, let attempt), .follow(let task, let attempt): (task, attempt)
    case .revoke, .stop, .suspend, .proceed, .watch, .conclude, .check, .pulse, .values, .value,
      .ports, .tokens, .jobs, .devices, .bye:
      nil
    }
  }
}

/// A worker's message. What concerns a task comes before its `ended`.
package enum WorkerReport: Equatable, Sendable {
  case hello(WorkerHello)
  case started(TaskID, attempt: Int32, pid: Int32)
  case progress(WorkerProgress)
  case fetched(TaskID, attempt: Int32, FetchRecord)
  /// Leftover processes that were ended.
  case left(TaskID, attempt: Int32, LeftBehind)
  case value(TaskID, attempt: Int32, TaskValue)
  /// In the values; the task ends with reason `value`.
  case fault(TaskID, attempt: Int32, what: String)
  case ended(TaskID, attempt: Int32, Outcome)
  case refused(TaskID, attempt: Int32, errorNumber: Int32, what: String)
  case revoked(TaskID, attempt: Int32)
  /// No process can be created at the moment, so the task comes back.
  case lacks(TaskID, attempt: Int32, what: String)
  /// Of a task that is up to date; comes before that answer.
  case kept(TaskID, serial: Int32, TaskValue)
  case checked(TaskID, serial: Int32, CheckResult)
  /// Another run of the state folder is running the task.
  case awaits(TaskID, serial: Int32)
  /// Inputs and outputs are recorded.
  case recorded(TaskID, attempt: Int32, origin: UInt64)
  /// The task succeeded but is not up to date.
  case changed(TaskID, attempt: Int32, what: String)
  /// From a cache.
  case restored(TaskID, attempt: Int32)
  /// Dependents may start. The service's ports are in the order of their names.
  case ready(TaskID, attempt: Int32, ports: [UInt16])
  case tokens(TaskID, Int32)
  /// Affects no task.
  case warning(String)
  case pulse(Int32)
}

package struct WorkerHello: Equatable, Sendable {
  package static let currentVersion = 10
  /// If this differs from `currentVersion`, the other fields are empty.
  package var version: Int
  /// 32 hexadecimal digits.
  package var planKey: String
  package var pid: Int32
  package var offer: WorkerOffer
  /// May be empty.
  package var host: String
  /// See `WorkerEntry`; 0 if unknown.
  package var startTime: UInt64 = 0
  package var autogroup: UInt64 = 0

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

package struct WorkerProgress: Equatable, Sendable {
  package var task: TaskID
  package var doneBytes: Int64
  /// -1 if unknown.
  package var totalBytes: Int64
  package var bytesPerSecond: Int64
  /// The last line of output; for a download see `resumeText`.
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

  /// How many bytes a download's part file had.
  package static func resumeText(bytes: Int64) -> String {
    bytes > 0 ? "\(resumeKey)\(bytes)" : ""
  }

  package var resumedBytes: Int64 {
    guard text.hasPrefix(Self.resumeKey) else { return 0 }
    return Field.number(text.utf8.dropFirst(Self.resumeKey.utf8.count)) ?? 0
  }
}
