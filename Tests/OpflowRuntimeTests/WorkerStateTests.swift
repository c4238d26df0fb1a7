import OpflowPlan
import OpflowWire
import Testing

@testable import OpflowWorker

/// The worker's decisions, without a process or a clock.
@Suite struct WorkerStateTests {
  private var state = WorkerState(
    policy: { _ in
      TaskPolicy(timeoutMilliseconds: 1000, stopSignal: 15, stopGraceMilliseconds: 2000)
    }, recordsEnd: { $0 == TaskID(2) && $1.isSuccess })
  private let a = TaskID(0)
  private let b = TaskID(1)

  /// The decisions at a time in milliseconds, as words.
  private mutating func tell(_ event: WorkerEvent, at milliseconds: Int64 = 0) -> [String] {
    var actions: [WorkerAction] = []
    state.handle(event, at: Instant(nanoseconds: milliseconds * 1_000_000), into: &actions)
    return actions.map { action in
      switch action {
      case .start(let task, let attempt): "start \(task.rawValue) \(attempt)"
      case .launch(let task, let attempt): "launch \(task.rawValue) \(attempt)"
      case .report(.restored(let task, _)): "restored \(task.rawValue)"
      case .report(.recorded(let task, _, _)): "recorded \(task.rawValue)"
      case .report(.started(let task, _, let pid)): "started \(task.rawValue) \(pid)"
      case .report(.revoked(let task, _)): "revoked \(task.rawValue)"
      case .report(.lacks(let task, _, _)): "lacks \(task.rawValue)"
      case .report(.refused(let task, _, _, let detail)): "refused \(task.rawValue) \(detail)"
      case .report: "report"
      case .signal(let number): "signal \(number)"
      case .proceed: "continue"
      case .suspend: "suspend"
      case .noteLeft: "note what is left"
      case .kill: "kill"
      case .record(let task, _): "record \(task.rawValue)"
      case .stopRecording: "stop recording"
      case .abandon: "abandon"
      case .finish(let task, _, let outcome):
        """
        finish \(task.rawValue) \(outcome.status) \(outcome.reason?.word ?? "none") \
        \(outcome.usage.wallMicroseconds)
        """
      case .leave: "leave"
      }
    }
  }

  private var deadline: Int64? { state.deadline.map { $0.nanoseconds / 1_000_000 } }

  private mutating func start() {
    #expect(tell(.message(.run(a, attempt: 1))) == ["start 0 1"])
    #expect(tell(.started(pid: 9)) == ["started 0 9"])
  }

  @Test mutating func `a task runs to its end`() {
    start()
    #expect(deadline == 1000)
    #expect(tell(.reaped(status: nil, isGone: false), at: 3) == [])
    #expect(tell(.reaped(status: .exit(0), isGone: true), at: 5) == ["finish 0 exit(0) none 5000"])
    #expect(deadline == nil)
  }

  @Test(arguments: [Int32(0), 1])
  mutating func `a task that follows starts only after an end with 0, however late it comes`(
    code: Int32
  ) {
    start()
    _ = tell(.reaped(status: .exit(code), isGone: true), at: 5)
    let answer = code == 0 ? "start 1 1" : "revoked 1"
    #expect(tell(.message(.follow(b, attempt: 1)), at: 6) == [answer])
  }

  @Test(arguments: [Int32(0), 1])
  mutating func `prefetched tasks start in their order, or are all given back`(code: Int32) {
    start()
    for number in 1...3 { #expect(tell(.message(.follow(TaskID(number), attempt: 1))) == []) }
    #expect(tell(.message(.revoke(TaskID(2), attempt: 1))) == ["revoked 2"])
    let answer = code == 0 ? ["start 1 1"] : ["revoked 1", "revoked 3"]
    #expect(
      tell(.reaped(status: .exit(code), isGone: true), at: 5).suffix(answer.count) == answer[...])
  }

