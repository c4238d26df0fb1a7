import Testing

/// The effect of a failed task on other tasks.
struct FailureTests {
  @Test func `a failure skips all transitive dependents`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: exit 7 }
        child: { needs: [bad], run: echo child >> trace }
        grandchild: { needs: [child], run: echo grandchild >> trace }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines().isEmpty)
    let status = try place.status()
    #expect(status.state == "failed")
    #expect(status["bad"]?.state == "failed")
    #expect(status["bad"]?.exit == 7)
    #expect(status["child"]?.state == "skipped")
    #expect(status["child"]?.reason?.contains("upstream") == true)
    #expect(status["grandchild"]?.state == "skipped")
  }

  @Test func `after the first failure no task starts`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; exit 1" }
        b: { run: echo b >> trace }
      """)
    try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines() == ["a"])
  }

  @Test func `running tasks finish after a failure`() throws {
    let place = try Workplace(
      """
      max_parallel: 2
      tasks:
        slow: { run: "echo slow > here; read x < go; echo slow >> trace" }
        bad: { run: "echo bad > here; read x < fail; exit 1" }
        later: { run: echo later >> trace }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let fail = try place.gate("fail")
    let live = try place.start("run")
    _ = try here.next(2)
    try fail.letGo()
    try live.waitForError("bad")
    try go.letGo()
    #expect(try live.finish().status == 1)
    #expect(place.lines() == ["slow"])
    #expect(try place.status()["slow"]?.state == "succeeded")
  }

  @Test(arguments: ["-k", "--keep-going", "--max-failures=0"])
  func `--keep-going runs all tasks that do not depend on the failure`(flag: String) throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: exit 1 }
        child: { needs: [bad], run: echo child >> trace }
        free: { run: echo free >> trace }
        after: { needs: [free], run: echo after >> trace }
      """)
    try place.opflow("run", "-j", "1", flag, status: 1)
    #expect(place.lines() == ["free", "after"])
    #expect(try place.status()["child"]?.state == "skipped")
  }

  @Test func `max_failures counts failures, not tasks`() throws {
    let place = try Workplace(
      """
      max_failures: 2
      tasks:
        a: { run: "echo a >> trace; exit 1" }
        b: { run: echo b >> trace }
        c: { run: "echo c >> trace; exit 1" }
        d: { run: echo d >> trace }
      """)
    try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines() == ["a", "b", "c"])
  }

  @Test func `the command line's limit of failures wins over the manifest's`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        a: { run: "echo a >> trace; exit 1" }
        b: { run: echo b >> trace }
      """)
    try place.opflow("run", "-j", "1", "--max-failures", "1", status: 1)
    #expect(place.lines() == ["a"])
  }

  @Test func `an allowed failure does not fail the run and counts as success for dependents`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        lint: { run: exit 3, allow_failure: true }
        next: { needs: [lint], run: echo next >> trace }
      """)
    try place.opflow("run", "-j", "1")
    #expect(place.lines() == ["next"])
    let status = try place.status()
    #expect(status.state == "succeeded")
    #expect(status["lint"]?.state == "failed")
    #expect(status["lint"]?.exit == 3)
  }

  @Test func `only the listed exit codes are allowed`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        two: { run: exit 2, allow_failure: [2, 4] }
        three: { run: exit 3, allow_failure: [2, 4] }
        after_two: { needs: [two], run: echo after_two >> trace }
        after_three: { needs: [three], run: echo after_three >> trace }
      """)
    try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines() == ["after_two"])
  }

  @Test func `a death by signal is not covered by a list of exit codes`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: kill -KILL $$, allow_failure: [137, 9] }
      """)
    try place.opflow("run", status: 1)
    #expect(try place.status()["a"]?.signal == 9)
  }

  @Test func `a failure edge runs its task only after a failure`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: exit 1 }
        good: { run: "true" }
        rescue: { needs: [{ task: bad, on: failure }], run: echo rescue >> trace }
        idle: { needs: [{ task: good, on: failure }], run: echo idle >> trace }
      """)
    try place.opflow("run", "-k", status: 1)
    #expect(place.lines() == ["rescue"])
    let status = try place.status()
    #expect(status["idle"]?.state == "skipped")
    #expect(status["rescue"]?.state == "succeeded")
  }

  @Test func `an unmet failure edge does not fail the run`() throws {
    let place = try Workplace(
      """
      tasks:
        good: { run: "true" }
        idle: { needs: [{ task: good, on: failure }], run: exit 1 }
      """)
    try place.opflow("run")
  }

  @Test func `max_failures does not hold back tasks that depend on a failure`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: exit 1 }
        rescue: { needs: [{ task: bad, on: failure }, tool], run: echo rescue >> trace }
        tool: { run: echo tool >> trace }
        other: { run: echo other >> trace }
      """)
    try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines() == ["tool", "rescue"])
  }

  @Test func `an allowed failure does not meet a failure edge`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: exit 1, allow_failure: true }
        rescue: { needs: [{ task: bad, on: failure }], run: echo rescue >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines().isEmpty)
  }

  @Test func `a finished edge is met by success, failure and skip`() throws {
    let place = try Workplace(
      """
      tasks:
        good: { run: "true" }
        bad: { run: exit 1 }
        skipped: { needs: [bad], run: "true" }
        a: { needs: [{ task: good, on: finished }], run: echo a >> trace }
        b: { needs: [{ task: bad, on: finished }], run: echo b >> trace }
        c: { needs: [{ task: skipped, on: finished }], run: echo c >> trace }
      """)
    try place.opflow("run", "-j", "1", "-k", status: 1)
    #expect(Set(place.lines()) == ["a", "b", "c"])
  }

  @Test func `a task that is skipped for an unmet dependency meets no success edge`() throws {
    let place = try Workplace(
      """
      tasks:
        good: { run: "true" }
        unmet: { needs: [{ task: good, on: failure }], run: "true" }
        below: { needs: [unmet], run: echo below >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines().isEmpty)
    #expect(try place.status()["below"]?.state == "skipped")
  }

  @Test func `a timeout meets a failure edge`() throws {
    let place = try Workplace(
      """
      tasks:
        slow: { run: tail -f /dev/null, timeout: 50ms }
        rescue: { needs: [{ task: slow, on: failure }], run: echo rescue >> trace }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["rescue"])
  }

  @Test func `the summary shows task, exit code, last output, log and resume command`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: "for i in $(seq 30); do echo word $i; done; exit 42" }
      """)
    let run = try place.opflow("run", status: 1)
    let summary = run.errors
    #expect(summary.contains("bad"))
    #expect(summary.contains("42"))
    #expect(summary.contains("word 30"))
    #expect(summary.contains("bad.log"))
    #expect(summary.contains("opflow resume"))
    #expect(run.output == "")
  }

  @Test func `no task of a hundred short ones starts after the failed one`() throws {
    var manifest = "tasks:\n"
    for index in 0..<100 {
      manifest += "  t\(index): { run: \"echo \(index) >> trace; test \(index) != 50\" }\n"
    }
    let place = try Workplace(manifest)
    try place.opflow("run", "-j", "1", "-q", status: 1)
    let numbers: [String] = (0...50).map { "\($0)" }
    #expect(place.lines() == numbers)
  }
}
