import Foundation
import Testing

/// Matrices that read what tasks of the run write: `after`.
struct LaterMatrixTests {
  private static let manifest = """
    tasks:
      scan:
        run: "ls data | sed 's/[.]txt$//' > parts; echo scan >> trace"
        inputs: ["data/*"]
        outputs: [parts]
      count:
        matrix: { part: { lines: parts, after: scan } }
        run: "wc -l < data/${{ matrix.part }}.txt > ${{ matrix.part }}.n; echo count ${{ matrix.part }} >> trace"
        inputs: ["data/${{ matrix.part }}.txt"]
        outputs: ["${{ matrix.part }}.n"]
      double:
        needs: ["count[part]"]
        matrix: { part: { lines: parts, after: scan } }
        run: "cat ${{ matrix.part }}.n ${{ matrix.part }}.n > ${{ matrix.part }}.d; echo double ${{ matrix.part }} >> trace"
        inputs: ["${{ matrix.part }}.n"]
        outputs: ["${{ matrix.part }}.d"]
      sum:
        needs: [double]
        run: "cat *.d > all; echo sum >> trace"
        inputs: ["*.d"]
        outputs: [all]
    """

  private func place(_ manifest: String = Self.manifest, parts: [String] = ["a", "b"]) throws
    -> Workplace
  {
    let place = try Workplace(manifest)
    for part in parts { try place.write("data/\(part).txt", "\(part)\n") }
    return place
  }

