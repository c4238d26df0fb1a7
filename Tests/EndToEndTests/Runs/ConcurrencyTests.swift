import Foundation
import Glibc
import Testing

/// `concurrency` and `if_running`: at most one live run of a group.
struct ConcurrencyTests {
  /// `a` writes to `here` when it runs, then waits for `go`; `quick` does not wait.
  private static let tasks = """
    tasks:
      a: { run: "test ! -e fail; echo here > here; read x < go; echo a >> trace" }
      quick: { manual: true, run: echo quick >> trace }
    """

  private func place(_ head: String, _ tasks: String = tasks) throws -> Workplace {
    try Workplace(head + "\n" + tasks)
  }

  @Test func `a run waits for the live run of its manifest and names it`() throws {
    let place = try place("if_running: wait")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.start("run")
    _ = try here.next()
    let run = try #require(place.runs.first)
    let second = try place.start("run")
    try second.waitForError(
      "opflow: waiting for run \(run) of the same manifest (process \(first.pid))\n")
    // The waiting process has created nothing yet.
    #expect(place.runs == [run])
    try go.letGo()
    #expect(try first.finish().status == 0)
    _ = try here.next()
    try go.letGo()
    #expect(try second.finish().status == 0)
    #expect(place.lines() == ["a", "a"])
  }

  @Test func `opflow reads the manifest after the wait`() throws {
    let place = try place("if_running: wait")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.start("run")
    _ = try here.next()
    let second = try place.start("run")
    try second.waitForError("waiting for run")
    try place.write("opflow.yaml", "tasks: { a: { run: echo edited >> trace } }")
    try go.letGo()
    #expect(try first.finish().status == 0)
    #expect(try second.finish().status == 0)
    #expect(place.lines() == ["a", "edited"])
  }

  @Test func `waiting runs start one after the other`() throws {
    let place = try place(
      "if_running: wait",
      "tasks: { a: { run: 'mkdir alone; echo here > here; read x < go; rmdir alone' } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let all = try (0..<4).map { _ in try place.start("run") }
    for _ in all {
      _ = try here.next()
      try go.letGo()
    }
    for process in all { #expect(try process.finish().status == 0) }
    // No two runs created the folder at once.
    #expect(place.runs.count == 4)
  }

  @Test func `the next run starts when a run is killed`() throws {
    let place = try place("if_running: wait")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.start("run")
    _ = try here.next()
    let second = try place.start("run")
    try second.waitForError("waiting for run")
    let third = try place.start("run")
    try third.waitForError(
      "waiting for process \(second.pid), which also waits for a run of the same manifest\n")
    // A killed waiting process lets the next one in, too.
    second.send(SIGKILL)
    _ = try second.finish()
    try third.waitForError("waiting for run")
    first.send(SIGKILL)
    _ = try first.finish()
    _ = try here.next()
    try go.letGo()
    #expect(try third.finish().status == 0)
    #expect(place.runs.count == 2)
    place.expectNothingAlive()
  }

  @Test(arguments: [SIGINT, SIGTERM]) func `a waiting opflow can be stopped and leaves no run`(
    signal: Int32
  ) throws {
    let place = try place("if_running: wait")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.start("run")
    _ = try here.next()
    for command in [["run"], ["run", "--resume"]] {
      let second = try place.startShell("exec $opflow \(command.joined(separator: " "))")
      try second.waitForError("waiting for run")
      second.send(signal)
      #expect(try second.finish().status == -signal)
      #expect(place.runs.count == 1)
    }
    try go.letGo()
    #expect(try first.finish().status == 0)
  }

  @Test func `a run that must not wait fails and names the live run`() throws {
    let place = try place("if_running: fail")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.start("run")
    _ = try here.next()
    let run = try #require(place.runs.first)
    for command in [["run"], ["run", "quick"]] {
      let refused = try place.shell("$opflow \(command.joined(separator: " "))", status: 5)
      #expect(
        refused.errors
          == "opflow: run \(run) of the same manifest is live (process \(first.pid));"
          + " `--if-running wait` waits for it, `--if-running allow` starts a run beside it\n")
    }
    #expect(place.runs == [run])
    let beside = try place.opflow("run", "quick", "--if-running", "allow")
    #expect(beside.errors.contains("run \(run) of this manifest is still live"), "\(beside)")
    try go.letGo()
    #expect(try first.finish().status == 0)
    #expect(place.lines() == ["quick", "a"])
    try place.opflow("run", "quick")
  }

  @Test func `by default runs go side by side, and the flag changes that`() throws {
    let place = try place("")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.start("run")
    _ = try here.next()
    try place.opflow("run", "quick")
    try place.opflow("run", "quick", "--if-running", "fail", status: 5)
    let waiting = try place.start("run", "quick", "--if-running=wait")
    try waiting.waitForError("waiting for run")
    try go.letGo()
    #expect(try first.finish().status == 0)
    #expect(try waiting.finish().status == 0)
    #expect(place.lines() == ["quick", "a", "quick"])
  }

  @Test func `manifests with the same group name share a group`() throws {
    let place = try place("vars: { to: prod }\nconcurrency: '../${{ vars.to }}'\nif_running: fail")
    try place.write("other.yaml", "concurrency: ../prod\ntasks: { b: { run: echo b >> trace } }")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.start("run")
    _ = try here.next()
    let run = try #require(place.runs.first)
    let refused = try place.opflow("run", "other.yaml", "--if-running", "fail", status: 5)
    #expect(refused.errors.contains("run \(run) of `../prod` is live"), "\(refused)")
    let beside = try place.opflow("run", "other.yaml")
    #expect(
      beside.errors.contains("warning: run \(run) of `../prod` is still live"), "\(beside)")
    // Another group.
    try place.opflow("run", "quick", "--set", "to=test")
    try go.letGo()
    #expect(try first.finish().status == 0)
    #expect(place.lines() == ["b", "quick", "a"])
    #expect(!place.exists("prod.group"))
  }

