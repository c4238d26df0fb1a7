package import OpflowBase
package import OpflowPlan

// The stream of a node
// ====================
//
// One stream of lines each way joins the coordinator and the agent of a node, over any transport. A
// line is a message of the worker protocol after its worker's number, or one of the agent's own; at
// most 1,024 bytes including the LF, since some transports hold back longer lines.
//
//   to the agent                                  from the agent
//   open VERSION RUN PLAN-KEY LEASE-MS FOLDER     hello VERSION PLAN-KEY PID cores=N memory=BYTES
//                                                       host=NAME [boot=ID] [gpus=A,B]
//                                                       [time=SECONDS] [job=N] [step=N]
//                                                       [incarnation=TEXT]
//   variable NAME=VALUE                           refused TEXT
//   arguments TASK COUNT
//   argument N BYTES
//   launch N KIND                                 gone N [TEXT]
//   kill N                                        survived N NAMES [PIDS]
//   N ORDER                                       N REPORT
//   pulse N                                       pulse N
//   bye                                           leaving TEXT
//                                                 bye
//
// Fields are separated by TAB. A worker's number N is used once: it is valid between `launch` and
// `gone`. `gone` comes when all descendants of a worker are gone, if it could not be launched (TEXT
// says why), and as the answer to every `kill` before. Processes that the agent could not end stand
// in a `survived` before it.
//
// The heartbeat timeout
// ---------------------
//
// When the stream dies, the agent's workers still hold their tasks; no other worker may get them
// before they are ended. Neither end can know when the other one notices, so each has its own
// clock, and the agent's expires first:
//
// - The agent sends `pulse N` every two seconds, and the coordinator answers with the same N. An
//   answer proves that the coordinator lived *after* N was sent, not when the answer arrived:
//   answers may wait in a buffer. So the timeout starts when the agent sent the newest N that was
//   answered. When it expires, the agent ends its workers and exits. The clock goes on while the
//   host sleeps (CLOCK_BOOTTIME).
// - The coordinator answers each pulse at once. It received the last one after the agent sent it,
//   so when the timeout has passed since that receipt, the agent's has expired too, and the workers
//   are ended a moment later (`AgentLease`).
//
//   what dies                         noticed by                      tasks run elsewhere
//   the agent                         end of the stream               after the timeout
//   one of its workers                `gone N`                        at once
//   the way to the coordinator        no pulse                        after the timeout
//   the way to the agent              the agent: no answer; it says   at its `bye`
//                                     `leaving` and `bye`
//   the transport, not the agent      end of the stream               after the timeout
//   the node                          no pulse                        after the timeout
//   the coordinator                   the agent: end of the stream    by a resume, which waits for
//                                     or no answer                    the workers' lock
//
// An agent that is stopped (SIGSTOP), or a worker in permanent uninterruptible sleep, outlives the
// timeout. Only the agent's launcher can help then: Slurm kills its step first.

