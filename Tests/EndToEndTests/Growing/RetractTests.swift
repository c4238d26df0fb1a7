import Foundation
import Testing

/// Tasks that add tasks, fail, and add different ones in their next attempt.
struct RetractTests {
  /// Each attempt adds the tasks of the file with its number, and the last one succeeds.
  private func place(_ tries: [String], retries: Int? = nil) throws -> Workplace {
    let place = try Workplace(
      """
      tasks:
        scan:
          control: true
          retry: { max: \(retries ?? tries.count - 1), delay: 10ms }
          run: |
            $opflow add try$OPFLOW_ATTEMPT.yaml
            test $OPFLOW_ATTEMPT -ge \(tries.count)
        last: { needs: [scan], run: echo last >> trace }
      """)
    for (number, text) in tries.enumerated() {
      try place.write("try\(number + 1).yaml", "tasks:\n" + text)
    }
    return place
  }

  @Test func `the last try alone says what there is`() throws {
    let place = try place([
      """
        a: { run: echo a1 >> trace }
        b: { run: echo b1 >> trace, outputs: [out] }
        legs: { matrix: { n: [1, 2] }, run: 'echo leg ${{ matrix.n }} >> trace' }
        off: { if: false, run: echo off1 >> trace }
        end: { finally: true, run: echo end1 >> trace }
      """,
      """
        a: { run: echo a2 >> trace }
        legs: { matrix: { n: [2, 3] }, run: 'echo leg ${{ matrix.n }} >> trace' }
      """,
      """
        a: { run: echo a3 >> trace }
        c: { needs: [a], run: 'echo c3 >> trace; touch out', outputs: [out] }
        off: { run: echo off3 >> trace }
      """,
    ])
    let run = try place.opflow("run", "--output", "line")
    #expect(place.lines().sorted() == ["a3", "c3", "last", "off3"])
    #expect(run.errors.contains("removed 6 tasks that an earlier attempt of scan added\n"))
    #expect(run.errors.contains("removed 3 tasks that an earlier attempt of scan added\n"))
    #expect(run.errors.hasSuffix(": 5 succeeded\n"), "\(run)")
    let status = try place.opflow("status")
    #expect(status.output.contains("\n5 tasks: 5 succeeded\n"), "\(status)")
    #expect(status.output.contains("3 tasks added by task scan"), "\(status)")
    #expect(!status.output.contains("~"), "\(status)")
    #expect(try place.status().tasks.count == 5)
    #expect(try place.opflow("journal", "verify").output.contains(", intact\n"))
    // And none of it is there for a resume.
    let resume = try place.opflow("resume", "--rerun", "c")
    #expect(!resume.errors.contains("warning"), "\(resume)")
    #expect(place.lines().sorted() == ["a3", "c3", "c3", "last", "off3"])
  }

  @Test func `a try that adds nothing takes all of it back`() throws {
    let place = try place(["  a: { run: echo a >> trace }", "  b: { run: echo b >> trace }"])
    try place.write(
      "opflow.yaml",
      """
      tasks:
        scan:
          control: true
          retry: { max: 1, delay: 10ms }
          run: |
            test $OPFLOW_ATTEMPT -gt 1 || { $opflow add try1.yaml; false; }
      """)
    try place.opflow("run")
    #expect(place.lines() == [])
    #expect(try place.status().tasks.count == 1)
  }

  @Test func `a request that tries it again does as well`() throws {
    let place = try place(
      ["  a: { run: echo a1 >> trace }", "  a: { run: echo a2 >> trace }"], retries: 0)
    try place.write(
      "opflow.yaml",
      try place.text("opflow.yaml")
        + "\n  work: { run: 'echo in > in; read w < out' }\nmax_failures: 0\n")
    let (`in`, _) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run", "--output", "line")
    _ = try `in`.next()
    try run.waitForError("a skipped")
    try place.opflow("retry", "scan")
    try run.waitForError("last succeeded")
    try run.waitForError("a succeeded")
    #expect(place.lines().sorted() == ["a2", "last"])
    try place.gate("out").letGo()
    #expect(try run.finish().status == 0)
    #expect(try place.status().tasks.count == 4)
    place.expectNothingAlive()
  }

  @Test func `what another one needs of it stays, and cannot be another`() throws {
    let place = try Workplace(
      """
      tasks:
        scan:
          control: true
          retry: { max: 1, delay: 10ms }
          run: |
            $opflow add try$OPFLOW_ATTEMPT.yaml
            test $OPFLOW_ATTEMPT -gt 1 || { echo in > in; read w < out; false; }
      """)
    try place.write("try1.yaml", "tasks: { a: { run: echo a1 >> trace } }")
    try place.write("try2.yaml", "tasks: { a: { run: echo a2 >> trace } }")
    try place.write("user.yaml", "tasks: { user: { needs: [a], run: echo user >> trace } }")
    let (`in`, _) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    _ = try `in`.next()
    try place.opflow("add", "user.yaml")
    try place.gate("out").letGo()
    let end = try run.finish()
    #expect(end.status == 1, "\(end)")
    #expect(end.errors.contains("`a` is already in the run, with a different `run`"), "\(end)")
    #expect(place.lines() == [])
  }

  @Test func `who waits for one of them waits for what comes by its id`() throws {
    for again in [true, false] {
      let place = try Workplace(
        """
        tasks:
          scan:
            control: true
            retry: { max: 1, delay: 10ms }
            run: |
              if test $OPFLOW_ATTEMPT = 1 || \(again); then $opflow add a.yaml; fi
              test $OPFLOW_ATTEMPT -gt 1 || { echo in > in; read w < out; false; }
        """)
      try place.write("a.yaml", "tasks: { a: { run: echo a >> trace } }")
      let (`in`, _) = (try place.gate("in"), try place.gate("out"))
      let run = try place.start("run")
      _ = try `in`.next()
      let waiting = try place.start("wait", "-v", "--for", "a")
      try waiting.waitForError("waiting for a of run")
      try place.gate("out").letGo()
      let end = try waiting.finish()
      #expect(end.status == (again ? 0 : 2), "\(end)")
      #expect(try run.finish().status == 0)
    }
  }

  @Test(arguments: [
    "2 tasks added by ", "; attempt 2 in ", "(attempt 2)", "removed 2 tasks", "scan succeeded",
  ])
  func `a coordinator that dies around it leaves what a resume brings to the same end`(
    _ told: String
  ) throws {
    let place = try place([
      "  a: { run: echo a1 >> trace }\n  b: { run: echo b1 >> trace }",
      "  a: { run: echo a2 >> trace }\n  c: { run: echo c2 >> trace }",
    ])
    // A resume counts on, wherever the kill came.
    for number in 3...5 { try place.write("try\(number).yaml", try place.text("try2.yaml")) }
    let run = try place.start("run", "--output", "line")
    try run.waitForError(told)
    run.send(SIGKILL)
    _ = try run.finish()
    try place.opflow("resume")
    #expect(Set(place.lines()) == ["a2", "c2", "last"])
    let tasks = try place.status().tasks
    #expect(Set(tasks.map(\.id)) == ["scan", "last", "a", "c"], "\(tasks)")
    place.expectNothingAlive()
  }
}
