import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowWire
import Testing

@Suite struct JournalCodecTests {
  let plan: Plan

  init() throws {
    plan = try TestPlan.make(names: [
      "build", "test[os=a\tb\\c\nd]", "twenty-byte-task-id1", "naïve",
    ])
  }

  /// Writes the entry, cuts the line feed off and reads it back.
  private func roundTrip(_ entry: JournalEntry, session: Int = 1) throws -> JournalEntry? {
    var encoder = JournalEncoder(nextSequence: 7, session: session)
    encoder.append(entry, at: 1_700_000_000_123, plan: plan)
    return try encoder.bytes.dropLast().withUnsafeBytes { bytes in
      let line = try #require(JournalLine(bytes))
      #expect(line.sequence == 7)
      #expect(line.milliseconds == 1_700_000_000_123)
      return line.entry(plan: plan)
    }
  }

  @Test func `every line of the run survives the round trip`() throws {
    var open = OpenEntry.example
    open.stateFolder = "/srv/project/.opflow"
    open.set = ["a=1", "b=two\nlines"]
    open.tasks = ["lint", "test-*"]
    open.only = ["tag:x"]
    open.skip = ["y*", "z"]
    open.environment = ["CI=0123456789abcdef", "UNSET=-"]
    open.limits.maxFailures = 0
    open.on = ["slurm:-N 4 '-t 1:00'", "exec:a\tb"]
    var resume = ResumeEntry(planKey: "ab", opflowVersion: "0.2.0")
    resume.set = ["a=\\"]
    resume.only = ["p"]
    resume.skip = ["q"]
    resume.environment = ["E=-"]
    resume.reused = 12
    resume.retracted = 3
    resume.on = ["ssh:n1"]
    resume.removed = ["gone", "also\tgone"]
    var elsewhere = WorkerEntry(
      worker: WorkerID(8), pid: 4245, startTime: 0, bootID: "", host: "node 2")
    elsewhere.node = NodeID(4)
    var joined = NodeEntry(NodeID(4), .joined, host: "node 2")
    joined.cores = 64
    joined.memoryBytes = .max
    joined.gpus = 8
    joined.incarnation = "4711.2"
    joined.leaseMilliseconds = 5000
    joined.leftMilliseconds = 0
    joined.detail = "as asked\nfor"
    for entry in [
      JournalEntry.open(open), .resume(resume),
      .close(CloseEntry(state: .interrupted, exitCode: 130, signal: 2)),
      .close(CloseEntry(state: .succeeded, exitCode: 0)),
      .worker(WorkerEntry(pid: 4242, startTime: .max, bootID: "b0-07")),
      .worker(WorkerEntry(pid: 4243, startTime: 1, bootID: "b0-07", autogroup: .max)),
      .worker(
        WorkerEntry(
          worker: WorkerID(7), pid: 4244, startTime: 0, bootID: "", host: "node 2\t")),
      .stop(StopEntry(signal: 2)), .stop(StopEntry(signal: 15, detail: "no machine\tis left")),
      .worker(elsewhere), .node(NodeEntry(NodeID(3), .lost, host: "node 2\t")), .node(joined),
    ] + NodeState.allCases.map({ .node(NodeEntry(NodeID(.max), $0, host: "n")) }) {
      #expect(try roundTrip(entry) == entry)
      #expect(try roundTrip(entry, session: 3) == entry)
    }
  }

  @Test(arguments: TransitionKind.allCases)
  func `every transition survives the round trip`(_ kind: TransitionKind) throws {
    let event = TransitionEvent.example(kind)
    for task in plan.tasks {
      var transition = Transition(event, TaskID(task), attempt: 3)
      #expect(try roundTrip(.transition(transition)) == .transition(transition))
      guard [.success, .failure, .retry, .cancel, .interrupt].contains(kind) else { continue }
      for status in [ExitStatus.unknown, .exit(0), .exit(-1), .exit(255), .signal(9)] {
        transition.outcome = Outcome(status: status, reason: .timeout, errorNumber: 2)
        transition.outcome.usage.wallMicroseconds = 1
        transition.outcome.usage.userMicroseconds = 22
        transition.outcome.usage.systemMicroseconds = 333
        transition.outcome.usage.peakKibibytes = 123_456_789
        transition.outcome.usage.outputBytes = 99_999_999_999_999_999
        transition.delayMilliseconds = 10_000
        transition.left =
          status == .unknown
          ? LeftBehind(alive: [
            ("7 (a\tb)", ProcessMark(pid: 7, startTime: .max)),
            ("8 (sleep)", ProcessMark(pid: .max, startTime: 0)),
          ]) : LeftBehind(["sleep", "a\tb", "sleep"])
        transition.detail = "exec:\t\"ls\" \u{0}é"
        if event == .success || event == .failure {
          transition.allowed = event == .failure
          transition.fingerprint = Fingerprint(whole: .max, parts: 0xab)
        }
        #expect(try roundTrip(.transition(transition)) == .transition(transition))
        #expect(try roundTrip(.transition(transition), session: 2) == .transition(transition))
      }
    }
  }

  @Test func `every reason and part survives the round trip`() throws {
    var transitions = EndReason.allCases.map { Transition(.failure, TaskID(0), reason: $0) }
    transitions += [SkipReason.condition, .skipOption, .upstream(.none), .upstream(TaskID(2))].map {
      Transition(.skip($0), TaskID(0))
    }
    transitions += [
      RerunReason.interrupted, .afterRerun(.none), .afterRerun(TaskID(2)), .failedBefore,
      .skippedBefore, .outputMissing, .unproven, .asked, .new, .changed(nil),
    ].map { Transition(.resume($0), TaskID(0)) }
    transitions += Fingerprint.Part.allCases.map { Transition(.resume(.changed($0)), TaskID(0)) }
    for transition in transitions {
      #expect(try roundTrip(.transition(transition)) == .transition(transition))
    }
  }

