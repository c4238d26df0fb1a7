package import OpflowBase
internal import OpflowPlan

// The worker protocol's lines
// ===========================
//
// A message is a line: a word and its fields, separated by TAB and ended by LF, in the journal's
// alphabet and escapes, at most 1,000 bytes including the LF. Tasks are numbers of the plan.
//
//   run|follow ID ATTEMPT               hello VERSION PLAN-KEY PID cores=N [memory=BYTES]
//                                             actions=A,B [start=TICKS] [group=N] [host=NAME]
//   revoke ID ATTEMPT                   started ID ATTEMPT PID
//   stop ID ATTEMPT REASON              progress ID DONE TOTAL SPEED TEXT
//   suspend ID ATTEMPT                  ended ID ATTEMPT [exit=N|signal=N] [reason=…] [errno=N]
//   continue ID ATTEMPT                       [wall=US] [user=US] [sys=US] [rss=KIB] [out=BYTES]
//   watch ID on|off                     refused ID ATTEMPT errno=N what=TEXT
//   conclude STATE                      revoked ID ATTEMPT
//                                       lacks ID ATTEMPT TEXT
//   pulse N                             pulse N
//   secret NAME PART/OF VALUE           left ID ATTEMPT TEXT
//   values ID ATTEMPT|-                 value ID ATTEMPT NAME HASH [TEXT]
//   value ID NAME HASH                  fault ID ATTEMPT TEXT
//   ports ID [N ...]                    ready ID ATTEMPT [N ...]
//   tokens ID N                         tokens ID N
//   jobs ID OWN ALL
//   gpus ID N,N,…
//   check ID SERIAL NEEDS WITH|- ASKED AFTER KEEPS|- [SKIPPED ...]
//                                       kept ID SERIAL NAME HASH [TEXT]
//                                       fresh ID SERIAL ORIGIN
//                                       stale ID SERIAL TEXT
//                                       unfit ID SERIAL TEXT
//                                       unwritten ID SERIAL TEXT
//                                       awaits ID SERIAL
//                                       recorded ID ATTEMPT ORIGIN
//                                       changed ID ATTEMPT TEXT
//                                       restored ID ATTEMPT
//                                       warning TEXT
//   bye                                 fetched ID ATTEMPT [from=N] [size=N] [gained=N] [after=MS]
//                                             [kept=1] [sha256=HEX] [sha512=HEX] [source=HEX]
//                                             [etag=…] [date=…] [url=…] [what=…]
//
// Text is the last field and is cut between characters if the line would be too long. Any other
// line is invalid: the hello ensures that both ends have the same version. Only the hello has keys
// in any order, and its unknown keys and actions are ignored. From a hello of another version only
// the version is read, for the error.