  @Test func `each part has a task of its own, and the second time all is up to date`() throws {
    let place = try place()
    try place.opflow("run", "-j", "1")
    #expect(place.lines().first == "scan" && place.lines().last == "sum")
    #expect(
      place.lines().sorted() == ["count a", "count b", "double a", "double b", "scan", "sum"])
    try place.write("trace", "")
    try place.opflow("run")
    #expect(place.lines() == [])
    #expect(try place.status()["count[part=b]"]?.state == "up_to_date")
    // New tasks and their dependents run.
    try place.write("data/c.txt", "1\n2\n")
    try place.opflow("run", "-j", "1")
    #expect(place.lines() == ["scan", "count c", "double c", "sum"])
    // The tasks of a removed file are gone.
    try place.remove("data/a.txt")
    try place.remove("a.d")
    try place.write("trace", "")
    try place.opflow("run", "-j", "1")
    #expect(place.lines() == ["scan", "sum"])
    #expect(try place.status()["count[part=a]"] == nil)
  }

  private static let failing = """
    max_failures: 0
    tasks:
      scan: { run: "printf 'id\\tn\\nx\\t1\\ny\\t2\\n' > rows.tsv; echo scan >> trace" }
      work:
        matrix: { rows: { file: rows.tsv, after: scan } }
        run: "echo work ${{ matrix.id }}${{ matrix.n }} >> trace; echo v${{ matrix.n }} > $OPFLOW_VALUES/v; test ! -e fail-${{ matrix.id }}"
      sum: { needs: [work], env: { V: "${{ needs.work.v }}" }, run: "echo sum $V >> trace" }
      handler: { needs: [{ task: work, on: failure }], run: "echo handler >> trace" }
      last: { needs: [{ task: work, on: finished }], run: "echo last >> trace" }
    """

  @Test func `a leg that fails is tried again by a resume, and it alone`() throws {
    let place = try Workplace(Self.failing)
    try place.write("fail-y", "")
    let run = try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines() == ["scan", "work x1", "work y2", "last"], "\(run)")
    #expect(try place.status()["sum"]?.state == "skipped")
    try place.remove("fail-y")
    try place.write("trace", "")
    let resume = try place.opflow("resume", "-j", "1")
    #expect(place.lines().sorted() == ["last", "sum v1 v2", "work y2"], "\(resume)")
    #expect(try place.status()["work[id=y]"]?.attempts == 2)
    // It needs a failure of each matrix task.
    #expect(try place.status()["handler"]?.state == "skipped")
  }

  @Test func `the rows are those that were read, whatever became of the file`() throws {
    let place = try Workplace(Self.failing)
    try place.write("fail-y", "")
    try place.opflow("run", "-j", "1", status: 1)
    try place.remove("fail-y")
    try place.write("rows.tsv", "id\tn\nz\t9\n")
    try place.write("trace", "")
    try place.opflow("resume", "-j", "1")
    #expect(place.lines().sorted() == ["last", "sum v1 v2", "work y2"])
  }

  @Test(arguments: [
    ("--rerun", "scan", ["scan", "work x1", "work y2", "sum v1 v2", "last"]),
    ("--rerun", "work", ["work x1", "work y2", "sum v1 v2", "last"]),
    ("--rerun", "work[id=x]", ["work x1", "sum v1 v2", "last"]),
    ("--rerun", "sum", ["sum v1 v2"]),
  ])
  func `what is asked for runs again, with what comes of it`(
    _ flag: String, _ task: String, _ lines: [String]
  ) throws {
    let place = try Workplace(Self.failing)
    try place.opflow("run", "-j", "1")
    for _ in 0..<2 {
      try place.write("trace", "")
      let resume = try place.opflow("resume", "-j", "1", flag, task)
      // A dependent of the last matrix task is ready at once.
      #expect(place.lines().sorted() == lines.sorted(), "\(resume)")
      #expect(!resume.errors.contains("no longer in the manifest"))
    }
    #expect(try place.opflow("journal", "verify").output.contains("intact"))
  }

  @Test func `an edit of what legs run has them run again, and one of all else does not`() throws {
    let place = try Workplace(Self.failing)
    try place.opflow("run", "-j", "1")
    try place.write("trace", "")
    try place.write(
      "opflow.yaml",
      Self.failing.replacing("    run: \"echo work", with: "    timeout: 1h\n    run: \"echo work"))
    try place.opflow("resume", "-j", "1")
    #expect(place.lines() == [])
    try place.write("opflow.yaml", Self.failing.replacing("echo work", with: "echo Work"))
    let resume = try place.opflow("resume", "-j", "1")
    #expect(place.lines().sorted() == ["Work x1", "Work y2", "last", "sum v1 v2"], "\(resume)")
    try place.write("trace", "")
    try place.write(
      "opflow.yaml",
      Self.failing.replacing("echo work", with: "echo Work").replacing(
        "echo last", with: "echo Last"))
    try place.opflow("resume", "-j", "1")
    #expect(place.lines() == ["Last"])
  }

  @Test func `rows that are others by then are made anew where the files decide`() throws {
    let place = try place(
      Self.manifest.replacing("echo count", with: "test -e ok; echo count"), parts: ["a", "b"])
    try place.opflow("run", "-j", "1", status: 1)
    try place.write("ok", "")
    try place.write("data/c.txt", "")
    try place.remove("data/b.txt")
    try place.write("trace", "")
    let resume = try place.opflow("resume", "-j", "1")
    #expect(
      place.lines().sorted() == ["count a", "count c", "double a", "double c", "scan", "sum"],
      "\(resume)")
    #expect(try place.status()["count[part=b]"] == nil)
  }

  @Test func `a leg that must not run twice fails where it was cut short, until it is asked for`()
    throws
  {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        scan: { run: "echo a > parts; echo scan >> trace" }
        work:
          matrix: { p: { lines: parts, after: scan } }
          on_interrupted: fail
          run: "echo work >> trace; test -e ok && exit; echo in > in; read w < out"
      """)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    _ = try `in`.next()
    run.send(SIGKILL)
    _ = try run.finish()
    try out.letGo()
    try place.write("ok", "")
    try place.opflow("resume", "--rerun", "scan", status: 1)
    #expect(place.lines() == ["scan", "work", "scan"])
    #expect(try place.status()["work[p=a]"]?.state == "failed")
    try place.opflow("resume", "--rerun", "work")
    #expect(place.lines() == ["scan", "work", "scan", "work"])
  }

  @Test func `a matrix that comes out empty skips nothing`() throws {
    let place = try Workplace(Self.failing.replacing("x\\t1\\ny\\t2\\n", with: ""))
    let run = try place.opflow("run", "-j", "1", "--output", "line")
    #expect(run.errors.contains("work skipped: its matrix is empty"), "\(run)")
    let junit = try place.opflow("report", "junit")
    #expect(junit.output.contains("skipped: empty matrix"), "\(junit)")
    #expect(run.errors.contains("3 succeeded, 2 skipped"), "\(run)")
    #expect(place.lines().sorted() == ["last", "scan", "sum"])
    let work = try place.status()["work"]
    #expect(work?.state == "skipped" && work?.reason == "empty matrix")
    #expect(try place.opflow("status").output.contains("3 succeeded, 2 skipped"))
    #expect(try place.opflow("logs", "work").output.contains("the matrix is empty"))
    for told in [try place.opflow("status"), try place.opflow("why", "work")] {
      #expect(told.output.contains("its matrix is empty"), "\(told)")
    }
    try place.write("trace", "")
    try place.opflow("resume", "--rerun", "last")
    #expect(place.lines() == ["last"])
    let told = try place.opflow("run", "--json").output.split(separator: "\n")
    #expect(
      told.contains {
        $0.contains(#""event":"skip","#) && $0.contains(#""task":"work""#)
          && $0.contains(#""reason":"empty matrix""#)
      }, "\(told)")
  }

  private static let emptied = """
    max_failures: 0
    tasks:
      scan: { run: "ls d > l; echo scan >> trace", inputs: [d], outputs: [l] }
      l:
        matrix: { x: { lines: l, after: scan } }
        run: "echo ${{ matrix.x }} >> trace"
        inputs: ["d/${{ matrix.x }}"]
      e: { needs: [l], run: "echo e >> trace", inputs: [] }
      f: { run: "test -e ok; echo f >> trace", inputs: [{ env: F }] }
    """

  @Test func `a matrix that comes out empty has no task of an earlier session`() throws {
    let place = try Workplace(Self.emptied)
    try place.write("d/a", "")
    try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines().sorted() == ["a", "e", "scan"])
    try place.remove("d/a")
    try place.opflow("resume", "-j", "1", status: 1)
    for command in [["why", "e"], ["plan", "--resume"], ["resume", "-n"]] {
      let told = try place.opflow(command[0], command.count > 1 ? command[1] : "--no-color")
      #expect(!told.output.contains("no earlier success is recorded"), "\(told)")
      #expect(!told.output.contains("l[x=a]") && !told.errors.contains("l[x=a]"), "\(told)")
    }
    try place.write("ok", "")
    try place.write("trace", "")
    let resume = try place.opflow("resume", "-j", "1")
    #expect(place.lines() == ["f"], "\(resume)")
    #expect(try place.status()["l[x=a]"] == nil)
    #expect(try place.status()["l"]?.reason == "empty matrix")
    // Later values make tasks as they would have in the first session.
    try place.write("d/b", "")
    try place.opflow("resume", "-j", "1", "--rerun", "scan")
    #expect(place.lines().sorted() == ["b", "e", "f", "scan"])
    #expect(try place.opflow("journal", "verify").output.contains("intact"))
  }

  @Test func `a resume that ends before the matrix is found has no task of an earlier session`()
    throws
  {
    let place = try Workplace(
      Self.emptied.replacing("ls d > l", with: "test ! -e stop || exit 1; ls d > l"))
    try place.write("d/a", "")
    try place.write("ok", "")
    try place.opflow("run", "-j", "1")
    try place.remove("d/a")
    try place.write("stop", "")
    try place.opflow("resume", "-j", "1", status: 1)
    #expect(try place.status()["l[x=a]"] == nil)
    try place.remove("stop")
    try place.write("trace", "")
    try place.opflow("resume", "-j", "1")
    #expect(place.lines() == ["scan", "e"])
  }

  @Test func `a task of a matrix that no run has found yet is told to be named by its matrix`()
    throws
  {
    let place = try place()
    let hint = "the run has yet to generate the tasks of `count`; name `count`"
    for words in [["count[part=a]"], ["--rerun", "count[part=a]"], ["--skip", "count[part=a]"]] {
      let run = try place.opflow("run", words[0], words.count > 1 ? words[1] : "scan", status: 2)
      #expect(run.errors.contains("matches `count[part=a]`; \(hint)"), "\(run)")
    }
    try place.opflow("run")
    try place.write("trace", "")
    try place.opflow("resume", "--rerun", "count[part=a]")
    #expect(place.lines().first == "count a")
  }

  @Test func `a file that is not there fails the family, and says where it is named`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        scan: { run: "true" }
        work: { matrix: { p: { lines: gone.txt, after: scan } }, run: "true" }
        next: { needs: [work], run: "true" }
        handler: { needs: [{ task: work, on: failure }], run: "echo handler >> trace" }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("opflow.yaml:4:33: error: cannot read `gone.txt`: "), "\(run)")
    #expect(try place.status()["next"]?.state == "skipped")
    #expect(place.lines() == ["handler"])
  }

  @Test func `a producer that fails or is skipped leaves no legs`() throws {
    for (scan, status) in [("run: exit 1", Int32(1)), ("run: 'true', if: false", 0)] {
      let place = try Workplace(
        """
        max_failures: 0
        tasks:
          scan: { \(scan) }
          work: { matrix: { p: { lines: gone.txt, after: scan } }, run: "true" }
        """)
      _ = try place.opflow("run", status: status)
      #expect(try place.status()["work"]?.state == "skipped")
    }
  }

  @Test func `what is added may have such a family, and so may what a task adds`() throws {
    let place = try Workplace(
      """
      tasks:
        adder: { control: true, run: "$opflow add more.yaml" }
      """)
    try place.write(
      "more.yaml",
      """
      tasks:
        list: { run: "printf '1\\n2\\n' > n; echo list >> trace" }
        f: { matrix: { n: { lines: n, after: list } }, run: "echo f ${{ matrix.n }} >> trace; test -e ok" }
        end: { needs: [f], run: "echo end >> trace" }
      """)
    let run = try place.opflow("run", "-k", "-j", "1", status: 1)
    #expect(place.lines() == ["list", "f 1", "f 2"], "\(run)")
    try place.remove("more.yaml")
    try place.write("ok", "")
    try place.write("trace", "")
    let resume = try place.opflow("resume", "-j", "1")
    #expect(place.lines().last == "end" && place.lines().count == 3, "\(resume)")
    try place.write("trace", "")
    try place.opflow("resume", "-j", "1", "--rerun", "list")
    #expect(place.lines() == ["list", "f 1", "f 2", "end"])
  }

  @Test func `the legs are made of the manifest as the run has it`() throws {
    let place = try Workplace(
      """
      tasks:
        scan: { run: "echo in > in; read w < out; echo a > parts" }
        work: { matrix: { p: { lines: parts, after: scan } }, run: "echo one ${{ matrix.p }} >> trace" }
      """)
    let (`in`, out) = (try place.gate("in"), try place.gate("out"))
    let run = try place.start("run")
    _ = try `in`.next()
    try place.write("opflow.yaml", "tasks: { other: { run: 'true' } }")
    try out.letGo()
    #expect(try run.finish().status == 0)
    #expect(place.lines() == ["one a"])
  }

  @Test func `legs get what the command line set, and their secrets`() throws {
    let place = try Workplace(
      """
      vars: { word: "?" }
      secrets: { KEY: { env: MY_KEY } }
      resources: { slot: 1 }
      tasks:
        scan: { run: "echo a > parts" }
        work:
          matrix: { p: { lines: parts, after: scan } }
          secrets: [KEY]
          resources: { slot: 1 }
          run: "echo ${{ vars.word }} ${#KEY} >> trace"
      """)
    try place.opflow("run", "--set", "word=hello", environment: ["MY_KEY": "12345"])
    #expect(place.lines() == ["hello 5"])
  }

  @Test func `the legs stand for the family in views`() throws {
    let place = try place()
    try place.opflow("run")
    let rows = try place.opflow("status").output.split(separator: "\n")
    #expect(rows.count { $0.hasPrefix("count") } == 1, "\(rows)")
    #expect(rows.contains { $0.hasPrefix("count 2/2") })
    let why = try place.opflow("why", "count").output
    #expect(why.hasPrefix("count: 2 of 2 matrix tasks succeeded"), "\(why)")
    #expect(try place.opflow("logs", "count").output.contains("2 matrix tasks"))
  }

  @Test func `the run's folder may be anywhere, and what is behind -- is for no family`() throws {
    let place = try Workplace(
      """
      tasks:
        scan: { run: "echo a > parts" }
        work: { matrix: { p: { lines: parts, after: scan } }, run: "echo ${{ matrix.p }} >> trace" }
      """)
    try place.opflow("run", "--state-dir", "else/where", "work")
    #expect(place.lines() == ["a"])
    let refused = try place.opflow("run", "work", "--", "x", status: 2)
    #expect(
      refused.errors.contains("it is a matrix whose tasks are generated during the run"),
      "\(refused)")
  }

  @Test func `while it watches, a part more is a task more`() throws {
    let place = try place(parts: ["a"])
    let run = try place.watch()
    try place.write("data/b.txt", "b\n")
    try run.waitForRounds(2)
    #expect(place.lines().suffix(4) == ["scan", "count b", "double b", "sum"])
    _ = try run.leave()
  }

  @Test func `while it watches, a matrix that came out empty stays so`() throws {
    let place = try Workplace(Self.emptied.replacing("{ env: F }", with: "ok"))
    try place.write("d/a", "")
    try place.write("ok", "")
    let run = try place.watch()
    try place.remove("d/a")
    try run.waitForRounds(2)
    try place.write("ok", "1")
    try run.waitForRounds(3)
    #expect(place.lines().last == "f" && place.lines().count { $0 == "a" } == 1)
    #expect(!place.lines().suffix(2).contains("a"))
    _ = try run.leave()
  }
}