  @Test(arguments: [
    "skip\tbuild", "skip\tbuild\treason=timeout", "skip\tbuild\treason=asked",
    "resume\tbuild", "resume\tbuild\treason=if", "resume\tbuild\treason=timeout",
  ])
  func `a skip or a rerun for no reason of its own is no transition`(_ text: String) throws {
    try sealed("5\t6\t" + text).withUnsafeBytes {
      let line = try #require(JournalLine($0))
      #expect(line.entry(plan: plan) == nil)
    }
  }

  @Test(arguments: ["if", "asked", "after rerun", "later", ""])
  func `an end for no reason of an end has none`(_ reason: String) throws {
    try sealed("5\t6\tfailure\tbuild\treason=\(reason)").withUnsafeBytes {
      let entry = try #require(JournalLine($0)).entry(plan: plan)
      #expect(entry == .transition(Transition(.failure, TaskID(0))))
    }
  }

  @Test func `a pause of the run speaks of no task`() throws {
    let pause = Transition(.pause, .none)
    #expect(try roundTrip(.transition(pause)) == .transition(pause))
  }

  @Test func `a line reads as it is documented`() {
    var encoder = JournalEncoder()
    var success = Transition(.success, TaskID(0), attempt: 1)
    success.outcome = Outcome(status: .success)
    success.outcome.usage.wallMicroseconds = 1500
    success.fingerprint = Fingerprint(whole: 0xabc, parts: 0x10)
    encoder.append(Transition(.start, TaskID(0), attempt: 1), at: 5, plan: plan)
    encoder.append(success, at: 6, plan: plan)
    encoder.append(
      Transition(.skip(.upstream(TaskID(0))), TaskID(1)), at: 7,
      plan: plan)
    let lines = String(decoding: encoder.bytes, as: UTF8.self).split(separator: "\n").map {
      $0.dropFirst(9)
    }
    #expect(
      lines == [
        "1\t5\tstart\tbuild\tn=1",
        "2\t6\tsuccess\tbuild\tn=1\texit=0\twall=1500\tfp=0000000000000abc.10",
        #"3\#t7\#tskip\#ttest[os=a\tb\\c\nd]\#treason=upstream\#tof=build"#,
      ])
  }

  @Test func `an ordinary transition of a task with a 20-byte id takes at most 200 bytes`() throws {
    let task = try plan.id("twenty-byte-task-id1")
    var encoder = JournalEncoder(nextSequence: 9_999_999, session: 12)
    var transition = Transition(.success, task, attempt: 10)
    transition.outcome = Outcome(status: .success)
    // A week of wall time, two of CPU, 100 GiB of memory, 100 GB of output.
    transition.outcome.usage.wallMicroseconds = 604_800_000_000
    transition.outcome.usage.userMicroseconds = 999_999_999_999
    transition.outcome.usage.systemMicroseconds = 99_999_999_999
    transition.outcome.usage.peakKibibytes = 104_857_600
    transition.outcome.usage.outputBytes = 99_999_999_999
    transition.fingerprint = Fingerprint(whole: .max, parts: (1 << 48) - 1)
    for kind in TransitionKind.allCases {
      encoder.removeAll()
      transition.event = .example(kind)
      encoder.append(transition, at: 1_999_999_999_999, plan: plan)
      #expect(encoder.bytes.count <= 200, "\(kind.word)")
    }
  }

  @Test func `unknown keys are passed over and unknown events say so`() throws {
    let known = "5\t6\tstart\tbuild\tfuture=1\tn=4\tnovalue\t=x"
    let unknown = "5\t6\tteleport\tbuild\tn=4"
    for (text, expected) in [
      (known, JournalEntry.transition(Transition(.start, TaskID(0), attempt: 4))), (unknown, nil),
    ] {
      let bytes = sealed(text)
      try bytes.withUnsafeBytes { bytes in
        let line = try #require(JournalLine(bytes))
        #expect(line.entry(plan: plan) == expected)
        #expect((line.event == .unknown) == (expected == nil))
      }
    }
  }

  @Test(arguments: [
    "", "\t", "1", "1\t2", "1\t2\tstart", "x\t2\tstart\ta", "1\t-2\tstart\ta", "\t2\tstart\ta",
    "99999999999999999999\t2\tstart\ta", "5000000000000000000\t2\tstart\ta",
  ])
  func `a line of another shape is none though its checksum holds`(_ text: String) {
    sealed(text).withUnsafeBytes { #expect(JournalLine($0) == nil) }
  }

  @Test func `numbers beyond reason are no numbers`() throws {
    let text = "1\t2\tsuccess\tbuild\tn=99999999999\twall=9999999999999999999999\tfp=xyz"
    try sealed(text).withUnsafeBytes { bytes in
      let entry = try #require(JournalLine(bytes)).entry(plan: plan)
      #expect(entry == .transition(Transition(.success, TaskID(0))))
    }
  }

  private func sealed(_ text: String) -> [UInt8] {
    let body = Array(text.utf8)
    var line: [UInt8] = []
    let checksum = body.withUnsafeBytes { Hash.crc32c($0) }
    Hexadecimal.append(UInt64(checksum), digitCount: 8, to: &line)
    return line + [9] + body
  }
}
