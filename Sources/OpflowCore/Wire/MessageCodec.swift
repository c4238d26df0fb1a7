// The worker protocol's lines
// ===========================
//
// A message is a line: a word and its fields, separated by TAB and ended by LF, in the journal's
// alphabet and escapes, at most 1,000 bytes with the LF. Tasks are decimal numbers of the plan.
//
//   run ID ATTEMPT                      hello VERSION PLAN-KEY PID CORES ACTIONS HOST
//   revoke ID ATTEMPT                   started ID ATTEMPT PID
//   stop ID ATTEMPT REASON              progress ID DONE TOTAL SPEED TEXT
//   suspend ID ATTEMPT                  ended ID ATTEMPT [exit=N|signal=N] [reason=…] [errno=N]
//   continue ID ATTEMPT                       wall=US user=US sys=US rss=KIB out=BYTES
//   watch ID on|off                     refused ID ATTEMPT errno=N what=TEXT
//   conclude STATE                      revoked ID ATTEMPT
//   bye                                 pulse
//                                       fetched ID ATTEMPT [from=N] [size=N] [gained=N] [after=MS]
//                                             [kept=1] [sha256=HEX] [sha512=HEX] [source=HEX]
//                                             [etag=…] [date=…] [url=…] [what=…]
//
// ACTIONS are separated by commas. Text stands last and is cut between characters where the line
// would be too long. A line that is anything else is no message: both ends know the same version,
// which the hello tells, so nothing unknown is passed over.

package enum MessageCodec {
  /// The line feed included.
  package static let longestLineBytes = 1000

  /// Adds the line of an order.
  package static func encode(_ order: WorkerOrder, into writer: inout FieldWriter) {
    switch order {
    case .run(let task, let attempt): writer.message("run", task, attempt)
    case .revoke(let task, let attempt): writer.message("revoke", task, attempt)
    case .stop(let task, let attempt, let reason):
      writer.message("stop", task, attempt)
      writer.tab()
      writer.raw(reason.text)
    case .suspend(let task, let attempt): writer.message("suspend", task, attempt)
    case .proceed(let task, let attempt): writer.message("continue", task, attempt)
    case .watch(let task, let on):
      writer.message("watch", task)
      writer.raw(on ? "\ton" : "\toff")
    case .conclude(let state):
      writer.raw("conclude\t")
      writer.raw(state.rawValue)
    case .bye: writer.raw("bye")
    }
    writer.endLine()
  }

  /// Adds the line of a report.
  package static func encode(_ report: WorkerReport, into writer: inout FieldWriter) {
    let start = writer.bytes.count
    switch report {
    case .hello(let hello):
      writer.raw("hello\t")
      writer.number(hello.version)
      writer.tab()
      writer.escaped(hello.planKey)
      writer.tab()
      writer.number(hello.pid)
      writer.tab()
      writer.number(hello.cores)
      writer.tab()
      for (index, action) in hello.actions.enumerated() {
        if index > 0 { writer.raw(",") }
        writer.escaped(action)
      }
      writer.tab()
      writer.cut(hello.host, lineStart: start)
    case .started(let task, let attempt, let pid):
      writer.message("started", task, attempt)
      writer.tab()
      writer.number(pid)
    case .progress(let progress):
      writer.message("progress", progress.task)
      for value in [progress.doneBytes, progress.totalBytes, progress.bytesPerSecond] {
        writer.tab()
        writer.number(value)
      }
      writer.tab()
      writer.cut(progress.text, lineStart: start)
    case .fetched(let task, let attempt, let record):
      writer.message("fetched", task, attempt)
      record.report.write(to: &writer, withWhat: true)
    case .ended(let task, let attempt, let outcome):
      writer.message("ended", task, attempt)
      writer.outcome(outcome)
    case .refused(let task, let attempt, let errorNumber, let what):
      writer.message("refused", task, attempt)
      writer.raw("\terrno=")
      writer.number(errorNumber)
      writer.raw("\twhat=")
      writer.cut(what, lineStart: start)
    case .revoked(let task, let attempt): writer.message("revoked", task, attempt)
    case .pulse: writer.raw("pulse")
    }
    writer.endLine()
  }

  /// The order of a line, which is given without its line feed; nil when it is none.
  package static func order(_ line: UnsafeRawBufferPointer) -> WorkerOrder? {
    var fields = MessageFields(line)
    guard let word = fields.next() else { return nil }
    let order: WorkerOrder
    if word.equals("run") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      order = .run(task, attempt: attempt)
    } else if word.equals("revoke") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      order = .revoke(task, attempt: attempt)
    } else if word.equals("stop") {
      guard let task = fields.task(), let attempt = fields.attempt(), let reason = fields.reason()
      else { return nil }
      order = .stop(task, attempt: attempt, reason: reason)
    } else if word.equals("suspend") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      order = .suspend(task, attempt: attempt)
    } else if word.equals("continue") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      order = .proceed(task, attempt: attempt)
    } else if word.equals("watch") {
      guard let task = fields.task(), let on = fields.next() else { return nil }
      guard on.equals("on") || on.equals("off") else { return nil }
      order = .watch(task, on: on.equals("on"))
    } else if word.equals("conclude") {
      guard let state = fields.text().flatMap(RunState.init(rawValue:)) else { return nil }
      order = .conclude(state)
    } else if word.equals("bye") {
      order = .bye
    } else {
      return nil
    }
    return fields.isWholeMessage ? order : nil
  }

  /// The report of a line, which is given without its line feed; nil when it is none.
  package static func report(_ line: UnsafeRawBufferPointer) -> WorkerReport? {
    var fields = MessageFields(line)
    guard let word = fields.next() else { return nil }
    let report: WorkerReport
    if word.equals("started") {
      guard let task = fields.task(), let attempt = fields.attempt(),
        let pid = fields.number(as: Int32.self), pid > 0
      else { return nil }
      report = .started(task, attempt: attempt, pid: pid)
    } else if word.equals("ended") {
      guard let task = fields.task(), let attempt = fields.attempt(), let outcome = fields.outcome()
      else { return nil }
      report = .ended(task, attempt: attempt, outcome)
    } else if word.equals("fetched") {
      guard let task = fields.task(), let attempt = fields.attempt(), let record = fields.fetch()
      else { return nil }
      report = .fetched(task, attempt: attempt, record)
    } else if word.equals("revoked") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      report = .revoked(task, attempt: attempt)
    } else if word.equals("refused") {
      guard let task = fields.task(), let attempt = fields.attempt(),
        let errorNumber = fields.value("errno", as: Int32.self), let what = fields.text(key: "what")
      else { return nil }
      report = .refused(task, attempt: attempt, errorNumber: errorNumber, what: what)
    } else if word.equals("progress") {
      guard let progress = fields.progress() else { return nil }
      report = .progress(progress)
    } else if word.equals("hello") {
      guard let hello = fields.hello() else { return nil }
      report = .hello(hello)
    } else if word.equals("pulse") {
      report = .pulse
    } else {
      return nil
    }
    return fields.isWholeMessage ? report : nil
  }
}

