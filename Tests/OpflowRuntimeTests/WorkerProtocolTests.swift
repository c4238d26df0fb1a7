import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

/// What a worker does with messages, and with their end.
@Suite struct WorkerProtocolTests {
  @Test func `a prefetched task starts by itself after a success`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "true"), WorkerTask("b", "exit 7")])
    try worker.run("a")
    try worker.run("b")
    #expect(try worker.ended("a").isSuccess)
    #expect(try worker.ended("b").status == .exit(7))
  }

  @Test(arguments: ["exit 1", "kill -9 $$"])
  func `a prefetched task is given back after any other end`(script: String) throws {
    let worker = try WorkerHarness([WorkerTask("a", script), WorkerTask("b", "true")])
    try worker.tell(
      .run(worker.id("a"), attempt: 1), .run(worker.id("b"), attempt: 3))
    #expect(try !worker.ended("a").isSuccess)
    #expect(try worker.next() == .revoked(worker.id("b"), attempt: 3))
    #expect(try worker.finish("b").isSuccess)
  }

  @Test func `a prefetched task is given back when it is asked for, or a stop comes`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "exec sleep 1000"), WorkerTask("b", "true")])
    let b = worker.id("b")
    try worker.run("a")
    _ = try worker.started("a")
    try worker.run("b")
    try worker.tell(.revoke(b, attempt: 2))
    try worker.tell(.revoke(b, attempt: 1))
    #expect(try worker.next() == .revoked(b, attempt: 1))
    try worker.run("b")
    try worker.tell(.stop(b, attempt: 1, reason: .cancel))
    #expect(try worker.next() == .revoked(b, attempt: 1))
    try worker.run("b")
    try worker.stop("a", .cancel)
    #expect(try worker.next() == .revoked(b, attempt: 1))
    #expect(try worker.ended("a").reason == .stopped(.cancel))
  }

  @Test func `a prefetched task is given back when the one before cannot start`() throws {
    let worker = try WorkerHarness([
      WorkerTask("first", "true"), WorkerTask("a", words: ["/nowhere"]), WorkerTask("b", "true"),
    ])
    // All three in one write, so that the last is there when the second is refused.
    try worker.send("run\t0\t1\nrun\t1\t1\n")
    #expect(try worker.ended("first").isSuccess)
    #expect(try worker.refused("a").errorNumber == Errno.noSuchFile.rawValue)
    #expect(try worker.finish("b").isSuccess)
  }

  @Test func `a pulse is answered with its number, whatever the worker is at`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "exec sleep 1000")])
    try worker.tell(.pulse(1))
    #expect(try worker.next() == .pulse(1))
    try worker.run("a")
    _ = try worker.started("a")
    try worker.tell(.pulse(2))
    #expect(try worker.next() == .pulse(2))
    try worker.tell(.suspend(worker.id("a"), attempt: 1), .pulse(.max))
    #expect(try worker.next() == .pulse(.max))
    try worker.stop("a", .kill)
    #expect(try worker.ended("a").reason == .stopped(.kill))
  }

  @Test func `messages for tasks that it does not hold are passed over`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "exec sleep 1000"), WorkerTask("b", "true")])
    try worker.stop("a", .kill)
    try worker.tell(.suspend(worker.id("a"), attempt: 1))
    try worker.run("a", attempt: 2)
    guard case .started(_, 2, let pid) = try worker.next() else {
      Issue.record("not started")
      return
    }
    try worker.stop("b", .kill)
    try worker.stop("a", .kill)
    try worker.tell(.proceed(worker.id("a"), attempt: 1))
    try worker.tell(.revoke(worker.id("a"), attempt: 2))
    #expect(worker.isAlive(pid))
    try worker.tell(.stop(worker.id("a"), attempt: 2, reason: .kill))
    #expect(try worker.ended("a").status == .signal(9))
  }

  @Test func `bye lets the task end first`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "sleep 0.05; exit 2")])
    try worker.run("a")
    try worker.tell(.bye)
    #expect(try worker.ended("a").status == .exit(2))
    #expect(try worker.wait() == .exit(0))
  }

  @Test func `end-of-file ends the tree within half a second of grace, whatever the task's own is`()
    throws
  {
    let worker = try WorkerHarness([
      WorkerTask(
        "a", "trap '' TERM; (setsid sleep 1000 &); echo up > say; while :; do sleep 1000; done"
      ) {
        $0.policy = TaskPolicy(stopGraceMilliseconds: 600_000)
      }
    ])
    try worker.run("a")
    #expect(try worker.heard() == "up")
    worker.closeMessages()
    #expect(try worker.wait() == .exit(0))
    #expect(worker.survivors().isEmpty)
  }

  @Test func `an idle worker leaves at end-of-file`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "true")])
    worker.closeMessages()
    #expect(try worker.wait() == .exit(0))
  }

  @Test func `TERM ends a worker as end-of-file does`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "echo up > say; sleep 1000")])
    try worker.run("a")
    #expect(try worker.heard() == "up")
    try worker.signal(.terminate)
    #expect(try worker.ended("a").reason == .interrupted)
    #expect(try worker.wait() == .exit(0))
    #expect(worker.survivors().isEmpty)
  }

  @Test(arguments: [
    "nonsense\n", "run\t0\n", "run\t5\t1\n", String(repeating: "x", count: 1000),
  ])
  func `a line that is no message ends the worker and its task, and it says so`(line: String) throws
  {
    let worker = try WorkerHarness([WorkerTask("a", "echo up > say; sleep 1000")])
    try worker.run("a")
    #expect(try worker.heard() == "up")
    try worker.send(line)
    #expect(try worker.wait() == .exit(0))
    #expect(worker.survivors().isEmpty)
    #expect(try worker.complaints().hasPrefix("opflow worker: standard input: "))
  }

  @Test func `a worker that is killed takes its task along`() throws {
    let worker = try WorkerHarness([WorkerTask("a", "echo $$; exec sleep 1000")])
    try worker.run("a")
    let pid = try worker.started("a")
    guard let descriptor = try ProcessTree.open(pid) else {
      Issue.record("the task is gone already")
      return
    }
    try worker.signal(.kill)
    #expect(try worker.wait() == .signal(9))
    var set = PollSet(slots: 1)
    set.set(0, descriptor.rawValue)
    #expect(try set.wait(nanoseconds: WorkerHarness.patience))
  }

  @Test func `a thousand tasks in a row leave no descriptor`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", words: ["/bin/true"]), WorkerTask("b", words: ["/bin/echo", "x"]),
    ])
    #expect(try worker.finish("a").isSuccess)
    let before = try Path.names(in: "/proc/\(worker.pid)/fd").count
    for _ in 0..<500 {
      try worker.run("a")
      try worker.run("b")
      #expect(try worker.ended("a").isSuccess)
      #expect(try worker.ended("b").isSuccess)
    }
    #expect(try Path.names(in: "/proc/\(worker.pid)/fd").count == before)
    #expect(try worker.log("b").utf8.count == 1000)
  }

  @Test func `a worker whose run is not there says what is missing`() throws {
    let errors = try OpflowSystem.Pipe()
    let process = try Program.spawn(
      WorkerHarness.program, arguments: ["worker", "/nowhere", "run"], input: 0,
      output: errors.write.rawValue, error: errors.write.rawValue, options: [])
    #expect(try process.wait().status == .exit(74))
    let read = try errors.read.duplicate()
    _ = consume errors
    let text = String(decoding: try read.readAll(), as: UTF8.self)
    #expect(
      text == "opflow worker: cannot lock /nowhere/workers.lock: No such file or directory\n")
  }

  @Test(arguments: [
    "kill $PPID", "kill -INT $PPID; kill -HUP $PPID", "(kill $PPID; exit) & wait; env kill $PPID",
  ])
  func `a task that signals its worker does not end the tasks that follow it`(script: String) throws
  {
    let worker = try WorkerHarness([
      WorkerTask("a", script), WorkerTask("b", "echo up > say; read x < go; echo $x"),
    ])
    let go = try worker.makePipe("go")
    try worker.tell(
      .run(worker.id("a"), attempt: 1), .follow(worker.id("b"), attempt: 1))
    #expect(try worker.ended("a").isSuccess)
    #expect(try worker.heard() == "up")
    try go.writeAll("on\n")
    #expect(try worker.ended("b").isSuccess)
    #expect(try worker.log("b") == "on\n")
  }
}
