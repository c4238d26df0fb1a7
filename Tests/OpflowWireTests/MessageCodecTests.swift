import Testing

@testable import OpflowBase
@testable import OpflowJournal
@testable import OpflowPlan
@testable import OpflowWire

@Suite struct MessageCodecTests {
  static let messages: [(WorkerMessage, String)] = [
    (.run(TaskID(0), attempt: 1), "run\t0\t1\n"),
    (.revoke(TaskID(Int32.max), attempt: .max), "revoke\t2147483647\t2147483647\n"),
    (.stop(TaskID(7), attempt: 2, reason: .signal), "stop\t7\t2\tsignal\n"),
    (.stop(TaskID(7), attempt: 2, reason: .kill), "stop\t7\t2\tkill\n"),
    (.suspend(TaskID(7), attempt: 2), "suspend\t7\t2\n"),
    (.proceed(TaskID(7), attempt: 2), "continue\t7\t2\n"),
    (.watch(TaskID(7), on: true), "watch\t7\ton\n"),
    (.watch(TaskID(7), on: false), "watch\t7\toff\n"),
    (.setRunState(.failed), "conclude\tfailed\n"),
    (.values(TaskID(7), attempt: 2), "values\t7\t2\n"),
    (.values(TaskID(7), attempt: 0), "values\t7\t0\n"),
    (.values(TaskID(7), attempt: nil), "values\t7\t-\n"),
    (.value(TaskID(7), name: "v_1", hash: 0xab), "value\t7\tv_1\t00000000000000ab\n"),
    (.ports(TaskID(3), [5432, 1]), "ports\t3\t5432\t1\n"),
    (.tokens(TaskID(3), 2), "tokens\t3\t2\n"),
    (.tokens(TaskID(3), -1), "tokens\t3\t-1\n"),
    (.jobs(TaskID(3), own: 1, all: 4), "jobs\t3\t1\t4\n"),
    (.devices(TaskID(3), DeviceSet([0, 2, 63])), "gpus\t3\t0,2,63\n"),
    (.check(skipping), "check\t3\t5\t00000000000000ab\t-\t1\t7\t-\t1\t2\n"),
    (.check(keeping), "check\t3\t5\t00000000000000ab\t-\t0\t7\t00000000000000cd\n"),
    (.bye, "bye\n"),
  ]

  static var identified: WorkerHello {
    var hello = WorkerHello(
      planKey: key, pid: 42, offer: WorkerOffer(cores: 1, actions: .run), host: "n")
    hello.startTime = 123
    hello.autogroup = 45
    return hello
  }

  static var keeping: TaskCheck {
    var check = TaskCheck(
      task: TaskID(3), serial: 5, with: nil, needs: 0xab, isAsked: false, after: 7)
    check.keeps = 0xcd
    return check
  }

  static var skipping: TaskCheck {
    var check = TaskCheck(
      task: TaskID(3), serial: 5, with: nil, needs: 0xab, isAsked: true, after: 7)
    check.skipped = [TaskID(1), TaskID(2)]
    return check
  }

  static var outcome: Outcome {
    var outcome = Outcome(status: .exit(0))
    outcome.usage.wallMicroseconds = 1
    outcome.usage.userMicroseconds = 2
    outcome.usage.systemMicroseconds = 3
    outcome.usage.peakKibibytes = 4
    outcome.usage.outputBytes = 5
    return outcome
  }

