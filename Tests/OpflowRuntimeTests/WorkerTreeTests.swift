import Glibc
import OpflowPlan
import OpflowSystem
import OpflowWire
import Testing

/// However a task ends, nothing of its tree is left.
@Suite struct WorkerTreeTests {
  /// Each leaves something behind, which says its pid.
  static let leavers: [(String, String)] = [
    ("background", "sleep 1000 & echo $! > say"),
    ("session", "setsid sh -c 'echo $$ > say; exec sleep 1000' &"),
    ("double fork", "(setsid sh -c '(exec sh -c \"echo \\$\\$ > say; exec sleep 1000\") &' &)"),
    ("deaf", "sh -c 'trap \"\" TERM HUP INT; echo $$ > say; while :; do sleep 1000; done' &"),
    ("holds no output", "sh -c 'exec >/dev/null 2>&1; echo $$ > say; exec sleep 1000' &"),
    ("stopped", "sh -c 'echo $$ > say; kill -STOP $$; sleep 1000' &"),
  ]

  @Test(arguments: leavers)
  func `a task that ends leaves nothing, and waits for nobody who holds its output`(
    name: String, script: String
  ) throws {
    // It ends once the other has come to life, which the second pipe tells it.
    let worker = try WorkerHarness([WorkerTask("a", "\(script)\n read x < go")])
    let go = try worker.makePipe("go")
    try worker.run("a")
    let pid = try worker.heardPID()
    #expect(worker.isAlive(pid))
    try go.writeAll("\n")
    let outcome = try worker.ended("a")
    #expect(outcome.status == .exit(0))
    // The ended processes are reported.
    #expect(worker.leftBehind != nil)
    #expect(!worker.isAlive(pid))
    #expect(worker.survivors().isEmpty)
  }

