package import OpflowBase
package import OpflowPlan

// The stream of a node
// ====================
//
// One stream of lines each way joins the coordinator and the agent of a node, over any transport. A
// line is a worker's number and a message of the worker protocol, or an agent message; at most
// 1,024 bytes with the LF, since some transports hold back longer lines.
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
//   N MESSAGE                                     N REPORT
//   pulse N                                       pulse N
//   bye                                           leaving TEXT
//                                                 bye
//
// Fields are separated by TAB. A worker's number N is used once: it is valid between `launch` and
// `gone`. `gone` comes when all descendants of a worker are gone, if the worker could not be
// launched (TEXT says why), and as the answer to every earlier `kill`. A `survived` before it names
// processes that the agent could not end.
//
// The heartbeat timeout
// ---------------------
//
// When the stream dies, the agent's workers still hold their tasks, and no other worker may get
// these tasks before the workers are ended. Neither end can know when the other notices, so each
// has its own clock, and the agent's expires first:
//
// - The agent sends `pulse N` every two seconds, and the coordinator answers with the same N. An
//   answer proves that the coordinator lived *after* N was sent, not when the answer arrived, since
//   answers may wait in a buffer. So the timeout starts when the agent sent the newest answered N.
//   When it expires, the agent ends its workers and exits. The clock also runs while the machine
//   sleeps (CLOCK_BOOTTIME).
// - The coordinator answers each pulse at once. It received the last pulse after the agent sent it,
//   so when the timeout has passed since then, the agent's has expired too, and the workers are
//   ended a moment later (`AgentLease`).
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
  /// Includes the line feed.
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
      line.message("open", opening.version)
      line.field(opening.run)
      line.field(opening.planKey)
      line.field(opening.leaseMilliseconds)
      line.field(opening.folder)
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

  /// False if the entry is too long.
  package static func variable(_ entry: String, into writer: inout FieldWriter) -> Bool {
    add(to: &writer) { line in
      line.raw("variable")
      line.field(entry)
    }
  }

  package static func arguments(_ arguments: TaskArguments, into writer: inout FieldWriter) {
    writer.message("arguments", arguments.task.rawValue)
    writer.field(arguments.words.count)
    writer.endLine()
    for (number, word) in arguments.words.enumerated() {
      var rest = Array(word.utf8)[...]
      while !rest.isEmpty {
        writer.message("argument", number)
        writer.field(rest.prefix(longestPieceBytes))
        writer.endLine()
        rest = rest.dropFirst(longestPieceBytes)
      }
    }
  }

  package static func launch(_ worker: WorkerID, _ kind: WorkerKind, into writer: inout FieldWriter)
  {
    guard let word = kind.row.relayWord else {
      preconditionFailure("this kind of worker runs only with the coordinator")
    }
    writer.message("launch", worker.rawValue)
    writer.word(word)
    writer.endLine()
  }

  static func tellsBadEnd(_ line: UnsafeRawBufferPointer) -> Bool {
    var fields = MessageFields(line)
    guard let word = fields.next(), word.equals("ended") else { return false }
    while let field = fields.next() { if field.equals("exit=0") { return false } }
    return true
  }

  package static func kill(_ worker: WorkerID, into writer: inout FieldWriter) {
    writer.message("kill", worker.rawValue)
    writer.endLine()
  }

  /// Writes a pulse, or the answer to one.
  package static func pulse(_ number: Int32, into writer: inout FieldWriter) {
    writer.message("pulse", number)
    writer.endLine()
  }

  package static func bye(into writer: inout FieldWriter) { writer.raw("bye\n") }

  // MARK: - From the agent

  package static func hello(_ hello: AgentHello, into writer: inout FieldWriter) {
    let start = writer.bytes.count
    writer.message("hello", AgentOpening.currentVersion)
    writer.field(hello.planKey)
    writer.field(hello.pid)
    var hello = hello
    FieldPass.write(to: &writer) { hello.list(&$0, lineStart: start) }
    writer.endLine()
  }

  package static func refused(_ detail: String, into writer: inout FieldWriter) {
    writer.message("refused", detail)
    writer.endLine()
  }

  package static func leaving(_ detail: String, into writer: inout FieldWriter) {
    writer.message("leaving", detail)
    writer.endLine()
  }

  package static func gone(_ worker: WorkerID, complaint: String?, into writer: inout FieldWriter) {
    let start = writer.bytes.count
    writer.message("gone", worker.rawValue)
    if let complaint { writer.cutField(complaint, lineStart: start) }
    writer.endLine()
  }

  package static func survived(
    _ worker: WorkerID, _ left: LeftBehind, into writer: inout FieldWriter
  ) {
    let start = writer.bytes.count
    writer.message("survived", worker.rawValue)
    writer.left(left, lineStart: start)
    writer.endLine()
  }

  // MARK: - Reading

  /// `line` has no line feed. A worker's line replaces the contents of `lines`.
  static func report(_ line: UnsafeRawBufferPointer, into lines: inout LineBuffer) -> AgentReport? {
    read(line, into: &lines, AgentReport.line) { $0.agentReport($1) }
  }

  static func message(_ line: UnsafeRawBufferPointer, into lines: inout LineBuffer) -> AgentMessage?
  {
    read(line, into: &lines, AgentMessage.line) { $0.agentMessage($1) }
  }

  private static func read<Message>(
    _ line: UnsafeRawBufferPointer, into lines: inout LineBuffer, _ ofWorker: (WorkerID) -> Message,
    _ other: (inout MessageFields, UnsafeRawBufferPointer) -> Message?
  ) -> Message? {
    var fields = MessageFields(line)
    guard let first = fields.next() else { return nil }
    if let number = Field.number(first, as: Int32.self), number >= 0 {
      guard first.count < line.count else { return nil }
      lines.replace(withLine: line.part(first.count + 1, line.count))
      return ofWorker(WorkerID(number))
    }
    guard let message = other(&fields, first), fields.isWholeMessage else { return nil }
    return message
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
  fileprivate mutating func agentReport(_ word: UnsafeRawBufferPointer) -> AgentReport? {
    switch word {
    case "gone":
      ofWorker(AgentReport.gone) { fields in
        fields.isWholeMessage ? .some(nil) : fields.text().map { .some($0) }
      }
    case "survived": ofWorker(AgentReport.survived) { $0.left() }
    case "pulse": attempt().map { .pulse($0) }
    case "hello": agentHello().map { .hello($0) }
    case "refused": text().map { .refused($0) }
    case "leaving": text().map { .leaving($0) }
    case "bye": .bye
    default: nil
    }
  }

  fileprivate mutating func agentMessage(_ word: UnsafeRawBufferPointer) -> AgentMessage? {
    switch word {
    case "pulse": attempt().map { .pulse($0) }
    case "launch":
      ofWorker(AgentMessage.launch) { $0.next().flatMap { WorkerKind(relayWord: $0) } }
    case "kill": worker().map { .kill($0) }
    case "open": opening().map { .open($0) }
    case "variable": text().flatMap { $0.utf8.contains(UInt8(ascii: "=")) ? .variable($0) : nil }
    case "arguments": ofTask(AgentMessage.arguments) { $0.positive().map { Int($0) } }
    case "argument": argument()
    case "bye": .bye
    default: nil
    }
  }

  private mutating func worker() -> WorkerID? { attempt().map { WorkerID($0) } }

  private mutating func ofWorker<Value, Message>(
    _ make: (WorkerID, Value) -> Message, _ rest: (inout Self) -> Value?
  ) -> Message? {
    guard let worker = worker(), let value = rest(&self) else { return nil }
    return make(worker, value)
  }

  private mutating func argument() -> AgentMessage? {
    guard let number = natural(as: Int.self), let bytes = bytes() else { return nil }
    return .argument(number, bytes)
  }

  /// Reads only the version of an opening of another version.
  private mutating func opening() -> AgentOpening? {
    guard let version = number(as: Int.self) else { return nil }
    var opening = AgentOpening(
      version: version, run: "", planKey: "", leaseMilliseconds: 0, folder: "")
    if version != AgentOpening.currentVersion {
      passRest()
      return opening
    }
    guard let run = text(), let key = text(), let lease = number(as: Int64.self), lease > 0,
      let folder = text(), folder.utf8.first == UInt8(ascii: "/")
    else { return nil }
    opening.run = run
    opening.planKey = key
    opening.leaseMilliseconds = lease
    opening.folder = folder
    return opening
  }

  /// An agent of another version sends `refused`.
  private mutating func agentHello() -> AgentHello? {
    guard number(as: Int.self) == AgentOpening.currentVersion, let key = text(),
      let pid = number(as: Int32.self), pid > 0
    else { return nil }
    var hello = AgentHello(planKey: key, pid: pid, cores: 0, memoryBytes: 0, host: "")
    while let field = next() {
      guard let field = LineField(field) else { return nil }
      FieldPass.read(field) { hello.list(&$0) }
    }
    return hello.cores > 0 && hello.memoryBytes > 0 && !hello.host.isEmpty ? hello : nil
  }
}