  static let key = "0123456789abcdef0123456789abcdef"
  static let reports: [(WorkerReport, String)] = [
    (
      .hello(
        WorkerHello(
          planKey: key, pid: 42, offer: WorkerOffer(cores: 8, memoryBytes: 4096, actions: .all),
          host: "a\tb")),
      "hello\t10\t\(key)\t42\tcores=8\tmemory=4096\tactions=run,download\thost=a\\tb\n"
    ),
    (
      .hello(
        WorkerHello(planKey: key, pid: 42, offer: WorkerOffer(cores: 1, actions: []), host: "")),
      "hello\t10\t\(key)\t42\tcores=1\tactions=\n"
    ),
    (
      .hello(identified),
      "hello\t10\t\(key)\t42\tcores=1\tactions=run\tstart=123\tgroup=45\thost=n\n"
    ),
    (.started(TaskID(3), attempt: 1, pid: 99), "started\t3\t1\t99\n"),
    (
      .progress(
        WorkerProgress(
          task: TaskID(3), doneBytes: 10, totalBytes: -1, bytesPerSecond: 5, text: "é\\ \n")),
      "progress\t3\t10\t-1\t5\té\\\\ \\n\n"
    ),
    (
      .left(TaskID(3), attempt: 1, LeftBehind(count: 2, names: "sleep, nc")),
      "left\t3\t1\t2 sleep, nc\n"
    ),
    (
      .left(
        TaskID(3), attempt: 1, LeftBehind(count: 1, names: "7 (sleep, user root)", areAlive: true)),
      "left\t3\t1\talive 1 7 (sleep, user root)\n"
    ),
    (
      .left(
        TaskID(3), attempt: 1,
        LeftBehind(alive: [("7 (sleep)", ProcessMark(pid: 7, startTime: 88))])!),
      "left\t3\t1\talive 1 7 (sleep)\t7:88\n"
    ),
    (
      .lacks(TaskID(3), attempt: 1, detail: "cannot start a process: a\tb"),
      "lacks\t3\t1\tcannot start a process: a\\tb\n"
    ),
    (
      .ended(TaskID(3), attempt: 1, outcome),
      "ended\t3\t1\texit=0\twall=1\tuser=2\tsys=3\trss=4\tout=5\n"
    ),
    (
      .ended(TaskID(3), attempt: 1, Outcome(status: .signal(9), reason: .output, errorNumber: 28)),
      "ended\t3\t1\tsignal=9\treason=output\terrno=28\n"
    ),
    (
      .ended(TaskID(3), attempt: 1, Outcome(status: .unknown, reason: .workerLost)),
      "ended\t3\t1\treason=worker-lost\n"
    ),
    (
      .refused(TaskID(3), attempt: 1, errorNumber: 2, detail: "cannot enter folder /a=b"),
      "refused\t3\t1\terrno=2\twhat=cannot enter folder /a=b\n"
    ),
    (.revoked(TaskID(3), attempt: 1), "revoked\t3\t1\n"),
    (
      .kept(TaskID(3), serial: 5, TaskValue(name: "v", hash: 0xab, text: [9, 65])),
      "kept\t3\t5\tv\t00000000000000ab\t\\tA\n"
    ),
    (
      .kept(TaskID(3), serial: 5, TaskValue(name: "v", hash: 0xab)),
      "kept\t3\t5\tv\t00000000000000ab\n"
    ),
    (.checked(TaskID(3), serial: 5, .fresh(origin: 1)), "fresh\t3\t5\t0000000000000001\n"),
    (.checked(TaskID(3), serial: 5, .unfit(detail: "a b")), "unfit\t3\t5\ta b\n"),
    (.checked(TaskID(3), serial: 5, .unwritten(detail: "a b")), "unwritten\t3\t5\ta b\n"),
    (.tokens(TaskID(3), 2), "tokens\t3\t2\n"),
    (.restored(TaskID(3), attempt: 1), "restored\t3\t1\n"),
    (.ready(TaskID(3), attempt: 1, ports: []), "ready\t3\t1\n"),
    (.ready(TaskID(3), attempt: 1, ports: [80, 65535]), "ready\t3\t1\t80\t65535\n"),
    (.warning("a\tb"), "warning\ta\\tb\n"),
    (.pulse(7), "pulse\t7\n"),
  ]

  private func message(_ line: some StringProtocol) -> WorkerMessage? {
    Array(line.utf8).withUnsafeBytes { MessageCodec.message($0) }
  }

  private func report(_ line: some StringProtocol) -> WorkerReport? {
    Array(line.utf8).withUnsafeBytes { MessageCodec.report($0) }
  }

