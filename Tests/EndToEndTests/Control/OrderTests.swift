import Testing

/// In which order tasks run, as far as `needs` decide it.
struct OrderTests {
  @Test func `a diamond runs top, both sides, bottom`() throws {
    let place = try Workplace(
      """
      tasks:
        bottom: { needs: [left, right], run: echo bottom >> trace }
        left: { needs: [top], run: echo left >> trace }
        right: { needs: [top], run: echo right >> trace }
        top: { run: echo top >> trace }
      """)
    try place.opflow("run")
    let trace = place.lines()
    #expect(trace.count == 4)
    #expect(trace.first == "top")
    #expect(Set(trace[1...2]) == ["left", "right"])
    #expect(trace.last == "bottom")
  }

  @Test func `a task waits for all of its needs`() throws {
    let place = try Workplace(
      """
      max_parallel: 4
      tasks:
        a: { run: "read x < go; echo a >> trace" }
        b: { run: echo b > done }
        both: { needs: [a, b], run: echo both >> trace }
      """)
    let go = try place.gate("go")
    let done = try place.gate("done")
    let live = try place.start("run")
    #expect(try done.next() == "b")
    #expect(place.lines().isEmpty)
    try go.letGo()
    #expect(try live.finish().status == 0)
    #expect(place.lines() == ["a", "both"])
  }

  @Test func `needs may be one id`() throws {
    let place = try Workplace(
      """
      tasks:
        second: { needs: first, run: echo second >> trace }
        first: { run: echo first >> trace }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["first", "second"])
  }

  @Test func `tasks that need nothing of each other run at the same time`() throws {
    let place = try Workplace(
      """
      max_parallel: 3
      tasks:
        a: { run: "echo a > here; read x < go" }
        b: { run: "echo b > here; read x < go" }
        c: { run: "echo c > here; read x < go" }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let live = try place.start("run")
    #expect(Set(try here.next(3)) == ["a", "b", "c"])
    try go.letGo(3)
    #expect(try live.finish().status == 0)
  }

  @Test func `a second run starts with what took longest in the first`() throws {
    let place = try Workplace(
      """
      tasks:
        short: { run: echo short >> trace }
        long:
          run: |
            i=0
            while [ $i -lt 100000 ]; do i=$((i + 1)); done
            echo long >> trace
      """)
    try place.opflow("run", "-j", "1")
    #expect(place.lines() == ["short", "long"])
    try place.opflow("run", "-j", "1")
    #expect(place.lines() == ["short", "long", "long", "short"])
    let plan = try place.opflow("plan", "-j", "1,2")
    #expect(plan.outputLines[2].hasPrefix("1  long"))
    #expect(plan.outputLines.contains { $0.hasPrefix("critical path, ") })
    #expect(plan.outputLines.last?.hasPrefix("  2  ") == true, "\(plan.output)")
    // Of another manifest that is kept here nothing is taken over.
    try place.write("other.yaml", "tasks: { short: { run: 'true' }, long: { run: 'true' } }")
    let other = try place.opflow("plan", "other.yaml")
    #expect(other.outputLines.last == "no durations from earlier runs, so every task counts as 1")
  }

  @Test func `equal tasks start in the order of the file`() throws {
    let tasks = ["e", "d", "c", "b", "a"].map { "  \($0): { run: echo \($0) >> trace }" }
    let place = try Workplace("tasks:\n" + tasks.joined(separator: "\n"))
    try place.opflow("run", "-j", "1")
    #expect(place.lines() == ["e", "d", "c", "b", "a"])
  }

  @Test func `a chain of a hundred tasks runs link by link`() throws {
    var manifest = "tasks:\n  t0: { run: echo 0 >> trace }\n"
    for index in 1..<100 {
      manifest += "  t\(index): { needs: [t\(index - 1)], run: echo \(index) >> trace }\n"
    }
    let place = try Workplace(manifest)
    try place.opflow("run", "-j", "8")
    let numbers: [String] = (0..<100).map { "\($0)" }
    #expect(place.lines() == numbers)
  }

  @Test func `a need that stands twice counts once`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: [a, { task: a, on: finished }], run: echo b >> trace }
      """)
    let run = try place.opflow("run", status: nil)
    // Two edges to one task both apply, or are an error of the manifest, but never a hang.
    #expect(run.status == 0 || run.status == 3, "\(run)")
  }
}
