import Foundation
import Testing

/// Signals to opflow.
struct SignalTests {
  /// One task that says when it runs, and writes down which signal ended it.
  private static let manifest = """
    tasks:
      before: { run: echo before >> trace }
      long:
        needs: [before]
        run: |
          for signal in INT TERM HUP; do trap "echo $signal >> trace; exit 1" $signal; done
          echo here > here
          tail -f /dev/null & wait
      after: { needs: [long], run: echo after >> trace }
      other: { needs: [before], run: echo other >> other, priority: low }
    """

  @Test(arguments: [(SIGINT, -SIGINT), (SIGTERM, -SIGTERM), (SIGHUP, -SIGHUP)] as [(Int32, Int32)])
  func `the first signal stops by the stop rule and closes the journal`(
    signal: Int32, code: Int32
  ) throws {
    let place = try Workplace(Self.manifest)
    let here = try place.gate("here")
    let live = try place.start("run", "-j", "1")
    _ = try here.next()
    live.send(signal)
    let run = try live.finish()
    #expect(run.status == code, "\(run)")
    #expect(place.lines() == ["before", "TERM"])
    #expect(!place.exists("other"))
    #expect(run.errors.contains("opflow resume"))
    #expect(try place.journal().last?.event == "close")
    let status = try place.status()
    #expect(status.state == "cancelled" || status.state == "interrupted")
    #expect(status["before"]?.state == "succeeded")
    place.expectNothingAlive()
  }

  @Test func `Ctrl-C ends the loop of a shell along with the run`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo here > here; exec tail -f /dev/null' } }")
    let here = try place.gate("here")
    let shell = try place.startShell(
      "for turn in 1 2 3; do echo $turn; \"$opflow\" run; done; echo end")
    _ = try here.next()
    shell.sendToGroup(SIGINT)
    let end = try shell.finish()
    #expect(end.output == "1\n", "\(end)")
    #expect(place.runs.count == 1)
  }

  @Test func `an interrupted run resumes where it was`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: [a], run: "echo b >> trace; test -e go || { echo here > here; tail -f /dev/null; }" }
        c: { needs: [b], run: echo c >> trace }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    try place.write("go", "")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "b", "b", "c"])
    #expect(try place.status().state == "succeeded")
  }

  @Test func `Ctrl-C on the terminal reaches tasks only through opflow`() throws {
    let place = try Workplace(Self.manifest)
    let here = try place.gate("here")
    let live = try place.start("run", "-j", "1")
    _ = try here.next()
    live.sendToGroup(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    #expect(place.lines() == ["before", "TERM"])
  }

  @Test func `the second signal kills at once`() throws {
    let place = try Workplace(
      """
      tasks:
        stubborn:
          run: |
            trap 'echo term > here' TERM
            echo here > here
            while :; do tail -f /dev/null & wait || true; done
          stop: { grace: 1h }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    #expect(try here.next() == "here")
    live.send(SIGINT)
    #expect(try here.next() == "term")
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    #expect(try place.journal().last?.event == "close")
    place.expectNothingAlive()
  }

  @Test func `a task that survives TERM is killed after its grace`() throws {
    let place = try Workplace(
      """
      tasks:
        stubborn:
          run: |
            trap '' TERM
            echo here > here
            tail -f /dev/null
          stop: { grace: 100ms }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGTERM)
    #expect(try live.finish().status == -SIGTERM)
    place.expectNothingAlive()
  }

  @Test func `a stopped task is ended too`() throws {
    let place = try Workplace(
      """
      tasks:
        frozen: { run: "echo $$ > here; kill -STOP $$; tail -f /dev/null" }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    place.expectNothingAlive()
  }

  @Test func `a signal while a retry is waited for ends the run`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: "echo try >> trace; exit 1", retry: { max: 3, delay: 1h } }
      """)
    let live = try place.start("run")
    try live.waitForError("bad")
    try place.waitForJournal { $0.contains { $0.event == "retry" } }
    live.send(SIGTERM)
    #expect(try live.finish().status == -SIGTERM)
    #expect(place.lines() == ["try"])
  }

  @Test func `finally tasks run after a signal`() throws {
    let place = try Workplace(
      """
      tasks:
        long: { run: "echo here > here; tail -f /dev/null" }
        cleanup: { finally: true, run: "echo cleanup $OPFLOW_RUN_STATE >> trace" }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    #expect(place.lines().count == 1)
    #expect(place.lines().first?.hasPrefix("cleanup ") == true)
    #expect(place.lines().first != "cleanup succeeded")
  }

  @Test func `a suspended run stands still with all that it started, and goes on`() throws {
    let place = try Workplace(
      """
      max_parallel: 2
      tasks:
        long: { run: "echo $$ > here; read x < go; echo done >> trace" }
        far:
          run: |
            setsid sh -c 'echo $$ > here; exec tail -f /dev/null' &
            read x < go
            echo done >> trace
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    let tasks = try here.next(2).compactMap { pid_t($0) }
    for _ in 0..<3 {
      live.send(SIGTSTP)
      for pid in tasks + [live.pid] { try ProcessState.wait(for: "T", of: pid) }
      live.send(SIGCONT)
      for pid in tasks + [live.pid] { try ProcessState.wait(for: "S", of: pid) }
    }
    live.send(SIGTSTP)
    for pid in tasks + [live.pid] { try ProcessState.wait(for: "T", of: pid) }
    // It is there to be read, and nobody reads it.
    try go.letGo(2)
    for pid in tasks { #expect(ProcessState.of(pid) == "T") }
    #expect(place.lines().isEmpty)
    live.send(SIGCONT)
    #expect(try live.finish().status == 0)
    #expect(place.lines() == ["done", "done"])
    #expect(try place.journal().filter { $0.event == "pause" }.count == 4)
    place.expectNothingAlive()
  }

  @Test func `a suspended run that is told to end does so once it goes on`() throws {
    // A shell that is stopped while its child has yet to exec is not in state T: it waits in
    // vfork(2).
    let place = try Workplace(
      "tasks: { long: { run: 'echo $$ > here; exec tail -f /dev/null' }, next: { run: 'true' } }")
    let here = try place.gate("here")
    let live = try place.start("run", "-j", "1")
    let pid = try #require(pid_t(try here.next()))
    live.send(SIGTSTP)
    for pid in [pid, live.pid] { try ProcessState.wait(for: "T", of: pid) }
    live.send(SIGTERM)
    live.send(SIGCONT)
    #expect(try live.finish().status == -SIGTERM)
    place.expectNothingAlive()
  }

  @Test func `finally tasks outlive the first signal and not the second`() throws {
    let place = try Workplace(
      """
      tasks:
        work: { run: "true" }
        cleanup: { finally: true, run: "echo here > here; tail -f /dev/null" }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGINT)
    try live.waitForError("stopping")
    live.send(SIGINT)
    let run = try live.finish()
    #expect(run.status == -SIGINT, "\(run)")
    place.expectNothingAlive()
  }

  @Test func `signals that nobody asked to end by are no end`() throws {
    let place = try Workplace("tasks: { a: { run: 'echo here > here; read x < go' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next()
    live.send(SIGWINCH)
    live.send(SIGCONT)
    live.send(SIGPIPE)
    try go.letGo()
    #expect(try live.finish().status == 0)
  }
}
