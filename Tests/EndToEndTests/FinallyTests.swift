import Testing

struct FinallyTests {
  @Test func `finally runs after all others, wherever it stands`() throws {
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
}