  @Test func `processes left alive, however many with however long names, fit one message`() throws
  {
    let name = String(repeating: "long", count: 90)
    let left = try #require(
      LeftBehind(
        alive: (0..<100).map { index in
          let pid = 4_194_304 - Int32(index)
          return ("\(pid) (\(name))", ProcessMark(pid: pid, startTime: 99_999_999_999))
        }))
    var writer = FieldWriter()
    MessageCodec.encode(.left(TaskID(Int32.max), attempt: .max, left), into: &writer)
    #expect(writer.bytes.count <= MessageCodec.longestLineBytes)
    var told: LeftBehind?
    let line = String(decoding: writer.bytes.dropLast(), as: UTF8.self)
    if case .left(TaskID(Int32.max), .max, let left)? = report(line) { told = left }
    #expect(told?.count == 100 && told?.areAlive == true && told?.processes == left.processes)
    #expect(left.processes.count == 32 && told?.names.hasPrefix("4194304 (long") == true)
  }

  @Test(arguments: messages)
  func `a message is written as its line and read back`(message: WorkerMessage, line: String) {
    var writer = FieldWriter()
    MessageCodec.encode(message, into: &writer)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == line)
    #expect(self.message(line.dropLast()) == message)
  }

  @Test(arguments: reports)
  func `a report is written as its line and read back`(report: WorkerReport, line: String) {
    var writer = FieldWriter()
    MessageCodec.encode(report, into: &writer)
    #expect(String(decoding: writer.bytes, as: UTF8.self) == line)
    #expect(self.report(line.dropLast()) == report)
  }

  @Test func `a line that was cut short is never taken for the whole`() {
    for (message, line) in Self.messages {
      for length in 0..<(line.utf8.count - 1) {
        #expect(self.message(line.prefix(length)) != message, "\(line) cut at \(length)")
      }
    }
    for (report, line) in Self.reports {
      for length in 0..<(line.count - 1) {
        #expect(self.report(line.prefix(length)) != report, "\(line) cut at \(length)")
      }
    }
  }

  @Test(arguments: [
    "", "\t", "run", "run\t", "run\t1", "run\t1\t", "run\t1\t1\t", "run\t1\t1\t1", "run\t-1\t1",
    "run\t1\t-1", "run\t2147483648\t1", "run\t1 \t1", "run\tx\t1", "RUN\t1\t1", "run\t1\t1\r",
    "stop\t1\t1", "stop\t1\t1\t?", "stop\t1\t1\ttimeout", "watch\t1\tmaybe", "watch\t1\t",
    "conclude\t", "conclude\tdone", "value\t7\tv-1\t00000000000000ab", "value\t7\tv\tab",
    "value\t7\tv\t00000000000000ab\ttext", "value\tv\t00000000000000ab",
    "bye\t", "byebye", "started\t1\t1\t1", "\0",
  ])
  func `what is no message is refused`(line: String) {
    #expect(message(line) == nil)
  }

  @Test(arguments: [
    "", "run\t1\t1", "started\t1\t1\t0", "started\t1\t1\t-5", "ended\t1", "ended\t1\t1\t",
    "ended\t1\t1\texit=", "ended\t1\t1\texit=\twall=1", "ended\t1\t1\texit=0\tsignal=1",
    "ended\t1\t1\texit=0\texit=0", "ended\t1\t1\texit=0x", "ended\t1\t1\texit=4294967296",
    "ended\t1\t1\texit=0\twall=-1", "ended\t1\t1\texit=0\twall=", "ended\t1\t1\texit=0\t",
    "ended\t1\t1\texit=0\treason=", "ended\t1\t1\treason=\twall=1",
    "ended\t1\t1\treason=if", "ended\t1\t1\texit=0\twall=1\tmore=1",
    "ended\t1\t1\tuser=1\twall=1", "ended\t1\t1\texit=0\twall=99999999999999999999",
    "left\t1\t1\t2", "left\t1\t1\t0 sh", "left\t1\t1\tsh",
    "refused\t1\t1\terrno=2", "refused\t1\t1\terrno=2\twhat=\\x", "refused\t1\t1\twhat=x\terrno=2",
    "hello", "hello\t", "hello\tx", "hello\t-1", "hello\t10", "hello\t10\tkey",
    "hello\t10\tkey\t1", "hello\t10\tkey\t1\tcores=1", "hello\t10\tkey\t1\tactions=run",
    "hello\t10\tkey\t-1\tcores=1\tactions=run", "hello\t10\tkey\t1\tcores=0\tactions=run",
    "hello\t10\tkey\t1\tcores=1\tactions=run\thost",
    "hello\t10\tkey\t1\tcores=1\tactions=run\thost=\\x",
    "hello\t10\tkey\t1\tcores=\tactions=run",
    "hello\t10\tkey\t1\tcores=1\tmemory=x\tactions=run", "hello\t10\tkey\t1\t4\trun\thost",
    "progress\t1\t1\t-2\t1\t",
    "pulse", "pulse\t-1", "pulse\t1\t2", "pulsate",
  ])
  func `what is no report is refused`(line: String) {
    #expect(report(line) == nil)
  }

  @Test func `a hello may say more than is known, in any order`() {
    let line = "hello\t10\tkey\t7\tgpus=2\thost=n1\tactions=run,fly,\tleft=\tcores=4"
    let offer = WorkerOffer(cores: 4, actions: .run)
    #expect(
      report(line) == .hello(WorkerHello(planKey: "key", pid: 7, offer: offer, host: "n1")))
  }

  @Test(arguments: ["hello\t2\tkey\t1\t8\trun\thost", "hello\t2", "hello\t2\t\t\\x"])
  func `a hello of another version is refused by its name`(line: String) throws {
    guard case .hello(let hello) = report(line) else {
      Issue.record("no hello")
      return
    }
    #expect(
      hello.fault(planKey: "key", kind: .command)
        == "it uses version 2 of the worker protocol, and this opflow uses version 10")
  }

  @Test func `a hello that does not fit the run is refused with what it lacks`() {
    var hello = WorkerHello(
      planKey: "a", pid: 1, offer: WorkerOffer(cores: 1, actions: .run), host: "")
    #expect(hello.fault(planKey: "a", kind: .command) == nil)
    #expect(
      hello.fault(planKey: "b", kind: .command) == "it has plan a, but the run has plan b")
    #expect(
      hello.fault(planKey: "a", kind: .download)
        == "it was started for 'download', but it supports only: run")
    hello.offer.actions = []
    #expect(
      hello.fault(planKey: "a", kind: .command)
        == "it was started for 'run', but it supports only: nothing")
  }

  @Test func `random bytes neither trap nor pass`() {
    var state: UInt64 = 42
    var bytes: [UInt8] = []
    let letters = Array("run\t1bye0\\=-".utf8)
    for _ in 0..<20_000 {
      bytes.removeAll(keepingCapacity: true)
      for _ in 0..<Int(state >> 58) {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(letters[Int(state >> 33) % letters.count])
      }
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      bytes.withUnsafeBytes { bytes in
        // A message that does pass must mean what it says.
        if let message = MessageCodec.message(bytes) {
          var writer = FieldWriter()
          MessageCodec.encode(message, into: &writer)
          let again = writer.bytes.dropLast().withUnsafeBytes { MessageCodec.message($0) }
          #expect(again == message)
        }
        _ = MessageCodec.report(bytes)
      }
    }
  }

  @Test(arguments: ["x", "é", "👩‍👩‍👧‍👦", "\\", "\u{0}"])
  func `long text is cut between characters and escapes`(unit: String) throws {
    let text = String(repeating: unit, count: 1000)
    var writer = FieldWriter()
    writer.raw("before\n")
    MessageCodec.encode(
      .refused(TaskID(1), attempt: 1, errorNumber: 2, detail: text), into: &writer)
    let line = writer.bytes.dropFirst(7)
    #expect(line.count <= 1000 && line.count > 1000 - 2 * unit.utf8.count - 1)
    let read = Array(line.dropLast()).withUnsafeBytes { MessageCodec.report($0) }
    guard case .refused(_, _, _, let detail) = read else {
      Issue.record("not read back")
      return
    }
    #expect(text.hasPrefix(detail))
    #expect(detail.utf8.count % unit.utf8.count == 0)
  }

  @Test func `text that is no UTF-8 is mended`() {
    var line = Array("refused\t1\t1\terrno=2\twhat=a".utf8)
    line += [0xFF, 0x62]
    let report = line.withUnsafeBytes { MessageCodec.report($0) }
    #expect(report == .refused(TaskID(1), attempt: 1, errorNumber: 2, detail: "a\u{FFFD}b"))
  }
}

