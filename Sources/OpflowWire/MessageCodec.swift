package import OpflowBase
package import OpflowPlan

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
// in any order, and its unknown keys and actions are ignored. Of a hello of another version only
// the version is read, for the error.

package enum MessageCodec {
  /// With the line feed.
  package static let longestLineBytes = 1000

  package static func encode(_ order: WorkerOrder, into writer: inout FieldWriter) {
    switch order {
    case .run(let task, let attempt): writer.message("run", task, attempt)
    case .follow(let task, let attempt): writer.message("follow", task, attempt)
    case .revoke(let task, let attempt): writer.message("revoke", task, attempt)
    case .stop(let task, let attempt, let reason):
      writer.message("stop", task, attempt)
      writer.tab()
      writer.raw(reason.word)
    case .suspend(let task, let attempt): writer.message("suspend", task, attempt)
    case .proceed(let task, let attempt): writer.message("continue", task, attempt)
    case .watch(let task, let on):
      writer.message("watch", task)
      writer.raw(on ? "\ton" : "\toff")
    case .conclude(let state):
      writer.raw("conclude\t")
      writer.raw(state.rawValue)
    case .values(let task, let attempt?): writer.message("values", task, attempt)
    case .values(let task, nil):
      writer.message("values", task)
      writer.raw("\t-")
    case .value(let task, let name, let hash):
      writer.message("value", task)
      writer.value(name, hash)
    case .ports(let task, let ports):
      writer.message("ports", task)
      writer.ports(ports)
    case .tokens(let task, let count): writer.message("tokens", task, count)
    case .jobs(let task, let own, let all):
      writer.message("jobs", task, own)
      writer.tab()
      writer.number(all)
    case .devices(let task, let devices):
      writer.message("gpus", task)
      writer.devices(devices)
    case .check(let check):
      writer.message("check", check.task, check.serial)
      writer.tab()
      writer.hexadecimal(check.needs, digitCount: 16)
      writer.tab()
      if let with = check.with { writer.hexadecimal(with, digitCount: 16) } else { writer.raw("-") }
      writer.raw(check.isAsked ? "\t1\t" : "\t0\t")
      writer.number(check.after)
      writer.tab()
      if let keeps = check.keeps {
        writer.hexadecimal(keeps, digitCount: 16)
      } else {
        writer.raw("-")
      }
      for need in check.skipped {
        writer.tab()
        writer.number(need.rawValue)
      }
    case .pulse(let number): writer.pulse(number)
    case .bye: writer.raw("bye")
    }
    writer.endLine()
  }

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
      writer.offer(hello.offer)
      writer.fieldUnlessZero(.start, hello.startTime)
      writer.fieldUnlessZero(.group, hello.autogroup)
      if !hello.host.isEmpty {
        writer.begin(.host)
        writer.cut(hello.host, lineStart: start)
      }
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
    case .left(let task, let attempt, let left):
      writer.message("left", task, attempt)
      writer.left(left, lineStart: start)
    case .value(let task, let attempt, let value):
      writer.message("value", task, attempt)
      writer.value(value)
    case .fault(let task, let attempt, let what):
      writer.message("fault", task, attempt)
      writer.tab()
      writer.cut(what, lineStart: start)
    case .ended(let task, let attempt, let outcome):
      writer.message("ended", task, attempt)
      writer.add(capacity: 256) { $0.append(outcome) }
    case .refused(let task, let attempt, let errorNumber, let what):
      writer.message("refused", task, attempt)
      writer.field(.errno, errorNumber)
      writer.begin(.what)
      writer.cut(what, lineStart: start)
    case .revoked(let task, let attempt): writer.message("revoked", task, attempt)
    case .lacks(let task, let attempt, let what):
      writer.message("lacks", task, attempt)
      writer.tab()
      writer.cut(what, lineStart: start)
    case .kept(let task, let serial, let value):
      writer.message("kept", task, serial)
      writer.value(value)
    case .checked(let task, let serial, .fresh(let origin)):
      writer.message("fresh", task, serial)
      writer.tab()
      writer.hexadecimal(origin, digitCount: 16)
    case .checked(let task, let serial, .stale(let why)):
      writer.message("stale", task, serial)
      writer.tab()
      writer.cut(why, lineStart: start)
    case .checked(let task, let serial, .unfit(let what)):
      writer.message("unfit", task, serial)
      writer.tab()
      writer.cut(what, lineStart: start)
    case .checked(let task, let serial, .unwritten(let what)):
      writer.message("unwritten", task, serial)
      writer.tab()
      writer.cut(what, lineStart: start)
    case .awaits(let task, let serial): writer.message("awaits", task, serial)
    case .recorded(let task, let attempt, let origin):
      writer.message("recorded", task, attempt)
      writer.tab()
      writer.hexadecimal(origin, digitCount: 16)
    case .changed(let task, let attempt, let what):
      writer.message("changed", task, attempt)
      writer.tab()
      writer.cut(what, lineStart: start)
    case .restored(let task, let attempt): writer.message("restored", task, attempt)
    case .ready(let task, let attempt, let ports):
      writer.message("ready", task, attempt)
      writer.ports(ports)
    case .tokens(let task, let count): writer.message("tokens", task, count)
    case .warning(let what):
      writer.raw("warning\t")
      writer.cut(what, lineStart: start)
    case .pulse(let number): writer.pulse(number)
    }
    writer.endLine()
  }

  /// Without its line feed.
  package static func order(_ line: UnsafeRawBufferPointer) -> WorkerOrder? {
    var fields = MessageFields(line)
    guard let word = fields.next() else { return nil }
    let order: WorkerOrder
    if word.equals("run") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      order = .run(task, attempt: attempt)
    } else if word.equals("follow") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      order = .follow(task, attempt: attempt)
    } else if word.equals("revoke") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      order = .revoke(task, attempt: attempt)
    } else if word.equals("stop") {
      guard let task = fields.task(), let attempt = fields.attempt(),
        let reason = fields.stopReason()
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
    } else if word.equals("pulse") {
      guard let number = fields.pulse() else { return nil }
      order = .pulse(number)
    } else if word.equals("values") {
      guard let task = fields.task(), let attempt = fields.naturalOrNone(as: Int32.self) else {
        return nil
      }
      order = .values(task, attempt: attempt)
    } else if word.equals("value") {
      guard let task = fields.task(), let value = fields.value(), value.text == nil else {
        return nil
      }
      order = .value(task, name: value.name, hash: value.hash)
    } else if word.equals("ports") {
      guard let task = fields.task(), let ports = fields.ports() else { return nil }
      order = .ports(task, ports)
    } else if word.equals("tokens") {
      guard let task = fields.task(), let count = fields.number(as: Int32.self) else { return nil }
      order = .tokens(task, count)
    } else if word.equals("jobs") {
      guard let task = fields.task(), let own = fields.number(as: Int32.self),
        let all = fields.number(as: Int32.self), own >= 0, all > own
      else { return nil }
      order = .jobs(task, own: own, all: all)
    } else if word.equals("gpus") {
      guard let task = fields.task(), let devices = fields.devices() else { return nil }
      order = .devices(task, devices)
    } else if word.equals("check") {
      guard let check = fields.check() else { return nil }
      order = .check(check)
    } else if word.equals("bye") {
      order = .bye
    } else {
      return nil
    }
    return fields.isWholeMessage ? order : nil
  }

  /// Without its line feed.
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
    } else if word.equals("value") {
      guard let task = fields.task(), let attempt = fields.attempt(), let value = fields.value()
      else { return nil }
      report = .value(task, attempt: attempt, value)
    } else if word.equals("fault") {
      guard let task = fields.task(), let attempt = fields.attempt(), let what = fields.text()
      else { return nil }
      report = .fault(task, attempt: attempt, what: what)
    } else if word.equals("left") {
      guard let task = fields.task(), let attempt = fields.attempt(), let left = fields.left()
      else { return nil }
      report = .left(task, attempt: attempt, left)
    } else if word.equals("fetched") {
      guard let task = fields.task(), let attempt = fields.attempt(), let record = fields.fetch()
      else { return nil }
      report = .fetched(task, attempt: attempt, record)
    } else if word.equals("revoked") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      report = .revoked(task, attempt: attempt)
    } else if word.equals("lacks") {
      guard let task = fields.task(), let attempt = fields.attempt(), let what = fields.text()
      else { return nil }
      report = .lacks(task, attempt: attempt, what: what)
    } else if word.equals("refused") {
      guard let task = fields.task(), let attempt = fields.attempt(),
        let errorNumber = fields.number(.errno, as: Int32.self), let what = fields.text(.what)
      else { return nil }
      report = .refused(task, attempt: attempt, errorNumber: errorNumber, what: what)
    } else if word.equals("progress") {
      guard let progress = fields.progress() else { return nil }
      report = .progress(progress)
    } else if word.equals("kept") {
      guard let task = fields.task(), let serial = fields.attempt(), let value = fields.value()
      else { return nil }
      report = .kept(task, serial: serial, value)
    } else if word.equals("fresh") {
      guard let task = fields.task(), let serial = fields.attempt(),
        let origin = fields.next().flatMap({ Hexadecimal.value($0) })
      else { return nil }
      report = .checked(task, serial: serial, .fresh(origin: origin))
    } else if word.equals("stale") {
      guard let task = fields.task(), let serial = fields.attempt(), let why = fields.text() else {
        return nil
      }
      report = .checked(task, serial: serial, .stale(why: why))
    } else if word.equals("unfit") {
      guard let task = fields.task(), let serial = fields.attempt(), let what = fields.text() else {
        return nil
      }
      report = .checked(task, serial: serial, .unfit(what: what))
    } else if word.equals("unwritten") {
      guard let task = fields.task(), let serial = fields.attempt(), let what = fields.text() else {
        return nil
      }
      report = .checked(task, serial: serial, .unwritten(what: what))
    } else if word.equals("awaits") {
      guard let task = fields.task(), let serial = fields.attempt() else { return nil }
      report = .awaits(task, serial: serial)
    } else if word.equals("recorded") {
      guard let task = fields.task(), let attempt = fields.attempt(),
        let origin = fields.next().flatMap({ Hexadecimal.value($0) })
      else { return nil }
      report = .recorded(task, attempt: attempt, origin: origin)
    } else if word.equals("changed") {
      guard let task = fields.task(), let attempt = fields.attempt(), let what = fields.text()
      else { return nil }
      report = .changed(task, attempt: attempt, what: what)
    } else if word.equals("restored") {
      guard let task = fields.task(), let attempt = fields.attempt() else { return nil }
      report = .restored(task, attempt: attempt)
    } else if word.equals("ready") {
      guard let task = fields.task(), let attempt = fields.attempt(), let ports = fields.ports()
      else { return nil }
      report = .ready(task, attempt: attempt, ports: ports)
    } else if word.equals("tokens") {
      guard let task = fields.task(), let count = fields.number(as: Int32.self), count > 0 else {
        return nil
      }
      report = .tokens(task, count)
    } else if word.equals("warning") {
      guard let what = fields.text() else { return nil }
      report = .warning(what)
    } else if word.equals("hello") {
      guard let hello = fields.hello() else { return nil }
      report = .hello(hello)
    } else if word.equals("pulse") {
      guard let number = fields.pulse() else { return nil }
      report = .pulse(number)
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

  fileprivate mutating func ports(_ ports: [UInt16]) {
    for port in ports {
      tab()
      number(port)
    }
  }

  fileprivate mutating func devices(_ devices: DeviceSet) {
    tab()
    for (place, device) in devices.numbers.enumerated() {
      if place > 0 { raw(",") }
      number(device)
    }
  }

  fileprivate mutating func value(_ name: String, _ hash: UInt64) {
    tab()
    escaped(name)
    tab()
    hexadecimal(hash, digitCount: 16)
  }

  fileprivate mutating func value(_ value: TaskValue) {
    self.value(value.name, value.hash)
    guard let text = value.text else { return }
    tab()
    escaped(text)
  }

  fileprivate mutating func pulse(_ number: Int32) {
    raw("pulse\t")
    self.number(number)
  }

  fileprivate mutating func offer(_ offer: WorkerOffer) {
    field(.cores, offer.cores)
    if let memory = offer.memoryBytes { field(.memory, memory) }
    begin(.actions)
    var isFirst = true
    for (action, word) in WorkerActions.words where offer.actions.contains(action) {
      if !isFirst { raw(",") }
      raw(word)
      isFirst = false
    }
  }

  /// As many names as fit beside the pids.
  package mutating func left(_ left: LeftBehind, lineStart: Int) {
    let processes = left.processesText
    tab()
    cut(left.text, lineStart: lineStart - processes.utf8.count - 1)
    if processes.isEmpty { return }
    tab()
    raw(processes)
  }

  /// As much as fits with a line feed.
  mutating func cut(_ text: String, lineStart: Int) {
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