package enum MessageCodec {
  /// Includes the line feed.
  package static let longestLineBytes = 1000

  package static func encode(_ message: WorkerMessage, into writer: inout FieldWriter) {
    switch message {
    case .run(let task, let attempt): writer.message("run", task, attempt)
    case .follow(let task, let attempt): writer.message("follow", task, attempt)
    case .revoke(let task, let attempt): writer.message("revoke", task, attempt)
    case .stop(let task, let attempt, let reason):
      writer.message("stop", task, attempt)
      writer.word(reason.word)
    case .suspend(let task, let attempt): writer.message("suspend", task, attempt)
    case .proceed(let task, let attempt): writer.message("continue", task, attempt)
    case .watch(let task, let on):
      writer.message("watch", task)
      writer.word(on ? "on" : "off")
    case .setRunState(let state): writer.message("conclude", state.rawValue)
    case .values(let task, let attempt):
      writer.message("values", task)
      writer.numberOrDash(attempt)
    case .value(let task, let name, let hash):
      writer.message("value", task)
      writer.value(name, hash)
    case .ports(let task, let ports):
      writer.message("ports", task)
      for port in ports { writer.field(port) }
    case .tokens(let task, let count): writer.message("tokens", task, count)
    case .jobs(let task, let own, let all):
      writer.message("jobs", task, own)
      writer.field(all)
    case .devices(let task, let devices):
      writer.message("gpus", task)
      writer.field(devices.numbers.map(String.init).joined(separator: ","))
    case .check(let check):
      writer.message("check", check.task, check.serial)
      writer.hash(check.needs)
      writer.hash(check.with)
      writer.word(check.isAsked ? "1" : "0")
      writer.field(check.after)
      writer.hash(check.keeps)
      for need in check.skipped { writer.field(need.rawValue) }
    case .pulse(let number): writer.message("pulse", number)
    case .bye: writer.raw("bye")
    }
    writer.endLine()
  }

  package static func encode(_ report: WorkerReport, into writer: inout FieldWriter) {
    let start = writer.bytes.count
    switch report {
    case .hello(let hello):
      writer.message("hello", hello.version)
      writer.field(hello.planKey)
      writer.field(hello.pid)
      var hello = hello
      FieldPass.write(to: &writer) { hello.list(&$0, lineStart: start) }
    case .started(let task, let attempt, let pid):
      writer.message("started", task, attempt)
      writer.field(pid)
    case .progress(let progress):
      writer.message("progress", progress.task)
      writer.field(progress.doneBytes)
      writer.field(progress.totalBytes)
      writer.field(progress.bytesPerSecond)
      writer.cutField(progress.text, lineStart: start)
    case .fetched(let task, let attempt, let record):
      writer.message("fetched", task, attempt)
      record.report.write(to: &writer, withDetail: true)
    case .left(let task, let attempt, let left):
      writer.message("left", task, attempt)
      writer.left(left, lineStart: start)
    case .value(let task, let attempt, let value):
      writer.message("value", task, attempt)
      writer.value(value)
    case .fault(let task, let attempt, let detail): writer.message("fault", task, attempt, detail)
    case .ended(let task, let attempt, let outcome):
      writer.message("ended", task, attempt)
      writer.add(capacity: 256) { $0.append(outcome) }
    case .refused(let task, let attempt, let errorNumber, let detail):
      writer.message("refused", task, attempt)
      writer.field(.errno, errorNumber)
      writer.begin(.detail)
      writer.cut(detail, lineStart: start)
    case .revoked(let task, let attempt): writer.message("revoked", task, attempt)
    case .lacks(let task, let attempt, let detail): writer.message("lacks", task, attempt, detail)
    case .kept(let task, let serial, let value):
      writer.message("kept", task, serial)
      writer.value(value)
    case .checked(let task, let serial, .fresh(let origin)):
      writer.message("fresh", task, serial)
      writer.hash(origin)
    case .checked(let task, let serial, .stale(let why)): writer.message("stale", task, serial, why)
    case .checked(let task, let serial, .unfit(let detail)):
      writer.message("unfit", task, serial, detail)
    case .checked(let task, let serial, .unwritten(let detail)):
      writer.message("unwritten", task, serial, detail)
    case .awaits(let task, let serial): writer.message("awaits", task, serial)
    case .recorded(let task, let attempt, let origin):
      writer.message("recorded", task, attempt)
      writer.hash(origin)
    case .changed(let task, let attempt, let detail):
      writer.message("changed", task, attempt, detail)
    case .restored(let task, let attempt): writer.message("restored", task, attempt)
    case .ready(let task, let attempt, let ports):
      writer.message("ready", task, attempt)
      for port in ports { writer.field(port) }
    case .tokens(let task, let count): writer.message("tokens", task, count)
    case .warning(let detail): writer.message("warning", detail)
    case .pulse(let number): writer.message("pulse", number)
    }
    writer.endLine()
  }

  /// `line` has no line feed.
  package static func message(_ line: UnsafeRawBufferPointer) -> WorkerMessage? {
    var fields = MessageFields(line)
    guard let word = fields.next(), let message = fields.message(word), fields.isWholeMessage
    else { return nil }
    return message
  }

  package static func report(_ line: UnsafeRawBufferPointer) -> WorkerReport? {
    var fields = MessageFields(line)
    guard let word = fields.next(), let report = fields.report(word), fields.isWholeMessage
    else { return nil }
    return report
  }
}