package enum RelayLines {
  /// With the line feed.
  package static let longestLineBytes = 1024
  /// Fits even if every byte is escaped.
  private static let longestPieceBytes = 480

  // MARK: - To the agent

  package static func number(_ worker: WorkerID, into writer: inout FieldWriter) {
    writer.number(worker.rawValue)
    writer.tab()
  }

  /// False if the folder's path is too long.
  package static func open(_ opening: AgentOpening, into writer: inout FieldWriter) -> Bool {
    add(to: &writer) { line in
      line.raw("open\t")
      line.number(opening.version)
      line.tab()
      line.escaped(opening.run)
      line.tab()
      line.escaped(opening.planKey)
      line.tab()
      line.number(opening.leaseMilliseconds)
      line.tab()
      line.escaped(opening.folder)
    }
  }

  private static func add(
    to writer: inout FieldWriter, _ write: (inout FieldWriter) -> Void
  ) -> Bool {
    var line = FieldWriter()
    write(&line)
    line.endLine()
    guard line.bytes.count <= longestLineBytes else { return false }
    writer.append(line)
    return true
  }

  /// False if it is too long.
  package static func variable(_ entry: String, into writer: inout FieldWriter) -> Bool {
    add(to: &writer) { line in
      line.raw("variable\t")
      line.escaped(entry)
    }
  }

  package static func arguments(_ arguments: TaskArguments, into writer: inout FieldWriter) {
    writer.raw("arguments\t")
    writer.number(arguments.task.rawValue)
    writer.tab()
    writer.number(arguments.words.count)
    writer.endLine()
    for (number, word) in arguments.words.enumerated() {
      var rest = Array(word.utf8)[...]
      while !rest.isEmpty {
        writer.raw("argument\t")
        writer.number(number)
        writer.tab()
        writer.escaped(rest.prefix(longestPieceBytes))
        writer.endLine()
        rest = rest.dropFirst(longestPieceBytes)
      }
    }
  }

  package static func launch(
    _ worker: WorkerID, _ kind: WorkerKind, into writer: inout FieldWriter
  ) {
    writer.raw("launch\t")
    number(worker, into: &writer)
    guard let word = kind.row.relayWord else {
      preconditionFailure("a worker that has to be at the coordinator was asked for elsewhere")
    }
    writer.raw(word)
    writer.endLine()
  }

  static func tellsBadEnd(_ line: UnsafeRawBufferPointer) -> Bool {
    var fields = MessageFields(line)
    guard let word = fields.next(), word.equals("ended") else { return false }
    while let field = fields.next() { if field.equals("exit=0") { return false } }
    return true
  }

  package static func kill(_ worker: WorkerID, into writer: inout FieldWriter) {
    writer.raw("kill\t")
    writer.number(worker.rawValue)
    writer.endLine()
  }

  /// Or the answer to one.
  package static func pulse(_ number: Int32, into writer: inout FieldWriter) {
    writer.raw("pulse\t")
    writer.number(number)
    writer.endLine()
  }

  package static func bye(into writer: inout FieldWriter) { writer.raw("bye\n") }

  // MARK: - From the agent

  package static func hello(_ hello: AgentHello, into writer: inout FieldWriter) {
    let start = writer.bytes.count
    writer.raw("hello\t")
    writer.number(AgentOpening.currentVersion)
    writer.tab()
    writer.escaped(hello.planKey)
    writer.tab()
    writer.number(hello.pid)
    writer.field(.cores, hello.cores)
    writer.field(.memory, hello.memoryBytes)
    if !hello.gpus.isEmpty { writer.field(.gpus, hello.gpus.joined(separator: ",")) }
    if let left = hello.secondsLeft { writer.field(.time, left) }
    writer.fieldUnlessEmpty(.boot, hello.bootID)
    writer.fieldUnlessEmpty(.job, hello.job)
    writer.fieldUnlessEmpty(.step, hello.step)
    writer.fieldUnlessEmpty(.incarnation, hello.incarnation)
    writer.begin(.host)
    writer.cut(hello.host, lineStart: start)
    writer.endLine()
  }

  package static func refused(_ what: String, into writer: inout FieldWriter) {
    text("refused", what, into: &writer)
  }

  package static func leaving(_ what: String, into writer: inout FieldWriter) {
    text("leaving", what, into: &writer)
  }

  package static func gone(
    _ worker: WorkerID, complaint: String?, into writer: inout FieldWriter
  ) {
    let start = writer.bytes.count
    writer.raw("gone\t")
    writer.number(worker.rawValue)
    if let complaint {
      writer.tab()
      writer.cut(complaint, lineStart: start)
    }
    writer.endLine()
  }

  package static func survived(
    _ worker: WorkerID, _ left: LeftBehind, into writer: inout FieldWriter
  ) {
    let start = writer.bytes.count
    writer.raw("survived\t")
    writer.number(worker.rawValue)
    writer.left(left, lineStart: start)
    writer.endLine()
  }

  private static func text(
    _ word: StaticString, _ what: String, into writer: inout FieldWriter
  ) {
    let start = writer.bytes.count
    writer.raw(word)
    writer.tab()
    writer.cut(what, lineStart: start)
    writer.endLine()
  }

  // MARK: - Reading

  /// Without its line feed. A worker's line replaces the content of `lines`.
  static func report(_ line: UnsafeRawBufferPointer, into lines: inout LineBuffer) -> AgentReport? {
    var fields = MessageFields(line)
    guard let first = fields.next() else { return nil }
    if let worker = worker(first) {
      guard setAside(line, behind: first, in: &lines) else { return nil }
      return .line(worker)
    }
    let report: AgentReport
    if first.equals("gone") {
      guard let worker = fields.next().flatMap(worker) else { return nil }
      if fields.isWholeMessage { return .gone(worker, complaint: nil) }
      guard let text = fields.text() else { return nil }
      report = .gone(worker, complaint: text)
    } else if first.equals("survived") {
      guard let worker = fields.next().flatMap(worker), let left = fields.left() else {
        return nil
      }
      report = .survived(worker, left)
    } else if first.equals("pulse") {
      guard let number = fields.pulse() else { return nil }
      report = .pulse(number)
    } else if first.equals("hello") {
      guard let hello = fields.agentHello() else { return nil }
      report = .hello(hello)
    } else if first.equals("refused") {
      guard let text = fields.text() else { return nil }
      report = .refused(text)
    } else if first.equals("leaving") {
      guard let text = fields.text() else { return nil }
      report = .leaving(text)
    } else if first.equals("bye") {
      report = .bye
    } else {
      return nil
    }
    return fields.isWholeMessage ? report : nil
  }

  /// Like `report`.
  static func order(_ line: UnsafeRawBufferPointer, into lines: inout LineBuffer) -> AgentOrder? {
    var fields = MessageFields(line)
    guard let first = fields.next() else { return nil }
    if let worker = worker(first) {
      guard setAside(line, behind: first, in: &lines) else { return nil }
      return .line(worker)
    }
    let order: AgentOrder
    if first.equals("pulse") {
      guard let number = fields.pulse() else { return nil }
      order = .pulse(number)
    } else if first.equals("launch") {
      guard let worker = fields.next().flatMap(worker),
        let kind = fields.next().flatMap({ WorkerKind(relayWord: $0) })
      else { return nil }
      order = .launch(worker, kind)
    } else if first.equals("kill") {
      guard let worker = fields.next().flatMap(worker) else { return nil }
      order = .kill(worker)
    } else if first.equals("open") {
      guard let opening = fields.opening() else { return nil }
      return .open(opening)
    } else if first.equals("variable") {
      guard let entry = fields.text(), entry.utf8.contains(UInt8(ascii: "=")) else { return nil }
      order = .variable(entry)
    } else if first.equals("arguments") {
      guard let task = fields.task(), let count = fields.number(as: Int.self), count > 0 else {
        return nil
      }
      order = .arguments(task, count: count)
    } else if first.equals("argument") {
      guard let number = fields.natural(as: Int.self),
        let bytes = fields.next().flatMap({ Field.unescaped($0) })
      else { return nil }
      order = .argument(number, bytes)
    } else if first.equals("bye") {
      order = .bye
    } else {
      return nil
    }
    return fields.isWholeMessage ? order : nil
  }

  private static func setAside(
    _ line: UnsafeRawBufferPointer, behind number: UnsafeRawBufferPointer,
    in lines: inout LineBuffer
  ) -> Bool {
    guard number.count < line.count else { return false }
    lines.replace(withLine: line.part(number.count + 1, line.count))
    return true
  }

  private static func worker(_ field: UnsafeRawBufferPointer) -> WorkerID? {
    guard let number = Field.number(field, as: Int32.self), number >= 0 else { return nil }
    return WorkerID(number)
  }
}

