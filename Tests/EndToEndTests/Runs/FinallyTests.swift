import Testing

struct FinallyTests {
  @Test func `a finally task runs after all others, wherever it is declared`() throws {
    let place = try Workplace(
      """
      tasks:
        cleanup: { finally: true, run: echo cleanup >> trace, priority: very_high }
        a: { run: echo a >> trace }
        b: { needs: [a], run: echo b >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["a", "b", "cleanup"])
  }

  @Test func `finally runs after a failure`() throws {
    let place = try Workplace(
      """
      tasks:
        bad: { run: exit 1 }
        child: { needs: [bad], run: echo child >> trace }
        cleanup: { finally: true, run: echo cleanup >> trace }
      """)
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["cleanup"])
  }

  @Test func `it finds the run's state in its environment`() throws {
    let place = try Workplace(
      """
      tasks:
        work: { run: test -e ok }
        cleanup: { finally: true, run: echo $OPFLOW_RUN_STATE >> trace }
      """)
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["failed", "succeeded"])
  }

  @Test func `other tasks do not find it`() throws {
    let place = try Workplace(
      """
      tasks:
        work: { run: 'echo "[${OPFLOW_RUN_STATE-unset}]" >> trace' }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["[unset]"])
  }

  @Test func `finally tasks may need each other`() throws {
    let place = try Workplace(
      """
      tasks:
        work: { run: echo work >> trace }
        second: { finally: true, needs: [first], run: echo second >> trace }
        first: { finally: true, run: echo first >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["work", "first", "second"])
  }

  @Test func `a failing finally task fails the run`() throws {
    let place = try Workplace(
      """
      tasks:
        work: { run: "true" }
        cleanup: { finally: true, run: exit 4 }
      """)
    try place.opflow("run", status: 1)
  }

  @Test func `a resume that has nothing to run runs no finally task`() throws {
    let place = try Workplace(
      """
      tasks:
        work: { run: echo work >> trace }
        cleanup: { finally: true, run: echo cleanup >> trace }
      """)
    try place.opflow("run")
    try place.opflow("resume")
    #expect(place.lines() == ["work", "cleanup"])
  }

  /// Finally tasks with and without dependencies, and one that depends on another.
  private static let several = """
    tasks:
      a: { run: echo a >> trace }
      b: { run: echo b >> trace; test -e ok }
      never: { if: "false", run: echo never >> trace }
      after-a: { finally: true, needs: [{ task: a, on: finished }], run: echo after-a >> trace }
      after-b: { finally: true, needs: [{ task: b, on: finished }], run: echo after-b >> trace }
      after-never: { finally: true, needs: [never], run: echo after-never >> trace }
      after-that: { finally: true, needs: [{ task: after-b, on: finished }], run: echo that >> trace }
      always: { finally: true, run: echo always >> trace }
    """

  @Test func `if tasks are named, a finally task runs if one of its needs ran`() throws {
    let place = try Workplace(Self.several)
    try place.opflow("run", "a")
    #expect(place.lines() == ["a", "after-a"])
    try place.opflow("resume")
    #expect(place.lines() == ["a", "after-a"])
    try place.write("trace", "")
    try place.opflow("run", "b", status: 1)
    #expect(place.lines() == ["b", "after-b", "that"])
    try place.write("trace", "")
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["b", "after-b", "that"])
  }

  @Test func `a need that was skipped did not run`() throws {
    let place = try Workplace(Self.several)
    try place.opflow("run", "a", "never")
    #expect(place.lines() == ["a", "after-a"])
    #expect(try place.status()["after-never"]?.state == "skipped")
    // The resume has nothing to run.
    try place.opflow("resume")
    #expect(place.lines() == ["a", "after-a"])
  }

  @Test func `in a full run a finally task also runs after a false if`() throws {
    let place = try Workplace(Self.several)
    try place.write("ok", "")
    try place.opflow("run", "-j1")
    #expect(place.lines().contains("after-never"))
    #expect(place.lines().contains("always"))
  }

  @Test func `a resume runs a finally task that a dead run did not reach`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b:
          needs: [a]
          run: echo b >> trace; test -e ok || { echo here > here; exec tail -f /dev/null; }
        after-a: { finally: true, needs: [a], run: echo after-a >> trace }
        always: { finally: true, run: echo always >> trace }
      """)
    let here = try place.gate("here")
    let live = try place.start("run", "b")
    _ = try here.next()
    live.send(9)
    _ = try live.finish()
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "b", "b", "after-a"])
  }
}
