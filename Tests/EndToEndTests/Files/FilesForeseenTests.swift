import Foundation
import Testing

/// Files in the output of `plan`, `resume -n` and `why`, before a run.
struct FilesForeseenTests {
  private static let manifest = """
    max_parallel: 1
    tasks:
      lib: { inputs: [lib.c, "*.h"], outputs: [out/lib], run: "echo lib >> trace; grep -v '#' lib.c > out/lib" }
      app: { inputs: [app.c, out/lib], outputs: [out/app], needs: lib, run: "echo app >> trace; cat app.c out/lib > out/app" }
      test: { inputs: [out/app], needs: app, run: "echo test >> trace" }
      stamp: { run: "echo stamp >> trace" }
      note: { inputs: [lib.c], needs: stamp, run: "echo note >> trace" }
    """

  private func place(_ manifest: String = manifest) throws -> Workplace {
    let place = try Workplace(manifest)
    try place.write("lib.c", "lib\n")
    try place.write("app.c", "app\n")
    try place.write("lib.h", "head\n")
    return place
  }

  /// By the tasks that a plan says would run: why.
  private func rows(_ text: String) -> [String: String] {
    var lines = text.split(separator: "\n").map(String.init).drop { !$0.contains("TASK") }
    guard let title = lines.popFirst(), let why = title.range(of: "WHY"),
      let command = title.range(of: "COMMAND")
    else { return [:] }
    let from = title.distance(from: title.startIndex, to: why.lowerBound)
    let to = title.distance(from: title.startIndex, to: command.lowerBound)
    var rows: [String: String] = [:]
    for line in lines.prefix(while: { $0.first?.isNumber ?? false || $0.hasPrefix(" ") }) {
      let name = line.split(separator: " ")[1]
      let cell = String(line.dropFirst(from).prefix(to - from))
      rows[String(name)] = String(cell.reversed().drop { $0 == " " }.reversed())
    }
    return rows
  }