extension WorkerKind {
  fileprivate init?(relayWord: UnsafeRawBufferPointer) {
    let kind = Self.allCases.first { $0.row.relayWord.map { relayWord.equals($0) } ?? false }
    guard let kind else { return nil }
    self = kind
  }
}

extension MessageFields {
  /// Of another version only the version.
  fileprivate mutating func opening() -> AgentOpening? {
    guard let version = number(as: Int.self) else { return nil }
    var opening = AgentOpening(
      version: version, run: "", planKey: "", leaseMilliseconds: 0, folder: "")
    if version != AgentOpening.currentVersion { return opening }
    guard let run = text(), let key = text(), let lease = number(as: Int64.self), lease > 0,
      let folder = text(), folder.utf8.first == UInt8(ascii: "/"), isWholeMessage
    else { return nil }
    opening.run = run
    opening.planKey = key
    opening.leaseMilliseconds = lease
    opening.folder = folder
    return opening
  }

  /// An agent of another version sends `refused`.
  fileprivate mutating func agentHello() -> AgentHello? {
    guard number(as: Int.self) == AgentOpening.currentVersion, let key = text(),
      let pid = number(as: Int32.self), pid > 0
    else { return nil }
    var hello = AgentHello(planKey: key, pid: pid, cores: 0, memoryBytes: 0, host: "")
    while let field = next() {
      guard let field = LineField(field) else { return nil }
      switch field.key {
      case .cores: hello.cores = Field.number(field.value, as: Int.self) ?? 0
      case .memory: hello.memoryBytes = Field.number(field.value, as: Int64.self) ?? 0
      case .gpus:
        hello.gpus = (Field.text(field.value) ?? "").split(separator: ",").map(String.init)
      case .time: hello.secondsLeft = Field.number(field.value, as: Int64.self)
      case .boot: hello.bootID = Field.text(field.value) ?? ""
      case .job: hello.job = Field.text(field.value) ?? ""
      case .step: hello.step = Field.text(field.value) ?? ""
      case .incarnation: hello.incarnation = Field.text(field.value) ?? ""
      case .host: hello.host = Field.text(field.value) ?? ""
      default: break
      }
    }
    return hello.cores > 0 && hello.memoryBytes > 0 && !hello.host.isEmpty ? hello : nil
  }
}

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

