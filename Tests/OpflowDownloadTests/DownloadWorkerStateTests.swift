import OpflowDownload
import OpflowPlan
import OpflowWire
import Testing

/// What a download worker does with its tasks, without a network.
@Suite("The decisions of a download worker")
struct DownloadWorkerStateTests {
  private var state = DownloadWorkerState(
    pid: 7, timeoutMilliseconds: { $0.rawValue == 9 ? 1000 : 0 })
  private let a = TaskID(0)
  private let b = TaskID(1)
  private let c = TaskID(2)
  private let limited = TaskID(9)
  private let failed = EndReason.timeout.word.description

  /// Returns the decisions after an event, as text.
  private mutating func tell(
    _ event: DownloadWorkerEvent, at milliseconds: Int64 = 0
  ) -> [String] {
    var actions: [DownloadWorkerAction] = []
    state.handle(event, at: Instant(nanoseconds: milliseconds * 1_000_000), into: &actions)
    return actions.map { action in
      switch action {
      case .begin(let task, _): "begin \(task.rawValue)"
      case .cut(let task): "cut \(task.rawValue)"
      case .abandon(let task): "abandon \(task.rawValue)"
      case .proceed(let task): "proceed \(task.rawValue)"
      case .tellEnd(let task, _, let outcome):
        "end \(task.rawValue)" + (outcome.reason.map { " \($0.word)" } ?? "")
      case .report(.started(let task, _, _)): "started \(task.rawValue)"
      case .report(.revoked(let task, _)): "revoked \(task.rawValue)"
      case .report: "report"
      case .leave: "leave"
      }
    }
  }

  private mutating func take(_ task: TaskID, follows: Bool = true) -> [String] {
    tell(.message(follows ? .follow(task, attempt: 1) : .run(task, attempt: 1)))
  }

  private mutating func settles(_ task: TaskID) -> [String] { tell(.settles(task)) }

  private mutating func ended(_ task: TaskID, well: Bool = true) -> [String] {
    tell(
      .ended(
        task, well ? Outcome(status: .success) : Outcome(status: .unknown, reason: .timeout)))
  }

  private mutating func revoke(_ task: TaskID, attempt: Int32 = 1) -> [String] {
    tell(.message(.revoke(task, attempt: attempt)))
  }

  private mutating func stop(_ task: TaskID) -> [String] {
    tell(.message(.stop(task, attempt: 1, reason: .cancel)))
  }

  @Test
  mutating func
    `the next one is transferred while the one before becomes durable, and told of after it`()
  {
    #expect(take(a, follows: false) == ["begin 0", "started 0"])
    #expect(take(b) == [])
    #expect(take(c) == [])
    #expect(settles(a) == ["begin 1"])
    #expect(settles(b) == ["begin 2"])
    #expect(ended(b) == [])
    #expect(ended(a) == ["end 0", "started 1", "end 1", "started 2"])
    #expect(ended(c, well: false) == ["end 2 \(failed)"])
  }

  @Test mutating func `all that follow a failure are given back, however far they are`() {
    _ = take(a, follows: false)
    _ = take(b)
    _ = take(c)
    _ = settles(a)
    _ = settles(b)
    #expect(
      ended(a, well: false) == [
        "end 0 \(failed)", "abandon 1", "revoked 1", "abandon 2", "revoked 2",
      ])
    #expect(take(b) == ["revoked 1"])
    #expect(take(b, follows: false) == ["begin 1", "started 1"])
  }

  @Test mutating func `a failure waits for those before it, and nothing begins behind it`() {
    _ = take(a, follows: false)
    _ = take(b)
    _ = take(c)
    _ = settles(a)
    #expect(ended(b, well: false) == [])
    #expect(ended(a) == ["end 0", "started 1", "end 1 \(failed)", "revoked 2"])
  }

  @Test
  mutating func
    `a task handed ahead is given back when it is asked for, unless it is being put in place`()
  {
    _ = take(a, follows: false)
    _ = take(b)
    _ = take(c)
    _ = settles(a)
    #expect(revoke(b) == ["abandon 1", "revoked 1", "begin 2"])
    #expect(revoke(a) == [])
    #expect(revoke(c, attempt: 2) == [])
    _ = settles(c)
    #expect(revoke(c) == [])
    #expect(ended(a) == ["end 0", "started 2"])
  }

  @Test mutating func `a stop ends the transfer of the task, and gives back what was to follow`() {
    _ = take(a, follows: false)
    _ = take(b)
    #expect(stop(a) == ["revoked 1", "cut 0", "end 0 \(StopReason.cancel.word)"])
  }

  @Test mutating func `a stop lets go on what is being put in place, and nothing behind it`() {
    _ = take(a, follows: false)
    _ = take(b)
    _ = settles(a)
    #expect(stop(a) == ["abandon 1", "revoked 1"])
    #expect(ended(a) == ["end 0"])
  }

  @Test mutating func `nothing begins while the task is suspended`() {
    _ = take(a, follows: false)
    _ = take(b)
    #expect(tell(.message(.suspend(a, attempt: 1))) == [])
    #expect(state.isSuspended)
    #expect(settles(a) == [])
    #expect(tell(.message(.proceed(b, attempt: 1))) == [])
    #expect(tell(.message(.proceed(a, attempt: 1))) == ["begin 1"])
  }

  @Test mutating func `after bye nothing more is taken, and it leaves when the last one has ended`()
  {
    _ = take(a, follows: false)
    #expect(tell(.message(.bye)) == [])
    #expect(take(b) == ["revoked 1"])
    #expect(ended(a) == ["end 0", "leave"])
  }

  @Test mutating func `an idle one leaves at once`() { #expect(tell(.message(.bye)) == ["leave"]) }

  @Test mutating func `without a coordinator all is left where it is, and nobody is told`() {
    _ = take(a, follows: false)
    _ = take(b)
    _ = take(c)
    _ = settles(a)
    #expect(tell(.endOfMessages) == ["abandon 0", "abandon 1", "leave"])
    #expect(tell(.endOfMessages) == [])
    #expect(ended(a) == [])
  }

  @Test
  mutating func `the time of a task runs from its own beginning, and not while it is suspended`() {
    _ = tell(.message(.run(limited, attempt: 1)), at: 500)
    #expect(state.deadline == Instant(nanoseconds: 1_500_000_000))
    #expect(tell(.timer, at: 1499) == [])
    _ = tell(.message(.suspend(limited, attempt: 1)), at: 1400)
    #expect(state.deadline == nil)
    #expect(tell(.timer, at: 9000) == [])
    #expect(tell(.message(.proceed(limited, attempt: 1)), at: 9000) == ["proceed 9"])
    #expect(tell(.timer, at: 9100) == ["cut 9", "end 9 \(EndReason.timeout.word)"])
  }

  @Test mutating func `what is being put in place has no time limit any more`() {
    _ = tell(.message(.run(limited, attempt: 1)))
    _ = settles(limited)
    #expect(state.deadline == nil)
    #expect(ended(limited) == ["end 9"])
  }
}