@Suite struct LineBufferTests {
  private func feed(_ buffer: inout LineBuffer, _ bytes: ArraySlice<UInt8>) {
    buffer.fill { room in
      room.copyBytes(from: bytes)
      return bytes.count
    }
  }

  @Test(arguments: 1...40)
  func `lines come whole however the stream is cut`(chunkBytes: Int) {
    let expected = MessageCodecTests.messages.map(\.0)
    let stream = MessageCodecTests.messages.flatMap { Array($0.1.utf8) }
    var buffer = LineBuffer()
    var read: [WorkerMessage] = []
    var rest = stream[...]
    while !rest.isEmpty {
      feed(&buffer, rest.prefix(chunkBytes))
      rest = rest.dropFirst(chunkBytes)
      while case .message(.message(let message)) = buffer.nextInput() { read.append(message) }
    }
    #expect(read == expected)
    #expect(buffer.isEmpty)
  }

  @Test func `the longest line passes and one byte more does not`() {
    for (length, passes) in [(999, true), (1000, false)] {
      var buffer = LineBuffer()
      let start = Array("refused\t1\t1\terrno=2\twhat=".utf8)
      let text = [UInt8](repeating: 120, count: length - start.count)
      feed(&buffer, start + text + [10])
      switch buffer.nextReport() {
      case .message(.refused(_, _, _, let detail)):
        #expect(passes && detail.utf8.count == text.count)
      case .message: Issue.record("it is read as something else")
      case .malformed: #expect(!passes)
      case .needsMore: Issue.record("a whole line was there")
      }
    }
  }