/// The heartbeat timeout of an agent's workers; for the reasons see `RelayLines`. The clock goes on
/// while the host sleeps.
package struct AgentLease {
  private let nanoseconds: Int64
  /// When the newest answered pulse was sent.
  private var provenAt: Instant
  /// Unanswered, oldest first.
  private var underway: [(number: Int32, at: Instant)] = []
  private var lastNumber: Int32 = 0
  private(set) package var nextPulse: Instant

  package static let intervalMilliseconds: Int64 = 2_000
  package static let standardMilliseconds: Int64 = 5_000

  /// - Parameter now: when the coordinator's first message was read.
  package init(milliseconds: Int64, from now: Instant) {
    nanoseconds = milliseconds * 1_000_000
    provenAt = now
    nextPulse = now
  }

  package var end: Instant { Instant(nanoseconds: provenAt.nanoseconds + nanoseconds) }

  package mutating func pulse(at now: Instant) -> Int32? {
    guard nextPulse <= now else { return nil }
    lastNumber &+= 1
    underway.append((lastNumber, now))
    // Older ones do not matter.
    if underway.count > Self.mostUnderway { underway.removeFirst() }
    // At least two pulses per timeout.
    let interval = min(Self.intervalMilliseconds * 1_000_000, nanoseconds / 2)
    nextPulse = Instant(nanoseconds: now.nanoseconds + interval)
    return lastNumber
  }

  private static let mostUnderway = 64

  /// Ignores an unknown or repeated number.
  package mutating func answered(_ number: Int32) {
    guard let place = underway.firstIndex(where: { $0.number == number }) else { return }
    provenAt = underway[place].at
    underway.removeSubrange(...place)
  }
}
