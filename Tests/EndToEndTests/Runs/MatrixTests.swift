import Testing

/// Matrix tasks, from the manifest to the views.
struct MatrixTests {
  private static let manifest = """
    tasks:
      build:
        matrix: { arch: [a, b], mode: [d, r] }
        run: echo "$OPFLOW_TASK" >> trace; test ! -e "bad-${{ matrix.arch }}-${{ matrix.mode }}"
      test:
        matrix: { arch: [a, b], n: { range: [1, 2] } }
        needs: ["build[arch]"]
        run: echo "$OPFLOW_TASK" >> trace
      last: { needs: test, run: "echo last >> trace" }
    """

  @Test func `every matrix task runs, and a dependent waits only for its own`() throws {
    let place = try Workplace(Self.manifest)
    try place.write("bad-b-r", "")
    try place.opflow("run", "-k", status: 1)
    #expect(
      place.lines().sorted() == [
        "build[arch=a,mode=d]", "build[arch=a,mode=r]", "build[arch=b,mode=d]",
        "build[arch=b,mode=r]", "test[arch=a,n=1]", "test[arch=a,n=2]",
      ])
    let status = try place.status()
    #expect(status["test[arch=b,n=1]"]?.state == "skipped")
    #expect(status["last"]?.state == "skipped")
  }

  @Test func `selectors name a matrix or some of its tasks`() throws {
    let place = try Workplace(Self.manifest)
    try place.opflow("run", "build")
    #expect(place.lines().count == 4)
    try place.write("trace", "")
    try place.opflow("run", "test[arch=a]", "--skip", "build")
    #expect(place.lines().sorted() == ["test[arch=a,n=1]", "test[arch=a,n=2]"])
    try place.write("trace", "")
    try place.opflow("run", "--only", "build[mode=r]")
    #expect(place.lines().sorted() == ["build[arch=a,mode=r]", "build[arch=b,mode=r]"])
    try place.write("trace", "")
    try place.opflow("run", "--skip", "build[arch=b]")
    #expect(place.lines().count == 2 + 4 + 1)
    try place.write("trace", "")
    try place.opflow("resume", "--rerun", "test[n=2]")
    #expect(place.lines().sorted() == ["last", "test[arch=a,n=2]", "test[arch=b,n=2]"])
    let none = try place.opflow("run", "build[arch=c]", status: 2)
    #expect(
      none.errors.contains("no task of opflow.yaml matches `build[arch=c]`; its tasks: build"),
      "\(none)")
  }

  @Test func `logs of a matrix and of one matrix task`() throws {
    let place = try Workplace(
      "tasks: { say: { run: 'echo I am ${{ matrix.n }}', matrix: { n: [1, 2, 'x y'] } } }")
    try place.opflow("run")
    let all = try place.opflow("logs", "say").output
    #expect(["I am 1", "I am 2", "I am x y"].allSatisfy { all.contains($0) }, "\(all)")
    #expect(try place.opflow("logs", "say[n=2]").output == "I am 2\n")
    #expect(try place.opflow("logs", "say[n=x%20y]").output == "I am x y\n")
  }

  @Test func `a resume runs a matrix task of a new table row, and dependents of the matrix again`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        one: { run: 'echo ${{ matrix.s }} >> trace', matrix: { rows: s.tsv } }
        all: { needs: one, run: 'echo all >> trace; test -e ok' }
      """)
    try place.write("s.tsv", "s\tv\np\t1\nq\t2\n")
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["p", "q", "all"] || place.lines() == ["q", "p", "all"])
    try place.write("trace", "")
    try place.write("ok", "")
    try place.write("s.tsv", "s\tv\np\t1\nq\t2\nr\t3\n")
    try place.opflow("resume")
    #expect(place.lines() == ["r", "all"])
    try place.write("trace", "")
    try place.opflow("run")
    #expect(place.lines().sorted() == ["all", "p", "q", "r"])
  }

  @Test func `an empty matrix is skipped, and its dependents run`() throws {
    let place = try Workplace(
      """
      tasks:
        one: { run: 'false ${{ matrix.f }}', matrix: { f: { glob: "*.zip" } } }
        all: { needs: one, run: 'echo all >> trace' }
      """)
    let run = try place.opflow("run")
    #expect(
      run.errors.contains("no file matches `*.zip`, so the task has no matrix tasks"), "\(run)")
    #expect(run.errors.contains("one skipped: empty matrix"), "\(run)")
    #expect(place.lines() == ["all"])
    let status = try place.status()
    #expect(status["one"]?.state == "skipped")
    #expect(status["one"]?.reason == "empty matrix")
    // With a file, there is a matrix task.
    try place.write("x.zip", "")
    let check = try place.opflow("check")
    #expect(check.output.contains("2 tasks"), "\(check)")
    #expect(check.errors.isEmpty, "\(check)")
  }

  @Test func `too many matrix tasks are an error before any is made`() throws {
    let place = try Workplace(
      "tasks: { t: { run: x, matrix: { a: { range: [1, 1000000000] }, b: { range: [1, 9] } } } }")
    let check = try place.opflow("check", status: 3)
    #expect(
      check.errors.contains("too many matrix tasks: 1000000000 × 9 = 9000000000"), "\(check)")
  }

  @Test func `a resume warns that a new axis renames matrix tasks`() throws {
    let text = """
      tasks:
        one: { run: 'echo ${{ matrix.a }} >> trace', matrix: { a: [1, 2] } }
        two: { run: 'test -e ok', needs: one }
      """
    let place = try Workplace(text)
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.write("opflow.yaml", text.replacing("{ a: [1, 2] }", with: "{ a: [1, 2], b: [x] }"))
    let resume = try place.opflow("resume")
    #expect(
      resume.errors.contains(
        "the names of the matrix tasks of `one` now contain a, b, no longer a; all of them run"),
      "\(resume)")
    #expect(!resume.errors.contains("no longer in the manifest"), "\(resume)")
    #expect(!resume.errors.contains("new"), "\(resume)")
    #expect(place.lines().count == 4)
  }
}