extension MessageFields {
  fileprivate mutating func message(_ word: UnsafeRawBufferPointer) -> WorkerMessage? {
    switch word {
    case "run": ofAttempt(WorkerMessage.run)
    case "follow": ofAttempt(WorkerMessage.follow)
    case "revoke": ofAttempt(WorkerMessage.revoke)
    case "stop": ofAttempt(WorkerMessage.stop) { $0.next().flatMap { StopReason(word: $0) } }
    case "suspend": ofAttempt(WorkerMessage.suspend)
    case "continue": ofAttempt(WorkerMessage.proceed)
    case "watch": ofTask(WorkerMessage.watch) { $0.flag("on", "off") }
    case "conclude": text().flatMap(RunState.init(rawValue:)).map { .setRunState($0) }
    case "pulse": attempt().map { .pulse($0) }
    case "values": ofTask(WorkerMessage.values) { $0.naturalOrNone(as: Int32.self) }
    case "value":
      ofTask({ .value($0, name: $1.name, hash: $1.hash) }) { $0.value(withText: false) }
    case "ports": ofTask(WorkerMessage.ports) { $0.ports() }
    case "tokens": ofTask(WorkerMessage.tokens) { $0.number(as: Int32.self) }
    case "jobs": ofTask({ .jobs($0, own: $1.own, all: $1.all) }) { $0.jobs() }
    case "gpus": ofTask(WorkerMessage.devices) { $0.devices() }
    case "check": check().map { .check($0) }
    case "bye": .bye
    default: nil
    }
  }

  fileprivate mutating func report(_ word: UnsafeRawBufferPointer) -> WorkerReport? {
    switch word {
    case "started": ofAttempt(WorkerReport.started) { $0.positive() }
    case "ended": ofAttempt(WorkerReport.ended) { $0.outcome() }
    case "value": ofAttempt(WorkerReport.value) { $0.value() }
    case "fault": ofAttempt(WorkerReport.fault) { $0.text() }
    case "left": ofAttempt(WorkerReport.left) { $0.left() }
    case "fetched": ofAttempt(WorkerReport.fetched) { $0.fetch() }
    case "revoked": ofAttempt(WorkerReport.revoked)
    case "lacks": ofAttempt(WorkerReport.lacks) { $0.text() }
    case "refused":
      ofAttempt({ .refused($0, attempt: $1, errorNumber: $2.number, detail: $2.detail) }) {
        $0.refusal()
      }
    case "progress": progress().map { .progress($0) }
    case "kept": ofAttempt(WorkerReport.kept) { $0.value() }
    case "fresh":
      ofAttempt(WorkerReport.checked) { $0.hash().map { .fresh(origin: $0) } }
    case "stale": ofAttempt(WorkerReport.checked) { $0.text().map { .stale(why: $0) } }
    case "unfit": ofAttempt(WorkerReport.checked) { $0.text().map { .unfit(detail: $0) } }
    case "unwritten": ofAttempt(WorkerReport.checked) { $0.text().map { .unwritten(detail: $0) } }
    case "awaits": ofAttempt(WorkerReport.awaits)
    case "recorded": ofAttempt(WorkerReport.recorded) { $0.hash() }
    case "changed": ofAttempt(WorkerReport.changed) { $0.text() }
    case "restored": ofAttempt(WorkerReport.restored)
    case "ready": ofAttempt(WorkerReport.ready) { $0.ports() }
    case "tokens": ofTask(WorkerReport.tokens) { $0.positive() }
    case "warning": text().map { .warning($0) }
    case "hello": hello().map { .hello($0) }
    case "pulse": attempt().map { .pulse($0) }
    default: nil
    }
  }
}

extension FieldWriter {
  fileprivate mutating func message(_ word: StaticString, _ task: TaskID) {
    message(word, task.rawValue)
  }

  fileprivate mutating func message(_ word: StaticString, _ task: TaskID, _ attempt: Int32) {
    message(word, task.rawValue)
    field(attempt)
  }

  /// Writes as much of the text as fits.
  fileprivate mutating func message(
    _ word: StaticString, _ task: TaskID, _ attempt: Int32, _ detail: String
  ) {
    let start = bytes.count
    message(word, task, attempt)
    cutField(detail, lineStart: start)
  }

  fileprivate mutating func value(_ name: String, _ hash: UInt64) {
    field(name)
    self.hash(hash)
  }

  fileprivate mutating func value(_ value: TaskValue) {
    self.value(value.name, value.hash)
    if let text = value.text { field(text) }
  }
}