extension FieldWriter {
  fileprivate mutating func message(_ word: StaticString, _ task: TaskID) {
    raw(word)
    tab()
    number(task.rawValue)
  }

  fileprivate mutating func message(_ word: StaticString, _ task: TaskID, _ attempt: Int32) {
    message(word, task)
    tab()
    number(attempt)
  }

  fileprivate mutating func outcome(_ outcome: Outcome) {
    switch outcome.status {
    case .unknown: break
    case .exit(let code): pair("\texit=", code)
    case .signal(let signal): pair("\tsignal=", signal)
    }
    if outcome.reason != .none {
      raw("\treason=")
      raw(outcome.reason.text)
    }
    if outcome.errorNumber != 0 { pair("\terrno=", outcome.errorNumber) }
    pair("\twall=", outcome.usage.wallMicroseconds)
    pair("\tuser=", outcome.usage.userMicroseconds)
    pair("\tsys=", outcome.usage.systemMicroseconds)
    pair("\trss=", outcome.usage.peakKibibytes)
    pair("\tout=", outcome.usage.outputBytes)
  }

  private mutating func pair(_ key: StaticString, _ value: some FixedWidthInteger) {
    raw(key)
    number(value)
  }

  /// As much of `text` as the line has room for, the line feed still to come.
  fileprivate mutating func cut(_ text: String, lineStart: Int) {
    for character in text {
      let before = bytes.count
      escaped(character.utf8)
      if bytes.count - lineStart >= MessageCodec.longestLineBytes {
        removeLast(bytes.count - before)
        return
      }
    }
  }
}