  @Test func `run --resume waits for the live run, then continues it or starts a new one`() throws {
    let place = try place("")
    let here = try place.gate("here")
    let go = try place.gate("go")
    let first = try place.start("run")
    _ = try here.next()
    let run = try #require(place.runs.first)
    try place.opflow("run", "--resume", status: 5)
    let second = try place.start("run", "--resume", "--if-running", "wait")
    try second.waitForError("waiting for run \(run)")
    first.send(SIGKILL)
    _ = try first.finish()
    _ = try here.next()
    #expect(place.runs == [run])
    let third = try place.start("run", "--resume", "--if-running", "wait")
    try third.waitForError("waiting for run \(run)")
    try go.letGo()
    #expect(try second.finish().status == 0)
    _ = try here.next()
    try go.letGo()
    #expect(try third.finish().status == 0)
    #expect(place.runs.count == 2)
    #expect(place.lines() == ["a", "a"])
    place.expectNothingAlive()
  }

  @Test func `a resume waits for another run of the group`() throws {
    let place = try place("if_running: wait")
    try place.write("fail", "")
    try place.opflow("run", status: 1)
    try place.remove("fail")
    let failed = try #require(place.runs.first)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    _ = try here.next()
    let run = try #require(place.runs.max())
    try place.opflow("resume", failed, "--if-running", "fail", status: 5)
    let resume = try place.start("resume", failed)
    try resume.waitForError("waiting for run \(run)")
    // The waiting resume does not hold the run.
    #expect(try place.status(failed).state == "failed")
    try go.letGo()
    #expect(try live.finish().status == 0)
    _ = try here.next()
    try go.letGo()
    #expect(try resume.finish().status == 0)
    #expect(try place.status(failed).state == "succeeded")
  }

  @Test func `a task does not wait for its own run`() throws {
    let place = try place(
      "if_running: wait",
      """
      tasks:
        outer: { run: '"$opflow" run inner' }
        inner: { manual: true, run: echo inner >> trace }
        hidden: { manual: true, run: 'env -u OPFLOW_RUN "$opflow" run --resume inner' }
        beside: { manual: true, run: '"$opflow" run inner --if-running allow' }
      """)
    for task in ["outer", "hidden"] {
      let refused = try place.opflow("run", task, status: 1)
      #expect(refused.errors.contains("this command was started by a task of run "), "\(refused)")
      #expect(refused.errors.contains("waiting for that run would never end"), "\(refused)")
    }
    #expect(place.lines().isEmpty)
    try place.opflow("run", "beside")
    #expect(place.lines() == ["inner"])
  }

  @Test func `of many runs that start at once without waiting, one runs`() throws {
    let place = try place("if_running: fail", "tasks: { a: { run: echo a >> trace; sleep 0.1 } }")
    let all = try (0..<10).map { _ in try place.start("run") }
    var codes: [Int32] = []
    for process in all {
      let end = try process.finish()
      codes.append(end.status)
      if end.status == 0 { continue }
      #expect(end.status == 5)
      #expect(!end.errors.contains("waiting for"), "\(end)")
      #expect(
        end.errors.contains(" of the same manifest is live (process ")
          || end.errors.contains(" is starting a run of the same manifest; "), "\(end)")
    }
    // A run that starts after another's end also succeeds.
    #expect(codes.count { $0 == 0 } == place.runs.count)
    #expect(place.lines().count == place.runs.count)
    #expect(codes.contains(5))
  }

  @Test func `unused group files are removed, and used ones stay`() throws {
    let place = try place(
      "vars: { to: one }\nconcurrency: '${{ vars.to }}'\nif_running: wait")
    let here = try place.gate("here")
    let go = try place.gate("go")
    for group in ["one", "two", "three"] {
      try place.opflow("run", "quick", "--set", "to=\(group)")
    }
    #expect(place.entries(".opflow/locks").isEmpty)
    let first = try place.start("run")
    _ = try here.next()
    let second = try place.start("run")
    try second.waitForError("waiting for run")
    let third = try place.start("run")
    try third.waitForError("waiting for process \(second.pid)")
    try place.opflow("run", "quick", "--set", "to=two")
    try place.opflow("clean")
    #expect(place.entries(".opflow/locks") == ["one.group"])
    for process in [first, second, third] {
      try go.letGo()
      #expect(try process.finish().status == 0)
      if process !== third { _ = try here.next() }
    }
    #expect(place.entries(".opflow/locks").isEmpty)
  }
}
