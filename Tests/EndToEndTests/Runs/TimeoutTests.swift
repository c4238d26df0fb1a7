import Testing

struct TimeoutTests {
  @Test func `a task beyond its timeout is stopped and failed`() throws {
    let place = try Workplace("tasks: { slow: { run: tail -f /dev/null, timeout: 50ms } }")
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("timeout") || run.errors.contains("timed out"))
    let task = try #require(try place.status()["slow"])
    #expect(task.state == "failed")
    #expect(task.reason == "timeout")
    place.expectNothingAlive()
  }

  @Test func `a task that ignores TERM is killed after its grace`() throws {
    let place = try Workplace(
      """
      tasks:
        stubborn:
          run: |
            trap 'echo term >> trace' TERM
            while :; do tail -f /dev/null & wait || true; done
          timeout: 50ms
          stop: { grace: 100ms }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines().first == "term")
    #expect(try place.status()["stubborn"]?.reason == "timeout")
    place.expectNothingAlive()
  }

  @Test func `the stop signal can be chosen`() throws {
    let place = try Workplace(
      """
      tasks:
        polite:
          run: |
            trap 'echo usr1 >> trace; exit 0' USR1
            tail -f /dev/null & wait
          timeout: 200ms
          stop: { signal: USR1 }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["usr1"])
  }

  @Test func `a task that exits 0 when told to stop has still timed out`() throws {
    let place = try Workplace(
      """
      tasks:
        polite: { run: "trap 'exit 0' TERM; tail -f /dev/null & wait", timeout: 100ms }
      """)
    try place.opflow("run", status: 1)
    #expect(try place.status()["polite"]?.reason == "timeout")
  }

  @Test func `the timeout is of each try`() throws {
    let place = try Workplace(
      """
      tasks:
        slow:
          run: echo try >> trace; test $OPFLOW_ATTEMPT = 3 || tail -f /dev/null
          timeout: 300ms
          retry: { max: 2, delay: 1ms }
      """)
    try place.opflow("run")
    #expect(place.lines().count == 3)
  }

  @Test func `with exit codes listed a timeout is final`() throws {
    let place = try Workplace(
      """
      tasks:
        slow:
          run: echo try >> trace; tail -f /dev/null
          timeout: 100ms
          retry: { max: 2, delay: 1ms, exit_codes: [75] }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines().count == 1)
  }

  @Test func `a timeout reaches the whole tree`() throws {
    let place = try Workplace(
      """
      tasks:
        tree:
          run: |
            (setsid tail -f /dev/null &)
            (tail -f /dev/null | cat) &
            tail -f /dev/null
          timeout: 200ms
          stop: { grace: 100ms }
      """)
    try place.opflow("run", status: 1)
    place.expectNothingAlive()
  }

  @Test func `a task within its timeout is left alone`() throws {
    let place = try Workplace("tasks: { quick: { run: echo quick >> trace, timeout: 1h } }")
    try place.opflow("run")
    #expect(place.lines() == ["quick"])
  }
}
