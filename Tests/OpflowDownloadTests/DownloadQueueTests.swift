import OpflowCore
import OpflowDownload
import Testing

/// What a download worker does with its tasks, without a network.
@Suite("The queue of a download worker")
struct DownloadQueueTests {
  private var queue = DownloadQueue(pid: 7)
  private let a = TaskID(0)
  private let b = TaskID(1)
  private let c = TaskID(2)

  /// What is decided, as words; and what the change itself gave.
  private mutating func words<Result>(
    _ change: (inout DownloadQueue, inout [DownloadQueueAction]) -> Result
  ) -> ([String], Result) {
    var actions: [DownloadQueueAction] = []
    let result = change(&queue, &actions)
    let words = actions.map { action in
      switch action {
      case .begin(let task, _): "begin \(task.rawValue)"
      case .abandon(let task): "abandon \(task.rawValue)"
      case .tellEnd(let task): "end \(task.rawValue)"
      case .report(.started(let task, _, _)): "started \(task.rawValue)"
      case .report(.revoked(let task, _)): "revoked \(task.rawValue)"
      case .report: "report"
      }
    }
    return (words, result)
  }

  private mutating func take(_ task: TaskID, follows: Bool = true) -> [String] {
    words { $0.take(task, 1, follows: follows, into: &$1) }.0
  }

  private mutating func settles(_ task: TaskID) -> [String] {
    words { $0.settles(task, into: &$1) }.0
  }

  private mutating func ended(_ task: TaskID, well: Bool = true) -> [String] {
    words { $0.ended(task, isSuccess: well, into: &$1) }.0
  }

  private mutating func revoke(_ task: TaskID, attempt: Int32 = 1) -> [String] {
    words { $0.revoke(task, attempt, into: &$1) }.0
  }

  private mutating func stop(_ task: TaskID) -> ([String], Bool) {
    words { queue, actions in queue.stop(task, 1, into: &actions) }
  }

  private mutating func proceed(_ task: TaskID) -> ([String], Bool) {
    words { queue, actions in queue.proceed(task, 1, into: &actions) }
  }

  @Test("the next one is transferred while the one before becomes durable, and told of after it")
  mutating func pipelined() {
    #expect(take(a, follows: false) == ["begin 0", "started 0"])
    #expect(take(b) == [])
    #expect(take(c) == [])
    #expect(settles(a) == ["begin 1"])
    #expect(settles(b) == ["begin 2"])
    #expect(ended(b) == [])
    #expect(ended(a) == ["end 0", "started 1", "end 1", "started 2"])
    #expect(ended(c, well: false) == ["end 2"])
    #expect(queue.isEmpty)
  }

  @Test("all that follow a failure are given back, however far they are")
  mutating func failure() {
    _ = take(a, follows: false)
    _ = take(b)
    _ = take(c)
    _ = settles(a)
    _ = settles(b)
    #expect(ended(a, well: false) == ["end 0", "abandon 1", "revoked 1", "abandon 2", "revoked 2"])
    #expect(take(b) == ["revoked 1"])
    #expect(take(b, follows: false) == ["begin 1", "started 1"])
  }

  @Test("a failure waits for those before it, and nothing begins behind it")
  mutating func failureBehind() {
    _ = take(a, follows: false)
    _ = take(b)
    _ = take(c)
    _ = settles(a)
    #expect(ended(b, well: false) == [])
    #expect(ended(a) == ["end 0", "started 1", "end 1", "revoked 2"])
  }

  @Test("a task handed ahead is given back when it is asked for, unless it is being put in place")
  mutating func revoked() {
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

  @Test("a stop ends the transfer of the task, and gives back what was to follow")
  mutating func stopped() {
    _ = take(a, follows: false)
    _ = take(b)
    let (said, ends) = stop(a)
    #expect(said == ["revoked 1"])
    #expect(ends)
    #expect(ended(a, well: false) == ["end 0"])
  }

  @Test("a stop lets go on what is being put in place, and nothing behind it")
  mutating func stoppedWhileSettling() {
    _ = take(a, follows: false)
    _ = take(b)
    _ = settles(a)
    let (said, ends) = stop(a)
    #expect(said == ["abandon 1", "revoked 1"])
    #expect(!ends)
    #expect(ended(a) == ["end 0"])
  }

  @Test("nothing begins while the task is suspended")
  mutating func suspended() {
    _ = take(a, follows: false)
    _ = take(b)
    let isSuspended = queue.suspend(a, 1)
    #expect(isSuspended)
    let isOther = queue.suspend(b, 1)
    #expect(!isOther)
    #expect(settles(a) == [])
    let (said, goesOn) = proceed(a)
    #expect(goesOn)
    #expect(said == ["begin 1"])
  }

  @Test("after bye nothing more is taken")
  mutating func bye() {
    _ = take(a, follows: false)
    queue.leave()
    #expect(!queue.isDone)
    #expect(take(b) == ["revoked 1"])
    _ = ended(a)
    #expect(queue.isDone)
  }
}
