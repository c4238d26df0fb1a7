package import OpflowBase
package import OpflowPlan

/// A command to a worker. Tasks are numbered as in the mapped plan.
package enum WorkerMessage: Equatable, Sendable {
  case run(TaskID, attempt: Int32)
  /// Prefetched: start the task once the previous task has ended with exit code 0, even in the
  /// past; after any other end, give it back.
  case follow(TaskID, attempt: Int32)
  case revoke(TaskID, attempt: Int32)
  /// Stop by the stop rule, or at once for `kill`.
  case stop(TaskID, attempt: Int32, reason: StopReason)
  case suspend(TaskID, attempt: Int32)
  case proceed(TaskID, attempt: Int32)
  case watch(TaskID, on: Bool)
  /// All other tasks have ended: `finally` tasks get this state in `OPFLOW_RUN_STATE`.
  case setRunState(RunState)
  indirect case check(TaskCheck)
  /// Answer with the same number.
  case pulse(Int32)
  /// The attempt that set the task's values, or `ValueFolder.ofRecord`; nil without values. Sent
  /// before a task that reads them.
  case values(TaskID, attempt: Int32?)
  /// The hash identifies the value's text.
  case value(TaskID, name: String, hash: UInt64)
  /// Ports in the order of their names. Sent before a dependent starts.
  case ports(TaskID, [UInt16])
  /// Lends tokens to a running task's jobserver; a negative number asks for free tokens back.
  case tokens(TaskID, Int32)
  /// The job limit, and the task's own jobs apart from the first. Sent before the task starts.
  case jobs(TaskID, own: Int32, all: Int32)
  /// Sent before the task starts.
  case devices(TaskID, DeviceSet)
  case bye
}

extension WorkerMessage {
  package var start: (task: TaskID, attempt: Int32)? {
    switch self {
    case .run(let task, let attempt), .follow(let task, let attempt): (task, attempt)
    case .revoke, .stop, .suspend, .proceed, .watch, .setRunState, .check, .pulse, .values, .value,
      .ports, .tokens, .jobs, .devices, .bye:
      nil
    }
  }
}

/// A worker's message. Messages about a task precede its `ended`.
package enum WorkerReport: Equatable, Sendable {
  case hello(WorkerHello)
  case started(TaskID, attempt: Int32, pid: Int32)
  case progress(WorkerProgress)
  case fetched(TaskID, attempt: Int32, FetchRecord)
  /// Leftover processes that were ended.
  case left(TaskID, attempt: Int32, LeftBehind)
  case value(TaskID, attempt: Int32, TaskValue)
  /// A fault in the values; the task ends with reason `value`.
  case fault(TaskID, attempt: Int32, detail: String)
  case ended(TaskID, attempt: Int32, Outcome)
  case refused(TaskID, attempt: Int32, errorNumber: Int32, detail: String)
  case revoked(TaskID, attempt: Int32)
  /// No process can be created at the moment, so the task comes back.
  case lacks(TaskID, attempt: Int32, detail: String)
  /// A value of a task that is up to date; precedes that answer.
  case kept(TaskID, serial: Int32, TaskValue)
  case checked(TaskID, serial: Int32, CheckResult)
  /// Another run of the state folder is running the task.
  case awaits(TaskID, serial: Int32)
  case recorded(TaskID, attempt: Int32, origin: UInt64)
  /// The task succeeded but is not up to date.
  case changed(TaskID, attempt: Int32, detail: String)
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
      return "it uses version \(version) of the worker protocol, and this opflow uses"
        + " version \(Self.currentVersion)"
    }
    if self.planKey != planKey {
      return "it has plan \(self.planKey), but the run has plan \(planKey)"
    }
    guard !offer.actions.contains(kind.row.action) else { return nil }
    let can = offer.actions.isEmpty ? "nothing" : offer.actions.text
    return "it was started for '\(kind.row.action.text)', but it supports only: \(can)"
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

  /// Encodes the size of a download's part file.
  package static func resumeText(bytes: Int64) -> String {
    bytes > 0 ? "\(resumeKey)\(bytes)" : ""
  }

  package var resumedBytes: Int64 {
    guard text.hasPrefix(Self.resumeKey) else { return 0 }
    return Field.number(text.utf8.dropFirst(Self.resumeKey.utf8.count)) ?? 0
  }
}