  @Test(arguments: leavers)
  func `a task that is stopped leaves nothing`(name: String, script: String) throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "\(script)\n sleep 1000") {
        $0.policy = TaskPolicy(stopGraceMilliseconds: 100)
      }
    ])
    try worker.run("a")
    let pid = try worker.heardPID()
    try worker.stop("a", .cancel)
    let outcome = try worker.ended("a")
    #expect(outcome.reason == .stopped(.cancel) && outcome.status == .signal(15))
    #expect(!worker.isAlive(pid))
    #expect(worker.survivors().isEmpty)
  }

  @Test func `a task that ignores TERM is killed after its grace`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "trap '' TERM; echo up > say; while :; do sleep 1000; done") {
        $0.policy = TaskPolicy(stopGraceMilliseconds: 50)
      }
    ])
    try worker.run("a")
    #expect(try worker.heard() == "up")
    try worker.stop("a", .signal)
    let outcome = try worker.ended("a")
    #expect(outcome.status == .signal(9) && outcome.reason == .stopped(.signal))
    #expect(outcome.usage.wallMicroseconds >= 50_000)
    #expect(worker.survivors().isEmpty)
  }

  @Test func `a stop gives the children of a shell their grace too`() throws {
    let child = "trap \"echo bye; exit 0\" TERM; echo up > say; while :; do sleep 0.01; done"
    let worker = try WorkerHarness([WorkerTask("a", "sh -c '\(child)' & sleep 1000")])
    try worker.run("a")
    #expect(try worker.heard() == "up")
    try worker.stop("a", .cancel)
    #expect(try worker.ended("a").status == .signal(15))
    #expect(try worker.log("a").hasSuffix("bye\n"))
  }

  @Test func `a stop uses the signal of the task's rule, and kill asks nobody`() throws {
    let script =
      "trap 'echo int; exit 5' INT; trap '' TERM; echo up > say; while :; do sleep 0.01; done"
    let worker = try WorkerHarness([
      WorkerTask("a", script) { $0.policy = TaskPolicy(stopSignal: 2) },
      WorkerTask("b", script),
    ])
    try worker.run("a")
    #expect(try worker.heard() == "up")
    try worker.stop("a", .cancel)
    #expect(try worker.ended("a").status == .exit(5))
    try worker.run("b")
    #expect(try worker.heard() == "up")
    try worker.stop("b", .cancel)
    try worker.stop("b", .kill)
    let outcome = try worker.ended("b")
    #expect(outcome.status == .signal(9) && outcome.reason == .stopped(.cancel))
    #expect(try worker.logNames == ["a.log"])
  }

  @Test func `a stopped process sees the stop`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "trap 'echo told; exit 0' TERM; echo $$ > say; kill -STOP $$; sleep 1000")
    ])
    try worker.run("a")
    let pid = try worker.heardPID()
    // A task that stops itself still counts as running.
    try worker.waitUntilStopped(pid)
    try worker.stop("a", .cancel)
    #expect(try worker.ended("a").status == .exit(0))
    #expect(try worker.log("a").hasSuffix("told\n"))
  }

  @Test func `a bomb of two hundred is ended`() throws {
    let bomb = "i=0; while [ $i -lt 200 ]; do (trap '' TERM; setsid sleep 1000) & i=$((i+1)); done"
    let worker = try WorkerHarness([
      WorkerTask("ends", bomb),
      WorkerTask("stays", "\(bomb); echo up > say; wait") {
        $0.policy = TaskPolicy(stopGraceMilliseconds: 50)
      },
    ])
    #expect(try worker.finish("ends").isSuccess)
    #expect(worker.survivors().isEmpty)
    try worker.run("stays")
    #expect(try worker.heard() == "up")
    try worker.stop("stays", .cancel)
    #expect(try worker.ended("stays").reason == .stopped(.cancel))
    #expect(worker.survivors().isEmpty)
  }

  @Test func `what a task leaves behind while it runs is reaped`() throws {
    // Each inner shell is an orphan that ends; unreaped they would stay as zombies.
    let script =
      "for i in 1 2 3 4 5 6 7 8; do (sh -c : &); done; sleep 0.05; echo up > say; sleep 1000"
    let worker = try WorkerHarness([WorkerTask("a", script)])
    try worker.run("a")
    let pid = try worker.started("a")
    #expect(try worker.heard() == "up")
    while ProcessTree.children(of: worker.pid) != [pid] { sched_yield() }
    try worker.stop("a", .kill)
    #expect(try worker.ended("a").reason == .stopped(.kill))
  }

  @Test func `a task is out of time`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "sleep 1000") { $0.policy = TaskPolicy(timeoutMilliseconds: 30) },
      WorkerTask("in time", "true") { $0.policy = TaskPolicy(timeoutMilliseconds: 60_000) },
    ])
    let outcome = try worker.finish("a")
    #expect(outcome.reason == .timeout && outcome.status == .signal(15))
    #expect(outcome.usage.wallMicroseconds >= 30_000)
    #expect(try worker.finish("in time").isSuccess)
  }

  @Test func `a suspended task stands still, and so does its time`() throws {
    // A shell that waits: one that is stopped within vfork(2) is not in state T.
    let script = "tail -f /dev/null & echo $$ > say; wait"
    let worker = try WorkerHarness([
      // Long enough for the message to come before it, on a machine that is busy.
      WorkerTask("a", script) { $0.policy = TaskPolicy(timeoutMilliseconds: 3000) }
    ])
    try worker.run("a")
    let pid = try worker.heardPID()
    try worker.tell(.suspend(worker.id("a"), attempt: 1))
    try worker.waitUntilStopped(pid)
    // Longer than the timeout; the worker itself measures it and gets no messages meanwhile.
    let other = try WorkerHarness([WorkerTask("wait", "sleep 3.1")])
    #expect(try other.finish("wait").isSuccess)
    #expect(ProcessStatus.read(pid)?.state == UInt8(ascii: "T"))
    try worker.tell(.proceed(worker.id("a"), attempt: 1))
    let outcome = try worker.ended("a")
    #expect(outcome.reason == .timeout)
    #expect(outcome.usage.wallMicroseconds >= 6_100_000)
  }

  @Test func `a suspended task can be stopped`() throws {
    let worker = try WorkerHarness([
      WorkerTask("a", "trap 'exit 4' TERM; tail -f /dev/null & echo $$ > say; wait")
    ])
    try worker.run("a")
    let pid = try worker.heardPID()
    try worker.tell(.suspend(worker.id("a"), attempt: 1))
    try worker.waitUntilStopped(pid)
    try worker.stop("a", .cancel)
    #expect(try worker.ended("a").status == .exit(4))
  }
}