  @Test func `each edit is told with what follows from it, and nothing is written`() throws {
    let place = try place()
    #expect(rows(try place.opflow("plan").output)["app"] == nil)
    #expect(!place.exists(".opflow"))
    try place.opflow("run")
    var plan = try place.opflow("plan").output
    #expect(plan.hasPrefix("opflow.yaml: 5 tasks, 2 to run, 3 up to date, cpu 1\n"), "\(plan)")
    #expect(plan.contains("\nup to date: lib, app, test\n"), "\(plan)")
    #expect(rows(plan)["note"] == "a dependency was re-run")

    let before = try place.bytes(".opflow/records")
    try place.write("lib.c", "other\n")
    try place.write("more.h", "more\n")
    plan = try place.opflow("plan").output
    #expect(
      rows(plan) == [
        "lib": "changed: lib.c, +more.h", "app": "unless the outputs of lib stay the same",
        "test": "unless the outputs of app stay the same", "stamp": "",
        "note": "changed: lib.c; a dependency was re-run",
      ], "\(plan)")
    #expect(plan.contains("5 to run (2 of them perhaps not)"), "\(plan)")
    try place.remove("out/app")
    try place.remove("lib.h")
    plan = try place.opflow("plan").output
    #expect(rows(plan)["lib"] == "changed: lib.c, -lib.h, +more.h", "\(plan)")
    try place.write("app.c", "app 2\n")
    #expect(rows(try place.opflow("plan").output)["app"] == "changed: app.c")
    #expect(try place.bytes(".opflow/records") == before)
    #expect(place.entries(".opflow").sorted() == [".gitignore", "records", "records.lock", "runs"])
  }

  @Test func `what is missing is told as what would fail, unless something leaves it`() throws {
    let place = try place()
    try place.opflow("run")
    try place.shell("rm -r out")
    var plan = try place.opflow("plan").output
    #expect(rows(plan)["app"] == "unless the outputs of lib stay the same", "\(plan)")
    try place.remove("lib.c")
    plan = try place.opflow("plan").output
    #expect(plan.contains("failed: lib (input `lib.c` is missing)\n"), "\(plan)")
    #expect(plan.contains("skipped: app (lib failed)\n"), "\(plan)")
  }

  @Test func `what a task farther ahead leaves is not taken for missing or changed`() throws {
    let place = try place(
      """
      tasks:
        gen: { inputs: [lib.c], outputs: [out/a], run: "cp lib.c out/a" }
        mid: { inputs: [out/a], outputs: [out/m], needs: gen, run: "cp out/a out/m" }
        far: { inputs: [out/a, out/m], needs: mid, run: "cat out/a out/m" }
      """)
    try place.opflow("run")
    for edit in ["rm out/a", "echo edited > out/a", "rm out/a out/m"] {
      try place.shell(edit)
      let plan = try place.opflow("plan").output
      #expect(rows(plan)["far"] == "unless the outputs of mid stay the same", "\(edit): \(plan)")
      #expect(!plan.contains("failed:"), "\(edit): \(plan)")
      #expect(try place.opflow("run").errors.contains("far is up to date"), "\(edit)")
    }
  }

  @Test func `what needs a task that may be up to date and declares nothing may be so`() throws {
    let place = try place(
      """
      tasks:
        lib: { inputs: [lib.c], outputs: [out/lib], run: "grep -v '#' lib.c > out/lib" }
        test: { inputs: [out/lib], needs: lib, run: "cat out/lib" }
        note: { inputs: [app.c], needs: test, run: "cat app.c" }
        stamp: { needs: test, run: "echo stamp" }
        last: { needs: [note, stamp], run: "test -e good" }
      """)
    try place.opflow("run", status: 1)
    try place.shell("echo '# x' >> lib.c")
    let plan = rows(try place.opflow("plan").output)
    #expect(plan["note"] == "unless the outputs of test stay the same", "\(plan)")
    #expect(plan["stamp"] == "", "\(plan)")
    let resume = rows(try place.opflow("resume", "-n").output)
    #expect(resume["note"] == "unless the outputs of test stay the same", "\(resume)")
    #expect(resume["stamp"] == "unless the outputs of test stay the same", "\(resume)")
    #expect(resume["last"] == "failed last time", "\(resume)")
    let ran = try place.opflow("resume", status: 1)
    #expect(ran.errors.contains("note is still up to date"), "\(ran)")
    #expect(ran.errors.contains("stamp is still up to date"), "\(ran)")
  }

  @Test func `what a plan is sure of is what runs`() throws {
    let place = try place()
    try place.opflow("run")
    for edit in [
      "true", "echo 1 >> lib.c", "echo '# x' >> lib.c", "rm out/app", "echo x > out/lib",
      "rm out/lib lib.h", "touch lib.c app.c", "echo 2 >> app.c; echo '# y' >> lib.c",
    ] {
      try place.shell(edit)
      let plan = try place.opflow("plan").output
      let rows = rows(plan)
      try place.shell("rm -f trace; \"$opflow\" run -q")
      let ran = Set(place.lines())
      let sure = Set(rows.filter { !$0.value.hasPrefix("unless") }.keys)
      #expect(sure.isSubset(of: ran), "\(edit): \(plan) but \(ran)")
      #expect(ran.isSubset(of: Set(rows.keys)), "\(edit): \(plan) but \(ran)")
    }
  }

  @Test func `a resume is told by files, and so is why`() throws {
    let place = try place()
    try place.opflow("run")
    try place.write("lib.c", "other\n")
    try place.opflow("run")
    let ran = try place.opflow("why", "lib", "app").output
    #expect(ran.contains("was not up to date: changed: lib.c\n"), "\(ran)")
    #expect(ran.contains("a resume would not re-run it\n"), "\(ran)")
    try place.write("lib.c", "third\n")
    let plan = try place.opflow("resume", "-n").output
    #expect(
      plan.contains(
        "opflow.yaml: 5 tasks, 4 to run (2 of them perhaps not), 1 already done, cpu 1\n"),
      "\(plan)")
    #expect(rows(plan)["lib"] == "changed: lib.c", "\(plan)")
    let why = try place.opflow("why", "lib", "app", "stamp").output
    #expect(why.contains("a resume would re-run it (changed: lib.c)\n"), "\(why)")
    #expect(
      why.contains("a resume would re-run it, unless the outputs of lib stay the same\n"), "\(why)")
    try place.remove("lib.c")
    let missing = try place.opflow("why", "lib", "app").output
    #expect(
      missing.contains("would fail on resume: input `lib.c` is missing\n"), "\(missing)")
    #expect(missing.contains("a resume would skip it because of lib\n"), "\(missing)")
  }

  @Test func `what would come back from a cache is told`() throws {
    let place = try place(
      """
      tasks:
        lib: { inputs: [lib.c], outputs: [out/lib], cache: true, run: "cp lib.c out/lib" }
      """)
    try place.opflow("run")
    try place.write("lib.c", "other\n")
    try place.opflow("run")
    try place.write("lib.c", "lib\n")
    let plan = try place.opflow("plan").output
    #expect(plan.contains("1 to run, 1 of them from the cache"), "\(plan)")
    #expect(rows(plan)["lib"] == "changed: lib.c (cached)", "\(plan)")
    #expect(rows(try place.opflow("plan", "--no-cache").output)["lib"] == "changed: lib.c")
    #expect(rows(try place.opflow("plan", "--rerun", "lib").output)["lib"] == "--rerun")
  }

  @Test func `values of what is up to date decide what reads them`() throws {
    let place = try place(
      """
      tasks:
        a: { inputs: [lib.c], run: "cp lib.c $OPFLOW_VALUES/v" }
        b: { inputs: [], needs: a, env: { V: "${{ needs.a.v }}" }, run: "echo $V" }
      """)
    try place.opflow("run")
    #expect(try place.opflow("plan").output.contains("0 to run, 2 up to date"))
    try place.write("lib.c", "other\n")
    let rows = rows(try place.opflow("plan").output)
    #expect(rows == ["a": "changed: lib.c", "b": "a dependency was re-run"])
  }

  @Test func `matrix tasks that are up to date share a row`() throws {
    let place = try place(
      """
      tasks:
        copy: { matrix: { n: [1, 2, 3] }, inputs: ["in${{ matrix.n }}"], run: "cat in${{ matrix.n }}" }
        one: { inputs: [in1], run: cat in1 }
      """)
    for number in 1...3 { try place.write("in\(number)", "x") }
    try place.opflow("run")
    #expect(try place.opflow("plan").output.contains("\nup to date: copy (3 tasks), one\n"))
    #expect(
      try place.opflow("plan", "-v").output
        .contains("\nup to date: copy[n=1], copy[n=2], copy[n=3], one\n"))
    try place.write("in2", "y")
    let plan = try place.opflow("plan").output
    #expect(plan.contains("\nup to date: copy (2 of 3 tasks), one\n"), "\(plan)")
    #expect(rows(plan) == ["copy[n=2]": "changed: in2"])
  }

  @Test func `a name with a line feed breaks no row`() throws {
    let place = try Workplace("tasks: { a: { inputs: ['in/*'], run: 'true' } }")
    try place.write("in/a\nb", "text\n")
    try place.shell("\"$opflow\" run")
    try place.write("in/a\nb", "other\n")
    #expect(rows(try place.opflow("plan").output) == ["a": "changed: in/ab"])
  }
}