extension WorkerMessage {
  /// Returns why a worker cannot do this. Validates a task to run in full: the plan file may have
  /// changed since the coordinator's check.
  package func fault(in plan: Plan) -> String? {
    switch self {
    case .run(let task, _), .follow(let task, _):
      guard plan.tasks.contains(task.index) else { return Self.noSuchTask }
      do throws(PlanError) {
        try plan.validate(task)
        return plan.kind(task) == .approve ? "it was asked to run an approval" : nil
      } catch {
        return "the plan of the run is invalid: \(error.message)"
      }
    case .revoke(let task, _), .stop(let task, _, _), .suspend(let task, _), .proceed(let task, _),
      .watch(let task, _), .values(let task, _), .value(let task, _, _):
      return plan.tasks.contains(task.index) ? nil : Self.noSuchTask
    case .check(let check):
      let isThere = plan.tasks.contains(check.task.index) && plan.isChecked(check.task)
      return isThere && check.skipped.allSatisfy { plan.tasks.contains($0.index) }
        ? nil : Self.noSuchTask
    case .ports(let task, _):
      guard plan.tasks.contains(task.index), plan.isService(task) else { return Self.noSuchTask }
      return nil
    case .tokens(let task, _), .jobs(let task, _, _):
      guard plan.tasks.contains(task.index), plan.jobserver(of: task) != nil else {
        return Self.noSuchTask
      }
      return nil
    case .devices(let task, _): return plan.tasks.contains(task.index) ? nil : Self.noSuchTask
    case .setRunState, .pulse, .bye: return nil
    }
  }

  package var lastTask: TaskID {
    switch self {
    case .run(let task, _), .follow(let task, _), .revoke(let task, _), .stop(let task, _, _),
      .suspend(let task, _), .proceed(let task, _), .watch(let task, _), .values(let task, _),
      .value(let task, _, _), .ports(let task, _), .tokens(let task, _), .jobs(let task, _, _),
      .devices(let task, _):
      task
    case .check(let check): check.skipped.reduce(check.task) { max($0, $1) }
    case .setRunState, .pulse, .bye: .none
    }
  }

  private static let noSuchTask = "a message is about a task that is not in the plan"
}

/// A task that the session's plan numbers differently than its worker's plan.
package struct TaskAlias: Equatable, Sendable {
  package var own: TaskID
  package let told: TaskID

  package init(own: TaskID, told: TaskID) {
    self.own = own
    self.told = told
  }

  package func told(_ message: WorkerMessage) -> WorkerMessage {
    switch message {
    case .stop(own, let attempt, let reason): .stop(told, attempt: attempt, reason: reason)
    case .suspend(own, let attempt): .suspend(told, attempt: attempt)
    case .proceed(own, let attempt): .proceed(told, attempt: attempt)
    case .watch(own, let isOn): .watch(told, on: isOn)
    // A running task gets no other commands.
    case .stop, .suspend, .proceed, .watch, .run, .follow, .revoke, .setRunState, .check, .pulse,
      .values, .value, .ports, .tokens, .jobs, .devices, .bye:
      message
    }
  }

  package func own(_ report: WorkerReport) -> WorkerReport {
    switch report {
    case .started(let task, let attempt, let pid):
      .started(own(task), attempt: attempt, pid: pid)
    case .left(let task, let attempt, let left): .left(own(task), attempt: attempt, left)
    case .value(let task, let attempt, let value): .value(own(task), attempt: attempt, value)
    case .fault(let task, let attempt, let detail):
      .fault(own(task), attempt: attempt, detail: detail)
    case .ended(let task, let attempt, let outcome): .ended(own(task), attempt: attempt, outcome)
    case .refused(let task, let attempt, let errorNumber, let detail):
      .refused(own(task), attempt: attempt, errorNumber: errorNumber, detail: detail)
    case .revoked(let task, let attempt): .revoked(own(task), attempt: attempt)
    case .lacks(let task, let attempt, let detail):
      .lacks(own(task), attempt: attempt, detail: detail)
    case .ready(let task, let attempt, let ports):
      .ready(own(task), attempt: attempt, ports: ports)
    // A service does not send these.
    case .hello, .progress, .fetched, .kept, .checked, .awaits, .recorded, .changed, .restored,
      .tokens, .warning, .pulse:
      report
    }
  }

  /// The worker must not report on other tasks.
  private func own(_ task: TaskID) -> TaskID { task == told ? own : .none }
}

// `secret NAME PART/OF VALUE`, to a worker, before its first task. A value longer than a line is
// sent in parts. A repeated name replaces its value. These lines must not be logged.

