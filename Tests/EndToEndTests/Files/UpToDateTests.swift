import Glibc
import Testing

/// Tasks that are skipped since what they read and leave is as it was.
struct UpToDateTests {
  /// Copies of two sources under a header, and both in one.
  private static let manifest = """
    max_parallel: 2
    tasks:
      a: { inputs: [src/a, "inc/*"], outputs: [out/a], run: "echo a >> trace; grep -hv '#' src/a inc/* > out/a" }
      b: { inputs: [src/b, "inc/*"], outputs: [out/b], run: "echo b >> trace; grep -hv '#' src/b inc/* > out/b" }
      all: { needs: [a, b], inputs: ["out/*"], outputs: [all.txt], run: "echo all >> trace; cat out/* > all.txt" }
    """

  private func place() throws -> Workplace {
    let place = try Workplace(Self.manifest)
    try place.write("src/a", "text a\n")
    try place.write("src/b", "text b\n")
    try place.write("inc/h", "head\n")
    return place
  }

  /// What starts in another run, sorted.
  private func starts(
    _ place: Workplace, _ arguments: String = "run", status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    try place.shell(
      "rm -f trace; \"$opflow\" \(arguments)", status: status, sourceLocation: sourceLocation)
    return place.lines().sorted()
  }

  @Test func `nothing starts the second time, and each task says why`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    let run = try place.opflow("run", "--output", "line")
    #expect(place.lines().count == 3)
    for task in ["a", "b", "all"] {
      #expect(run.errors.contains("\(task) is up to date"), "\(run)")
    }
    #expect(run.errors.contains("3 up to date"), "\(run)")
    #expect(try place.opflow("status").output.contains("3 up to date"))
  }

  @Test func `an edit runs what reads it, and equal outputs stop the wave`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    try place.write("src/a", "text a\n# a comment\n")
    #expect(try starts(place) == ["a"])
    try place.write("src/a", "other text\n")
    #expect(try starts(place) == ["a", "all"])
    #expect(try place.text("all.txt") == "other text\nhead\ntext b\nhead\n")
  }

  @Test func `contents count, and not the times of files`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    try place.shell("touch src/* inc/* out/* all.txt; touch -d '2001-01-01' src/a")
    #expect(try starts(place) == [])
    // Of the same size, and with the time that it had.
    try place.shell("touch -r src/a stamp; printf 'TEXT a\\n' > src/a; touch -r stamp src/a")
    #expect(try starts(place) == ["a", "all"])
  }

  @Test func `a file more or less under a pattern counts, and is told`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    try place.write("inc/i", "more\n")
    let run = try place.opflow("run", "--output", "line")
    #expect(run.errors.contains("a started: changed: +inc/i"), "\(run)")
    #expect(try place.text("all.txt") == "text a\nhead\nmore\ntext b\nhead\nmore\n")
    try place.remove("inc/i")
    let back = try place.opflow("run", "--output", "line")
    #expect(back.errors.contains("b started: changed: -inc/i"), "\(back)")
    #expect(try place.text("all.txt") == "text a\nhead\ntext b\nhead\n")
  }

  @Test func `an output that is gone, changed or another kind of file is made again`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    try place.remove("out/a")
    #expect(try starts(place) == ["a"])
    try place.write("all.txt", "garbage\n")
    #expect(try starts(place) == ["all"])
    try place.shell("mv out/b elsewhere; ln -s ../elsewhere out/b")
    // What reads it has a link on the way now.
    #expect(try starts(place) == ["all", "b"])
    #expect(try place.text("all.txt") == "text a\nhead\ntext b\nhead\n")
  }

  @Test func `a changed command runs, and one that is changed back as well`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    let other = Self.manifest.replacing("cat out/* >", with: "cat out/* out/a >")
    try place.write("opflow.yaml", other)
    #expect(try starts(place) == ["all"])
    try place.write("opflow.yaml", Self.manifest)
    #expect(try starts(place) == ["all"])
    #expect(try starts(place) == [])
  }

  @Test func `variables and what commands print are inputs`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          inputs: [{ env: FLAGS }, { run: [cat, version] }]
          run: echo ran >> trace
      """)
    try place.write("version", "1\n")
    #expect(try starts(place) == ["ran"])
    #expect(try starts(place) == [])
    try place.write("version", "2\n")
    #expect(try starts(place) == ["ran"])
    try place.shell("rm trace; FLAGS=-O2 \"$opflow\" run")
    #expect(place.lines() == ["ran"])
    #expect(try starts(place) == ["ran"])
  }

  @Test func `a resume sees what was edited after the failure`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { inputs: [src], outputs: [out], run: "echo a >> trace; cp src out" }
        b: { needs: a, inputs: [out], run: "echo b >> trace; grep right out" }
      """)
    try place.write("src", "wrong\n")
    #expect(try starts(place, status: 1) == ["a", "b"])
    #expect(try starts(place, "resume", status: 1) == ["b"])
    try place.write("src", "right\n")
    #expect(try starts(place, "resume") == ["a", "b"])
    #expect(try starts(place, "resume") == [])
  }

  @Test func `a task that fails is not up to date, and neither is one that was killed`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { inputs: [src], outputs: [out], run: "echo a >> trace; cp src out; $(cat how)" }
      """)
    try place.write("src", "text\n")
    try place.write("how", "true\n")
    #expect(try starts(place) == ["a"])
    try place.write("src", "more\n")
    try place.write("how", "false\n")
    #expect(try starts(place, status: 1) == ["a"])
    // As it was at its success, but for what the failure may have left.
    try place.write("src", "text\n")
    try place.write("how", "true\n")
    #expect(try starts(place) == ["a"])
    #expect(try starts(place) == [])
  }

  @Test func `an input that is missing fails the task before it starts`() throws {
    let place = try Workplace(
      "tasks: { a: { inputs: [gone], run: echo ran >> trace }, b: { needs: a, run: 'true' } }")
    let run = try place.opflow("run", "--output", "line", status: 1)
    #expect(run.errors.contains("gone"), "\(run)")
    #expect(place.lines() == [])
    let status = try place.status()
    #expect(status["a"]?.reason == "input")
    #expect(status["b"]?.state == "skipped")
  }

  @Test func `an output that is not made fails the task after its success`() throws {
    let place = try Workplace(
      "tasks: { a: { outputs: [made, 'not/*'], run: touch made } }")
    let run = try place.opflow("run", "--output", "line", status: 1)
    #expect(run.errors.contains("not/*"), "\(run)")
    #expect(try place.status()["a"]?.reason == "no-output")
  }

  @Test func `an input that changes while the task runs is a success that is not kept`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { inputs: [src], outputs: [out], run: "echo a >> trace; cp src out; echo more >> src" }
      """)
    try place.write("src", "text\n")
    let run = try place.opflow("run", "--output", "line")
    #expect(
      run.errors.contains("changed: src while it ran; the next run re-runs it"), "\(run)")
    #expect(try starts(place) == ["a"])
  }

  @Test func `a task is taken as changed when it is asked for`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    #expect(try starts(place, "resume --rerun a") == ["a"])
  }

  @Test func `a pattern that nothing fits is warned of, and is an input all the same`() throws {
    let place = try Workplace(
      "tasks: { a: { inputs: ['gone/*.c'], run: echo a >> trace } }")
    let run = try place.opflow("run", "--output", "line")
    #expect(run.errors.contains("no file matches its input `gone/*.c`"), "\(run)")
    #expect(try starts(place) == [])
    try place.shell("mkdir gone; touch gone/x.c")
    #expect(try starts(place) == ["a"])
  }

  @Test func `what a name looks like does not matter`() throws {
    let place = try Workplace(
      """
      vars: { o: "o[1]" }
      tasks:
        page: { run: "echo page >> trace; cp app/*/page.tsx out", inputs: ["app/[slug]/page.tsx"], outputs: out }
        pack:
          matrix: { f: { glob: "data/*.txt" } }
          run: [sh, -c, 'echo pack >> trace; cp "$1" "$2"', sh, "${{ matrix.f }}", "${{ vars.o }}/${{ matrix.f }}"]
          inputs: ["${{ matrix.f }}"]
          outputs: ["${{ vars.o }}/${{ matrix.f }}"]
      """)
    try place.write("app/[slug]/page.tsx", "one\n")
    try place.write("data/a[1]*?.txt", "one\n")
    #expect(try starts(place) == ["pack", "page"])
    #expect(try starts(place) == [])
    try place.write("app/[slug]/page.tsx", "two\n")
    try place.write("data/a[1]*?.txt", "two\n")
    #expect(try starts(place) == ["pack", "page"])
    #expect(try place.text("out") == "two\n")
    #expect(try place.text("o[1]/data/a[1]*?.txt") == "two\n")
  }

  @Test func `a name that is not UTF-8 counts by its bytes, and is told with an escape`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; cat src/* > all", inputs: ["src/*"], outputs: all }
        b: { run: "echo b >> trace; mkdir -p out; cp src/* out", inputs: [src], outputs: ["out/*.[ct]*", out] }
        c: { run: "echo c >> trace", inputs: ["src/*.c"] }
      """)
    try place.write("src/x.c", "x\n")
    try place.shell(#"echo 1 > src/$'caf\xe9.txt'"#)
    #expect(try starts(place) == ["a", "b", "c"])
    #expect(try starts(place) == [])
    try place.shell(#"echo 2 > src/$'caf\xe9.txt'"#)
    let run = try place.opflow("run", "--output", "line")
    #expect(place.lines().count == 2)
    #expect(run.errors.contains(#"a started: changed: src/caf\xe9.txt"#), "\(run)")
    #expect(try place.text("all") == "2\nx\n")
    try place.shell(#"rm out/$'caf\xe9.txt'"#)
    let again = try place.opflow("run", "--output", "line")
    #expect(again.errors.contains(#"b started: output out/caf\xe9.txt is missing"#), "\(again)")
  }

  @Test func `a missing file says that its name is no pattern`() throws {
    let place = try Workplace(
      """
      vars: { src: "src/*.c" }
      tasks: { a: { run: "true", inputs: ["${{ vars.src }}"] } }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(
      run.errors.contains(
        "input `src/*.c` is missing; it comes from `${{ vars.src }}`, so opflow takes it as a name,"
          + " not as a pattern"), "\(run)")
  }

  @Test func `what is asked for runs though it is up to date`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    #expect(try starts(place, "run --rerun a") == ["a"])
    #expect(try starts(place, "run --rerun '*'") == ["a", "all", "b"])
    #expect(try starts(place) == [])
  }

  @Test func `a last record that was cut off repeats no work, in no later run either`() throws {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    try place.shell("printf '5dea4532\\t1\\t17959' >> .opflow/records")
    try place.write("src/a", "other text\n")
    #expect(try starts(place) == ["a", "all"])
    #expect(try starts(place) == [])
  }

  @Test(arguments: [false, true])
  func `a command among the inputs that fails is a reason to run, and what it prints then counts`(
    _ isCached: Bool
  ) throws {
    let place = try Workplace(
      """
      tasks:
        image:
          inputs: [{ run: [sh, -c, "cat made || { echo not made yet >&2; exit 3; }"] }]
          cache: \(isCached)
          run: "echo image >> trace; $(cat how)"
      """)
    let told = "failed: exit 3: not made yet"
    try place.write("how", "true\n")
    for _ in 0..<2 {
      let run = try place.opflow("run", "--output", "line")
      #expect(run.errors.contains("\(told); the next run re-runs it"), "\(run)")
    }
    #expect(place.lines() == ["image", "image"])
    #expect(try place.opflow("plan").output.contains(told))
    try place.write("how", "touch made\n")
    #expect(try starts(place) == ["image"])
    #expect(try starts(place) == [])
    try place.remove("made")
    #expect(try starts(place) == ["image"])
    #expect(try starts(place) == [])
    try place.write("made", "other\n")
    #expect(try place.opflow("plan").output.contains("changed: `sh -c"))
  }

  @Test func `a command among the inputs that cannot be started fails the task, and is named`()
    throws
  {
    let place = try Workplace(
      "tasks: { a: { inputs: [{ run: [./gone, -v] }], run: echo a >> trace } }")
    let run = try place.opflow("run", "--output", "line", status: 1)
    #expect(run.errors.contains("cannot run the input command `./gone -v`"), "\(run)")
    #expect(place.lines() == [])
  }

  @Test func `an allowed failure is kept by a resume, until an input changes`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        lint:
          inputs: [src]
          outputs: [report]
          allow_failure: true
          run: "echo lint >> trace; cp src report; exit 3"
        test: { needs: [lint], run: test -e ok }
      """)
    try place.write("src", "one\n")
    #expect(try starts(place, status: 1) == ["lint"])
    let told = try place.opflow("resume", "-n").output
    #expect(told.contains("2 tasks, 1 to run, 1 already done"), "\(told)")
    #expect(try starts(place, "resume", status: 1) == [])
    #expect(try place.status()["lint"]?.state == "failed")
    for change in ["echo two > src", "rm report", "echo else > report"] {
      try place.shell(change)
      #expect(try starts(place, "resume", status: 1) == ["lint"])
      #expect(try starts(place, "resume", status: 1) == [])
    }
    // Another run has no result of it, and says why it runs.
    let plan = try place.opflow("plan").output
    #expect(plan.contains("failed last time"), "\(plan)")
    #expect(try starts(place, status: 1) == ["lint"])
    // A failure is not a result for a cache or another run; a later success is.
    try place.write("opflow.yaml", "tasks: { lint: { inputs: [src], run: echo lint >> trace } }")
    #expect(try starts(place) == ["lint"])
    #expect(try starts(place) == [])
  }

  @Test func `bytes without end among the records are gone over, and nothing is believed for them`()
    throws
  {
    let place = try place()
    #expect(try starts(place) == ["a", "all", "b"])
    try place.shell("head -c 9500000 /dev/zero | tr '\\0' x >> .opflow/records")
    #expect(try starts(place) == ["a", "all", "b"])
    #expect(try starts(place) == [])
    try place.opflow("clean")
    #expect(try place.bytes(".opflow/records").count < 100_000)
    #expect(try starts(place) == [])
  }
}