  @Test mutating func `what a task leaves behind is killed until it is gone`() {
    start()
    #expect(tell(.message(.run(b, attempt: 1))) == [])
    #expect(
      tell(.reaped(status: .exit(0), isGone: false), at: 10) == ["note what is left", "kill"])
    #expect(deadline == 30)
    #expect(tell(.timer, at: 29) == [])
    #expect(tell(.timer, at: 30) == ["kill"])
    #expect(tell(.reaped(status: nil, isGone: false), at: 31) == ["kill"])
    #expect(
      tell(.reaped(status: nil, isGone: true), at: 32)
        == ["finish 0 exit(0) none 32000", "start 1 1"])
  }

  @Test mutating func `what cannot be killed is given up after a while`() {
    start()
    #expect(tell(.message(.stop(a, attempt: 1, reason: .kill)), at: 0) == ["kill"])
    #expect(tell(.timer, at: 2999) == ["kill"])
    #expect(tell(.timer, at: 3000) == ["abandon", "finish 0 unknown kill 3000000"])
  }

  @Test mutating func `it is given up in time, however often children end meanwhile`() {
    start()
    #expect(
      tell(.reaped(status: .exit(0), isGone: false), at: 10) == ["note what is left", "kill"])
    for time in stride(from: Int64(20), to: 3010, by: 5) {
      #expect(tell(.reaped(status: nil, isGone: false), at: time) == ["kill"])
    }
    #expect(
      tell(.reaped(status: nil, isGone: false), at: 3010)
        == ["abandon", "finish 0 exit(0) none 3010000"])
  }

  @Test mutating func `a task for which there is no process comes back, and what was to follow it`()
  {
    #expect(tell(.message(.run(a, attempt: 1))) == ["start 0 1"])
    #expect(tell(.message(.follow(b, attempt: 1))) == [])
    #expect(tell(.lacking(detail: "no process")) == ["lacks 0", "revoked 1"])
    #expect(tell(.message(.run(a, attempt: 1))) == ["start 0 1"])
  }

  @Test mutating func `a stop has its grace, and ends when the tree does`() {
    start()
    #expect(
      tell(.message(.stop(a, attempt: 1, reason: .cancel)), at: 100) == ["signal 15", "continue"])
    #expect(deadline == 2100)
    // Its own process ends; its children have until the deadline.
    #expect(tell(.reaped(status: .signal(15), isGone: false), at: 200) == [])
    #expect(tell(.timer, at: 2100) == ["kill"])
    #expect(
      tell(.reaped(status: nil, isGone: true), at: 2101)
        == ["finish 0 signal(15) cancel 2101000"])
  }

  @Test mutating func `a second stop is none, but for kill`() {
    start()
    #expect(tell(.message(.stop(a, attempt: 1, reason: .cancel))).count == 2)
    #expect(tell(.message(.stop(a, attempt: 1, reason: .signal))) == [])
    #expect(tell(.message(.stop(a, attempt: 1, reason: .kill))) == ["kill"])
    #expect(tell(.message(.stop(a, attempt: 1, reason: .kill))) == [])
  }

  @Test mutating func `time stands still while a task is suspended`() {
    start()
    #expect(tell(.message(.suspend(a, attempt: 1)), at: 900) == ["suspend"])
    #expect(tell(.message(.suspend(a, attempt: 1)), at: 901) == [])
    #expect(deadline == nil)
    #expect(tell(.timer, at: 5000) == [])
    #expect(tell(.message(.proceed(a, attempt: 1)), at: 10_000) == ["continue"])
    #expect(deadline == 10_100)
    #expect(tell(.timer, at: 10_100) == ["signal 15", "continue"])
    #expect(
      tell(.reaped(status: .signal(15), isGone: true), at: 10_101)
        == ["finish 0 signal(15) timeout 10101000"])
  }

  @Test mutating func `a lost coordinator cuts the grace and forgets the prefetched task`() {
    start()
    #expect(tell(.message(.run(b, attempt: 1))) == [])
    #expect(tell(.endOfMessages, at: 10) == ["signal 15", "continue"])
    #expect(deadline == 510)
    #expect(tell(.endOfMessages, at: 20) == [])
    #expect(deadline == 510)
    #expect(
      tell(.reaped(status: .exit(0), isGone: true), at: 30)
        == ["finish 0 exit(0) interrupted 30000", "leave"])
  }

  @Test mutating func `a coordinator that is lost while a task starts ends it too`() {
    #expect(tell(.message(.run(a, attempt: 1))) == ["start 0 1"])
    #expect(tell(.endOfMessages) == [])
    #expect(tell(.started(pid: 9)) == ["started 0 9", "signal 15", "continue"])
    #expect(deadline == 500)
  }

  @Test mutating func `after bye a prefetched task still runs, and nothing more is taken`() {
    start()
    #expect(tell(.message(.run(b, attempt: 1))) == [])
    #expect(tell(.message(.bye)) == [])
    #expect(tell(.message(.run(TaskID(2), attempt: 1))) == ["revoked 2"])
    #expect(
      tell(.reaped(status: .exit(0), isGone: true)) == ["finish 0 exit(0) none 0", "start 1 1"])
    #expect(tell(.refused(errorNumber: 2, detail: "why")) == ["refused 1 why", "leave"])
  }

  @Test mutating func `an output that fails stops the task and is its reason`() {
    start()
    #expect(tell(.outputFailed(errorNumber: 28)) == ["signal 15", "continue"])
    #expect(tell(.outputFailed(errorNumber: 28)) == [])
    #expect(tell(.reaped(status: .exit(0), isGone: true)) == ["finish 0 exit(0) output 0"])
  }

  // MARK: - Records and cached results

  private let declaring = TaskID(2)

  private mutating func startDeclaring() {
    #expect(tell(.message(.run(declaring, attempt: 1))) == ["start 2 1"])
  }

  @Test mutating func `a result that is brought back ends the task without a start`() {
    startDeclaring()
    #expect(tell(.bringingBack, at: 1) == [])
    #expect(deadline == nil)
    #expect(
      tell(.broughtBack(.kept(origin: 7)), at: 4)
        == ["restored 2", "recorded 2", "finish 2 exit(0) none 3000"])
  }

  @Test mutating func `what does not come back is run`() {
    startDeclaring()
    #expect(tell(.bringingBack) == [])
    #expect(tell(.notBroughtBack, at: 2) == ["launch 2 1"])
    #expect(tell(.started(pid: 9), at: 2) == ["started 2 9"])
    #expect(tell(.reaped(status: .exit(0), isGone: true), at: 5) == ["record 2"])
    #expect(
      tell(.recorded(.kept(origin: 7)), at: 6) == ["recorded 2", "finish 2 exit(0) none 3000"])
    #expect(tell(.broughtBack(.kept(origin: 7))) == [])
  }

  @Test mutating func `a task that is stopped while its result comes back has none`() {
    startDeclaring()
    #expect(tell(.bringingBack) == [])
    #expect(
      tell(.message(.stop(declaring, attempt: 1, reason: .cancel)))
        == ["finish 2 unknown cancel 0"])
    #expect(tell(.broughtBack(.kept(origin: 7))) == [])
    startDeclaring()
    #expect(tell(.bringingBack) == [])
    #expect(tell(.endOfMessages) == ["finish 2 unknown interrupted 0", "leave"])
  }

  @Test mutating func `a success that is stopped while it is written down stays one`() {
    startDeclaring()
    #expect(tell(.started(pid: 9)) == ["started 2 9"])
    #expect(tell(.reaped(status: .exit(0), isGone: true)) == ["record 2"])
    #expect(tell(.message(.stop(declaring, attempt: 1, reason: .cancel))) == ["stop recording"])
    #expect(tell(.recorded(.discarded(detail: "x"))) == ["report", "finish 2 exit(0) none 0"])
  }
}
