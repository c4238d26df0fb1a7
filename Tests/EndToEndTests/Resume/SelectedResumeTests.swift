import Testing

/// `--only` and `--skip` of a resume, which apply to that session only.
struct SelectedResumeTests {
  private static let manifest = """
    max_failures: 0
    tasks:
      a: { run: "echo a >> trace; test -e ok-a" }
      b: { run: "echo b >> trace; test -e ok-b" }
      after-b: { needs: [b], run: echo after-b >> trace }
      c: { run: echo c >> trace }
    """

  private func failed(_ manifest: String = manifest) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.opflow("run", "-j", "1", status: 1)
    try place.write("trace", "")
    return place
  }

  @Test func `what --only of a resume leaves out stays failed, and the run with it`() throws {
    let place = try failed()
    try place.write("ok-b", "")
    let resume = try place.opflow("resume", "--only", "b", status: 1)
    #expect(place.lines() == ["b"])
    #expect(resume.errors.contains("not run (failed last time): a"), "\(resume)")
    #expect(resume.errors.contains("to continue: "), "\(resume)")
    let status = try place.status()
    #expect(status.state == "failed")
    #expect(status.tasks.map(\.id) == ["a", "b", "after-b", "c"])
    #expect(status["a"]?.state == "failed")
    #expect(status["b"]?.state == "succeeded")
    #expect(try place.journal().last?.values["state"] == "failed")
    // The next one is of the whole run again.
    try place.write("trace", "")
    try place.write("ok-a", "")
    try place.opflow("resume", "-j", "1")
    #expect(place.lines().sorted() == ["a", "after-b"])
    #expect(try place.status().state == "succeeded")
  }

  @Test func `a run is not done while --only leaves out what a failure had held back`() throws {
    let place = try failed()
    try place.write("ok-a", "")
    try place.opflow("resume", "--only", "a", status: 1)
    try place.write("ok-b", "")
    // Now nothing is failed any more, but `after-b` is still to come.
    let resume = try place.opflow("resume", "--only", "b")
    #expect(resume.errors.contains("not run: after-b"), "\(resume)")
    #expect(try place.status().state == "interrupted")
    #expect(try place.status()["after-b"]?.state == "skipped")
    try place.write("trace", "")
    try place.opflow("resume")
    #expect(place.lines() == ["after-b"])
    #expect(try place.status().state == "succeeded")
  }

  @Test func `tasks that max_failures held back are still to come after a resume of some`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; test -e ok" }
        b: { run: echo b >> trace }
      """)
    try place.opflow("run", "-j", "1", status: 1)
    try place.write("ok", "")
    let resume = try place.opflow("resume", "--only", "a")
    #expect(resume.errors.contains("not run: b"), "\(resume)")
    let status = try place.status()
    #expect(status.state == "interrupted")
    #expect(status.counts["pending"] == 1)
    #expect(try place.opflow("runs").output.contains("interrupted"))
    try place.opflow("resume")
    #expect(place.lines() == ["a", "a", "b"])
  }

  @Test func `--only of a new run holds for its resumes, and one that is given adds to it`() throws
  {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", "--only", "a", status: 1)
    try place.write("ok-a", "")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "a"])
    #expect(try place.status().state == "succeeded")
    #expect(try place.status().tasks.map(\.id) == ["a"])
    try place.opflow("resume", "--only", "b", status: 1)
    #expect(try place.status().tasks.map(\.id) == ["a", "b"])
    #expect(try place.status().state == "failed")
    try place.write("trace", "")
    // By now that is part of the run, which is not done without it.
    try place.opflow("resume", status: 1)
    #expect(place.lines() == ["b"])
    try place.write("trace", "")
    try place.opflow("resume", "--only", "c", status: 1)
    #expect(place.lines() == ["c"])
    try place.write("ok-b", "")
    try place.opflow("resume", "--only", "*")
    #expect(try place.status().state == "succeeded")
    #expect(try place.status().tasks.count == 4)
  }

  @Test func `--skip of a resume applies to that session only`() throws {
    let place = try failed()
    try place.write("ok-a", "")
    try place.opflow("resume", "-j", "1", "--skip", "b")
    #expect(place.lines().sorted() == ["a", "after-b"])
    #expect(try place.status()["b"]?.state == "skipped")
    #expect(try place.status()["b"]?.reason == "--skip")
    // Like with --only, the run has not ended while tasks are left.
    #expect(try place.status().state == "interrupted")
    let other = try place.opflow("resume", "--only", "c", "--rerun", "c")
    #expect(other.errors.contains("not run: b"), "\(other)")
    #expect(try place.status().state == "interrupted")
    try place.opflow("resume", "--skip", "b")
    #expect(try place.status().state == "interrupted")
    try place.write("trace", "")
    let resume = try place.opflow("resume", "-j", "1", status: 1)
    #expect(place.lines() == ["b"])
    #expect(resume.errors.contains("b: re-run (skipped last time)"), "\(resume)")
  }

  @Test func `--skip does not take a result away`() throws {
    let place = try failed()
    try place.write("ok-a", "")
    try place.write("ok-b", "")
    try place.opflow("resume", "--skip", "c")
    #expect(try place.status()["c"]?.state == "succeeded")
  }

  @Test func `what --rerun asks for and --only leaves out is a mistake`() throws {
    let place = try failed()
    let both = try place.opflow("resume", "--only", "b", "--rerun", "c", status: 2)
    #expect(both.errors.contains("--rerun"), "\(both)")
    try place.opflow("resume", "--skip", "c", "--rerun", "c", status: 2)
    try place.opflow("resume", "--only", "b", "--rerun", "*", status: 1)
    #expect(place.lines() == ["b"])
  }

  @Test func `--skip of all that would run is a mistake`() throws {
    let place = try Workplace(Self.manifest)
    #expect(
      try place.opflow("run", "--only", "a", "--skip", "a", status: 2).errors
        .contains("nothing would run"))
    try place.opflow("run", "--skip", "*", status: 2)
    try place.opflow("plan", "--only", "b", "--skip", "b", status: 2)
    #expect(place.runs.isEmpty)
    try place.opflow("run", "--only", "a", "--only", "c", "--skip", "a")
    #expect(place.lines() == ["c"])
    try place.opflow("resume", "--skip", "c,a", status: 2)
    try place.opflow("resume", "--skip", "c", "--skip", "a", status: 2)
  }

  @Test func `--rerun of a new run names tasks that there are`() throws {
    let place = try Workplace(Self.manifest)
    for command in ["run", "plan"] {
      let run = try place.opflow(command, "--rerun", "nobody", status: 2)
      #expect(
        run.errors.contains("no task matches `nobody`; its tasks: a, b, after-b, c"), "\(run)")
    }
    #expect(place.runs.isEmpty)
    // Where nothing is to be continued all tasks run, and the name must be one.
    try place.opflow("run", "--resume", "--rerun", "nobody", status: 2)
    try place.opflow("run", "--resume", "-k", "--rerun", "c", status: 1)
    try place.write("trace", "")
    try place.opflow("run", "--resume", "-k", "--rerun", "c", status: 1)
    #expect(place.lines().sorted() == ["a", "b", "c"])
  }

  @Test func `a finally task that is named runs though nothing else does`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        cleanup: { finally: true, run: echo cleanup >> trace }
      """)
    #expect(try place.opflow("plan", "--only", "cleanup").output.contains("1 task, 1 to run"))
    try place.opflow("run", "--only", "cleanup")
    #expect(place.lines() == ["cleanup"])
    try place.opflow("resume")
    #expect(place.lines() == ["cleanup"])
  }

  @Test func `a failure of an earlier session is counted once`() throws {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        once:
          priority: 1
          run: echo once >> trace; test -e ok || { echo here > here; exec tail -f /dev/null; }
          on_interrupted: fail
        next: { needs: [once], run: echo next >> trace }
        other: { run: echo other >> trace }
      """)
    let here = try place.gate("here")
    let live = try place.start("run")
    _ = try here.next()
    live.send(9)
    _ = try live.finish()
    // The first session afterwards counts the failure and starts nothing.
    try place.opflow("resume", status: 1)
    #expect(place.lines() == ["once"])
    // A later one runs the tasks that do not need it.
    let later = try place.opflow("resume", status: 1)
    #expect(place.lines() == ["once", "other"])
    #expect(later.errors.contains("--rerun once"), "\(later)")
    #expect(try place.status().state == "failed")
    let last = try place.opflow("resume", status: 1)
    #expect(place.lines() == ["once", "other"])
    #expect(last.errors.contains("--rerun once"), "\(last)")
    #expect(try place.opflow("resume", "-n").output.contains("stays failed: once"))
    #expect(try place.opflow("status").output.contains("--rerun once"))
    try place.write("ok", "")
    try place.opflow("resume", "--rerun", "once")
    #expect(place.lines() == ["once", "other", "once", "next"])
  }
}