  @Test func `a line without an end is refused as soon as it is too long`() {
    var buffer = LineBuffer()
    feed(&buffer, [UInt8](repeating: 120, count: 999)[...])
    guard case .needsMore = buffer.nextInput() else {
      Issue.record("999 bytes may still become a line")
      return
    }
    feed(&buffer, [120])
    guard case .malformed = buffer.nextInput() else {
      Issue.record("1,000 bytes without an end")
      return
    }
  }

  @Test func `what a worker notes of survivors is read back, and invalid lines are skipped`() throws
  {
    let left = try #require(
      LeftBehind(alive: [("4711 (sleep, user root)", ProcessMark(pid: 4711, startTime: 88))]))
    let worker = WorkerEntry(
      pid: 42, startTime: 12, bootID: "boot", autogroup: 3, host: "a\tb")
    let note = SurvivorNote(task: TaskID(7), attempt: 2, worker: worker, left: left)
    var writer = FieldWriter()
    note.write(into: &writer)
    let line = "7\t2\t42\t12\t3\ta\\tb\tboot\talive 1 4711 (sleep, user root)\t4711:88\n"
    #expect(String(decoding: writer.bytes, as: UTF8.self) == line)
    let bad = ["", "x", "7\t2", "-2" + line.dropFirst(), String(line.dropLast(38)), "1 sleep"]
    let torn = line.dropLast(12)
    let text = (bad + [line, "-1\t0" + line.dropFirst(3)]).joined(separator: "\n") + torn
    let notes = SurvivorNote.read(Array(text.utf8))
    #expect(notes.map(\.task) == [TaskID(7), .none] && notes[0] == note)
    #expect(note.processes.map(\.pid) == [4711] && note.processes[0].bootID == "boot")
    #expect(note.isAbout(TaskID(7), 2, of: worker))
    #expect(!note.isAbout(TaskID(7), 3, of: worker) && !note.isAbout(TaskID(6), 2, of: worker))
    #expect(notes[1].isAbout(TaskID(6), 1, of: worker))
    var other = worker
    other.host = "c"
    #expect(!notes[1].isAbout(TaskID(6), 1, of: other))
  }
}