package struct SecretPart: Equatable, Sendable {
  package let name: String
  /// Starts at 1.
  package let number: Int
  package let count: Int
  package let bytes: [UInt8]

  /// Fits a line, with escapes and a name of 255 bytes.
  private static let longestBytes = 220
  static let longestNameBytes = 255
  private static let mostParts = (SecretValue.longestBytes + longestBytes - 1) / longestBytes

  package init(name: String, number: Int, count: Int, bytes: [UInt8]) {
    self.name = name
    self.number = number
    self.count = count
    self.bytes = bytes
  }

  package static func parts(of secret: SecretValue) -> [SecretPart] {
    let count = (secret.bytes.count + longestBytes - 1) / longestBytes
    return (0..<count).map { place in
      let start = place * longestBytes
      let bytes = secret.bytes[start..<min(start + longestBytes, secret.bytes.count)]
      return SecretPart(name: secret.name, number: place + 1, count: count, bytes: Array(bytes))
    }
  }

  package func write(to writer: inout FieldWriter) {
    writer.raw("secret")
    writer.field(name)
    writer.field(number)
    writer.raw("/")
    writer.number(count)
    writer.field(bytes)
    writer.endLine()
  }

  package init?(_ line: UnsafeRawBufferPointer) {
    var fields = MessageFields(line)
    guard let word = fields.next(), word.equals("secret"), let name = fields.text(), !name.isEmpty,
      name.utf8.count <= Self.longestNameBytes, let place = fields.next(),
      let bytes = fields.bytes(), fields.isWholeMessage,
      !bytes.isEmpty, bytes.count <= Self.longestBytes, !bytes.contains(0)
    else { return nil }
    let slash = place.position(of: UInt8(ascii: "/"), from: 0)
    guard slash < place.count, let number: Int = Field.number(place.part(0, slash)),
      let count: Int = Field.number(place.part(slash + 1, place.count)),
      (1...Self.mostParts).contains(count), (1...count).contains(number)
    else { return nil }
    self.init(name: name, number: number, count: count, bytes: bytes)
  }
}

package struct SecretCollector: Sendable {
  package private(set) var secrets: [SecretValue] = []
  private var name = ""
  private var bytes: [UInt8] = []
  private var next = 1

  package init() {}

  package var isEmpty: Bool { secrets.isEmpty }

  /// False for a part that does not continue the last part.
  package mutating func take(_ part: SecretPart) -> Bool {
    guard part.number == next, part.number == 1 || part.name == name,
      bytes.count + part.bytes.count <= SecretValue.longestBytes
    else { return false }
    name = part.name
    bytes += part.bytes
    next += 1
    guard part.number == part.count else { return true }
    secrets.removeAll { $0.name == name }
    secrets.append(SecretValue(name: name, bytes: bytes))
    bytes = []
    next = 1
    return true
  }
}

package enum WorkerInput: Equatable, Sendable {
  case message(WorkerMessage)
  case secret(SecretPart)

  init?(_ line: UnsafeRawBufferPointer) {
    if let message = MessageCodec.message(line) {
      self = .message(message)
    } else if let part = SecretPart(line) {
      self = .secret(part)
    } else {
      return nil
    }
  }
}

extension WorkerReport {
  package func masked(by masker: Masker) -> WorkerReport {
    switch self {
    case .progress(var progress):
      progress.text = masker.masked(progress.text)
      return .progress(progress)
    case .fetched(let task, let attempt, let record):
      return .fetched(task, attempt: attempt, FetchRecord(record.report.masked(by: masker)))
    case .left(let task, let attempt, var left):
      left.names = masker.masked(names: left.names)
      return .left(task, attempt: attempt, left)
    case .refused(let task, let attempt, let errorNumber, let detail):
      return .refused(
        task, attempt: attempt, errorNumber: errorNumber, detail: masker.masked(detail))
    case .lacks(let task, let attempt, let detail):
      return .lacks(task, attempt: attempt, detail: masker.masked(detail))
    case .fault(let task, let attempt, let detail):
      return .fault(task, attempt: attempt, detail: masker.masked(detail))
    case .checked(let task, let serial, .stale(let why)):
      return .checked(task, serial: serial, .stale(why: masker.masked(why)))
    case .checked(let task, let serial, .unfit(let detail)):
      return .checked(task, serial: serial, .unfit(detail: masker.masked(detail)))
    case .checked(let task, let serial, .unwritten(let detail)):
      return .checked(task, serial: serial, .unwritten(detail: masker.masked(detail)))
    case .changed(let task, let attempt, let detail):
      return .changed(task, attempt: attempt, detail: masker.masked(detail))
    case .warning(let detail): return .warning(masker.masked(detail))
    // Values must not contain secrets.
    case .hello, .started, .value, .kept, .ended, .revoked, .checked, .awaits, .recorded, .restored,
      .ready, .tokens, .pulse:
      return self
    }
  }
}

extension FetchReport {
  fileprivate func masked(by masker: Masker) -> FetchReport {
    var report = self
    report.url = masker.masked(url)
    report.detail = masker.masked(detail)
    report.validator = validator.masked(by: masker)
    return report
  }
}