/// The fields of a line, taken one after the other.
private struct MessageFields {
  private let line: UnsafeRawBufferPointer
  /// Behind the end once the last field was taken.
  private var position = 0
  /// A field had the right key and a value that is none.
  private var isBroken = false

  init(_ line: UnsafeRawBufferPointer) { self.line = line }

  private var isAtEnd: Bool { position > line.count }

  /// Whether every field was taken and made sense.
  var isWholeMessage: Bool { isAtEnd && !isBroken }

  mutating func next() -> UnsafeRawBufferPointer? {
    if isAtEnd { return nil }
    let end = line.position(of: Field.tab, from: position)
    defer { position = end + 1 }
    return line.part(position, end)
  }

  mutating func number<Value: FixedWidthInteger>(as type: Value.Type) -> Value? {
    next().flatMap { Field.number($0, as: type) }
  }

  /// A number that counts something.
  private mutating func natural<Value: FixedWidthInteger>(as type: Value.Type) -> Value? {
    guard let value = number(as: type), value >= 0 else { return nil }
    return value
  }

  mutating func task() -> TaskID? { natural(as: Int32.self).map { TaskID($0) } }
  mutating func attempt() -> Int32? { natural(as: Int32.self) }
  mutating func reason() -> Reason? { next().flatMap { Reason(text: $0) } }
  mutating func text() -> String? { next().flatMap { Field.text($0) } }

  /// The value of the next field, which must be `KEY=VALUE`.
  private mutating func value(_ key: StaticString) -> UnsafeRawBufferPointer? {
    let start = position
    guard let field = next() else { return nil }
    let length = key.utf8CodeUnitCount
    guard field.count > length, field[length] == UInt8(ascii: "="),
      field.part(0, length).equals(key)
    else {
      position = start
      return nil
    }
    return field.part(length + 1, field.count)
  }

  mutating func value<Value: FixedWidthInteger>(
    _ key: StaticString, as type: Value.Type
  ) -> Value? {
    guard let field = value(key) else { return nil }
    let number = Field.number(field, as: type)
    if number == nil { isBroken = true }
    return number
  }

  mutating func text(key: StaticString) -> String? { value(key).flatMap { Field.text($0) } }

  mutating func outcome() -> Outcome? {
    var outcome = Outcome(status: .unknown)
    if let code = value("exit", as: Int32.self) {
      outcome.status = .exit(code)
    } else if let signal = value("signal", as: Int32.self) {
      outcome.status = .signal(signal)
    }
    if let text = value("reason") {
      guard let reason = Reason(text: text), reason != .none else { return nil }
      outcome.reason = reason
    }
    if let number = value("errno", as: Int32.self) { outcome.errorNumber = number }
    guard let wall = value("wall", as: Int64.self), wall >= 0,
      let user = value("user", as: Int64.self), user >= 0,
      let system = value("sys", as: Int64.self), system >= 0,
      let peak = value("rss", as: Int64.self), peak >= 0,
      let output = value("out", as: Int64.self), output >= 0
    else { return nil }
    outcome.usage.wallMicroseconds = wall
    outcome.usage.userMicroseconds = user
    outcome.usage.systemMicroseconds = system
    outcome.usage.peakKibibytes = peak
    outcome.usage.outputBytes = output
    return outcome
  }

  /// All that is left.
  mutating func fetch() -> FetchRecord? {
    var report = FetchReport()
    while let field = next() {
      let equals = field.position(of: UInt8(ascii: "="), from: 0)
      guard equals < field.count,
        report.take(
          key: String(decoding: field.part(0, equals), as: UTF8.self),
          value: field.part(equals + 1, field.count))
      else { return nil }
    }
    return FetchRecord(report)
  }

  mutating func progress() -> WorkerProgress? {
    guard let task = task(), let done = natural(as: Int64.self),
      let total = number(as: Int64.self), total >= -1,
      let speed = natural(as: Int64.self), let text = text()
    else { return nil }
    return WorkerProgress(
      task: task, doneBytes: done, totalBytes: total, bytesPerSecond: speed, text: text)
  }

  mutating func hello() -> WorkerHello? {
    guard let version = natural(as: Int.self), let planKey = text(),
      let pid = natural(as: Int32.self), let cores = natural(as: Int.self),
      let actions = text(), let host = text()
    else { return nil }
    return WorkerHello(
      version: version, planKey: planKey, pid: pid, cores: cores,
      actions: actions.split(separator: ",").map(String.init), host: host)
  }
}