/// A message from the coordinator to the agent of a node.
package enum AgentMessage: Equatable, Sendable {
  /// Comes first.
  case open(AgentOpening)
  /// `NAME=VALUE` for all workers.
  case variable(String)
  /// The number of arguments, which follow in pieces.
  case arguments(TaskID, count: Int)
  case argument(Int, [UInt8])
  case launch(WorkerID, WorkerKind)
  /// Kill the worker with all descendants.
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
  package var leaseMilliseconds: Int64
  /// The run's folder; absolute.
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
  case line(WorkerID)
  /// Processes that the agent could not end; `gone` follows.
  case survived(WorkerID, LeftBehind)
  /// The worker and its other descendants are gone.
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
  /// The time until the node is taken back; nil if unknown.
  package var secondsLeft: Int64?
  /// Unique for the transport, even if host names are not.
  package var host: String
  /// Changes with each boot; empty if unknown.
  package var bootID = ""
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

/// The heartbeat timeout of an agent's workers (`RelayLines`). The clock also runs while the
/// machine sleeps.
package struct AgentLease {
  private let nanoseconds: Int64
  /// When the newest answered pulse was sent.
  private var provenAt: Instant
  /// Unanswered pulses, oldest first.
  private var underway: [(number: Int32, at: Instant)] = []
  private var lastNumber: Int32 = 0
  private(set) package var nextPulse: Instant

  package static let intervalMilliseconds: Int64 = 2_000
  package static let standardMilliseconds: Int64 = 5_000

  /// - Parameter now: When the coordinator's first message was read.
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
    // Older pulses do not matter.
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
