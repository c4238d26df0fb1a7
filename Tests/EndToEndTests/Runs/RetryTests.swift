import Testing

struct RetryTests {
  @Test func `a task is tried again until it succeeds`() throws {
    let place = try Workplace(
      """
      tasks:
        flaky:
          run: echo try >> trace; test "$(wc -l < trace)" -ge 3
          retry: { max: 5, delay: 1ms }
        next: { needs: [flaky], run: echo next >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["try", "try", "try", "next"])
    let task = try #require(try place.status()["flaky"])
    #expect(task.state == "succeeded")
    #expect(task.attempts == 3)
  }

  @Test func `max counts the tries after the first`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: "echo try >> trace; exit 1", retry: { max: 2, delay: 1ms } }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines().count == 3)
    #expect(try place.status()["bad"]?.attempts == 3)
  }

  @Test func `a bare number is max`() throws {
    let place = try Workplace(
      """
      defaults: { retry: { delay: 1ms } }
      tasks:
        bad: { run: "echo try >> trace; exit 1", retry: 1 }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines().count == 2)
  }

  @Test func `without retry there is one try`() throws {
    let place = try Workplace("tasks: { bad: { run: 'echo try >> trace; exit 1' } }")
    try place.opflow("run", status: 1)
    #expect(place.lines().count == 1)
  }

  @Test func `only the listed exit codes are tried again`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      defaults: { retry: { max: 1, delay: 1ms, exit_codes: [75] } }
      tasks:
        again: { run: "echo again >> trace; exit 75" }
        final: { run: "echo final >> trace; exit 1" }
        signal: { run: "echo signal >> trace; kill -KILL $$" }
      """)
    try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines().filter { $0 == "again" }.count == 2)
    #expect(place.lines().filter { $0 == "final" }.count == 1)
    #expect(place.lines().filter { $0 == "signal" }.count == 1)
  }

  @Test func `the delay grows by the backoff up to its limit`() throws {
    let place = try Workplace(
      """
      tasks:
        bad:
          run: exit 1
          retry: { max: 4, delay: 4ms, backoff: 2, max_delay: 12ms, jitter: 0 }
      """)
    try place.opflow("run", status: 1)
    let delays = try place.journal().filter { $0.event == "retry" }.map { $0.values["delay"] }
    #expect(delays == ["4", "8", "12", "12"])
  }

  @Test func `while a task waits for its next try others run`() throws {
    let place = try Workplace(
      """
      tasks:
        flaky: { run: "echo flaky >> trace; test -e ok", retry: { max: 1, delay: 500ms } }
        other: { run: "echo other >> trace; touch ok" }
      """)
    try place.opflow("run", "-j", "1")
    #expect(place.lines() == ["flaky", "other", "flaky"])
  }

  @Test func `a task knows which try it is`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: "echo $OPFLOW_ATTEMPT >> trace; exit 1", retry: { max: 2, delay: 1ms } }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["1", "2", "3"])
  }

  @Test func `the log keeps the output of every try`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: "echo try-$OPFLOW_ATTEMPT; exit 1", retry: { max: 1, delay: 1ms } }
      """)
    try place.opflow("run", status: 1)
    let lines = try place.log("bad").split(separator: "\n").map(String.init)
    #expect(lines.first == "try-1")
    #expect(lines.last == "try-2")
    #expect(lines.count == 3, "a header line is between the attempts: \(lines)")
  }

  @Test func `a failure that is tried again does not count as a failure of the run`() throws {
    let place = try Workplace(
      """
      max_failures: 1
      tasks:
        flaky:
          run: echo try >> trace; test "$(wc -l < trace)" -ge 3
          retry: { max: 2, delay: 1ms }
        other: { run: echo other > out }
      """)
    try place.opflow("run", "-j", "1")
    #expect(place.exists("out"))
  }

  @Test func `an allowed failure comes after the last try`() throws {
    let place = try Workplace(
      """
      tasks:
        bad:
          run: echo try >> trace; exit 1
          retry: { max: 1, delay: 1ms }
          allow_failure: true
      """)
    try place.opflow("run")
    #expect(place.lines().count == 2)
  }

  @Test func `lists of codes mean the same with and without a shell`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        direct: { run: ./killed, retry: { max: 1, delay: 1ms, exit_codes: [137] } }
        shell: { run: ./killed || exit $?, retry: { max: 1, delay: 1ms, exit_codes: [137] } }
        list: { run: [./killed], retry: { max: 1, delay: 1ms, exit_codes: [137] } }
        allowed: { run: ./killed, allow_failure: [137] }
        next: { needs: [allowed], run: echo after allowed >> trace }
      """)
    try place.writeProgram("killed", "#!/bin/sh\nkill -KILL $$\n")
    try place.opflow("run", status: 1)
    let status = try place.status()
    #expect(status["direct"]?.attempts == 2)
    #expect(status["shell"]?.attempts == 2)
    #expect(status["list"]?.attempts == 1)
    #expect(place.lines() == ["after allowed"])
  }
}
