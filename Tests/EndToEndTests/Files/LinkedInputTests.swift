import Glibc
import Testing

/// Links among what tasks read and leave: what they lead to counts.
struct LinkedInputTests {
  /// Returns the tasks that another run starts, sorted, and its output.
  private func run(
    _ place: Workplace, _ arguments: String = "run", status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> (starts: [String], told: String) {
    try place.shell(
      "rm -f trace; \"$opflow\" \(arguments) --output line > told 2>&1", status: status,
      sourceLocation: sourceLocation)
    return (place.lines().sorted(), try place.text("told"))
  }

  @Test func `what a named or fitting link leads to counts, and the reason names the link`() throws
  {
    let place = try Workplace(
      """
      tasks:
        named: { run: echo named >> trace, inputs: [data/s1.fq] }
        glob: { run: echo glob >> trace, inputs: ["data/*.fq"] }
        middle: { run: echo middle >> trace, inputs: [way/../other/x] }
      """)
    try place.shell(
      """
      mkdir -p archive/in archive/other data; echo 1 > archive/s1.fq; cp archive/s1.fq archive/s2.fq
      ln -s ../archive/s1.fq data/s1.fq; ln -s archive/in way; echo 1 > archive/other/x
      """)
    #expect(try run(place).starts == ["glob", "middle", "named"])
    #expect(try run(place).starts == [])
    try place.write("archive/s1.fq", "2\n")
    let edited = try run(place)
    #expect(edited.starts == ["glob", "named"])
    #expect(edited.told.contains("named started: changed: data/s1.fq\n"), "\(edited.told)")
    try place.write("archive/s2.fq", "2\n")
    try place.shell("ln -sfn ../archive/s2.fq data/s1.fq")
    // The plan shows the reason.
    let plan = try place.opflow("plan").output
    #expect(plan.contains("data/s1.fq -> ../archive/s2.fq"), "\(plan)")
    let turned = try run(place)
    #expect(turned.starts == ["glob", "named"])
    #expect(
      turned.told.contains("named started: changed: data/s1.fq -> ../archive/s2.fq\n"),
      "\(turned.told)")
    #expect(try place.opflow("why", "named").output.contains("data/s1.fq -> ../archive/s2.fq"))
    try place.write("archive/other/x", "2\n")
    #expect(try run(place).starts == ["middle"])
    #expect(try run(place).starts == [])
  }

  @Test func `what reads through the link of another task runs when that leads to something else`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        link: { run: "echo link >> trace; ln -sfn d l; ln -sfn d/file m", inputs: [], outputs: [l, m] }
        named: { needs: [link], run: "echo named >> trace", inputs: [l] }
        needy: { needs: [link], run: "echo needy >> trace", inputs: [] }
      """)
    try place.write("d/file", "1\n")
    #expect(try run(place).starts == ["link", "named", "needy"])
    #expect(try run(place).starts == [])
    try place.write("d/file", "2\n")
    // The links themselves are as they were.
    #expect(try run(place).starts == ["named", "needy"])
    #expect(try run(place).starts == [])
    // A target that is gone has its link made again.
    try place.shell("mv d e")
    #expect(try run(place).starts == ["link", "named", "needy"])
    #expect(try run(place).starts == [])
    try place.shell("mv e d")
    #expect(try run(place).starts == ["named", "needy"])
  }

  @Test func `a chain of links that tasks made is seen through within one run`() throws {
    let place = try Workplace(
      """
      tasks:
        mk: { run: "mkdir -p dir1/D; cp src dir1/D/file", inputs: [src], outputs: [dir1/D] }
        ln: { needs: [mk], run: "mkdir -p dir2; ln -sfn ../dir1/D dir2/D", inputs: [dir1/D], outputs: [dir2/D] }
        use: { needs: [ln], run: cat dir2/D/file > used, inputs: [dir2/D], outputs: used }
      """)
    try place.write("src", "1\n")
    _ = try run(place)
    try place.write("src", "2\n")
    #expect(try run(place).told.contains("use started: changed: dir2/D/file\n"))
    #expect(try place.text("used") == "2\n")
  }

  @Test func `a link to nothing is no missing file, and what appears behind it counts`() throws {
    let place = try Workplace(
      "tasks: { a: { run: echo a >> trace, inputs: [conf, loop, 'in/*'] } }")
    try place.shell("ln -s conf.local conf; ln -s loop loop; mkdir in; ln -s gone in/l")
    #expect(try run(place).starts == ["a"])
    #expect(try run(place).starts == [])
    try place.write("conf.local", "text\n")
    let there = try run(place)
    #expect(there.starts == ["a"])
    #expect(there.told.contains("a started: changed: conf\n"), "\(there.told)")
    try place.shell("ln -sfn gone2 in/l")
    #expect(try run(place).told.contains("a started: changed: in/l -> gone2\n"))
    #expect(try run(place).starts == [])
    try place.remove("conf")
    #expect(try run(place, status: 1).told.contains("input `conf` is missing"))
  }

  @Test func `a project that is reached through a link stays up to date`() throws {
    let place = try Workplace()
    try place.shell(
      """
      mkdir -p real/sub; ln -s real way
      echo 'tasks: { a: { dir: sub, run: echo a >> ../trace, inputs: [x, ../y] } }' > real/opflow.yaml
      echo 1 > real/sub/x; echo 1 > real/y
      cd real; "$opflow" run; cd ../way; "$opflow" run
      """)
    #expect(place.lines("real/trace") == ["a"])
  }

  @Test func `links into own outputs and the state folder do not make a task run for ever`() throws
  {
    let place = try Workplace(
      """
      tasks:
        a:
          run: 'echo a >> trace; mkdir -p out; date +%N > out/x; date +%N > near/y'
          inputs: [in]
          outputs: [out, "near/*"]
      """)
    try place.shell(
      """
      mkdir -p in near .opflow; echo 1 > in/z; ln -s ../out in/out; ln -s ../out/x in/x
      ln -s ../near/y in/y; ln -s ../.opflow in/state
      """)
    let first = try run(place)
    #expect(first.starts == ["a"] && !first.told.contains("while it ran"), "\(first.told)")
    #expect(try run(place).starts == [])
    try place.write("in/z", "2\n")
    #expect(try run(place).starts == ["a"])
    #expect(try run(place).starts == [])
  }

  @Test func `own outputs and a state folder behind links do not make a task run for ever`() throws
  {
    let place = try Workplace(
      """
      tasks:
        named: { run: 'echo named >> trace; date +%N > ql/e', inputs: ["q/*"], outputs: [ql/e] }
        fits: { run: 'echo fits >> trace; date +%N > rl/e.o', inputs: [r], outputs: ["rl/*.o"] }
        folder: { run: 'echo folder >> trace; mkdir -p sl/d; date +%N > sl/d/e', inputs: [s], outputs: [sl/d] }
        state: { run: 'echo state >> trace', inputs: [data] }
      """)
    try place.shell(
      """
      mkdir -p q r s data scratch/st; ln -s q ql; ln -s r rl; ln -s s sl
      ln -s scratch/st .opflow; ln -s ../scratch data/l; touch q/x r/x s/x data/x
      """)
    let first = try run(place)
    #expect(first.starts.sorted() == ["fits", "folder", "named", "state"])
    #expect(!first.told.contains("while it ran"), "\(first.told)")
    #expect(try run(place).starts == [])
    try place.write("q/x", "2\n")
    #expect(try run(place).starts == ["named"])
  }

  @Test func `a folder is followed through links once, and loops end`() throws {
    let place = try Workplace("tasks: { a: { run: echo a >> trace, inputs: [in] } }")
    try place.shell(
      """
      mkdir -p in/d else/e; ln -s .. in/d/up; ln -s ../else in/l; ln -s ../../in else/e/back; \
      echo 1 > else/e/x
      """
    )
    #expect(try run(place).starts == ["a"])
    #expect(try run(place).starts == [])
    try place.write("else/e/x", "2\n")
    #expect(try run(place).told.contains("changed: in/l/e/x"))
    try place.write("else/new", "\n")
    #expect(try run(place).told.contains("changed: +in/l/new"))
    #expect(try run(place).starts == [])
  }

  @Test func `a link to a folder that a pattern does not enter is warned of`() throws {
    let place = try Workplace(
      "tasks: { a: { run: echo a >> trace, inputs: ['src/**/*.h'] } }")
    try place.shell(
      "mkdir -p src vendor; echo > src/a.h; echo > vendor/b.h; ln -s ../vendor src/vendor")
    #expect(
      try run(place).told.contains(
        "task a: `src/**/*.h` does not follow the link `src/vendor`; add `src/vendor/**/*.h`"))
  }

  @Test func `a shared cache knows what a link leads to, and not where that lies`() throws {
    let place = try Workplace()
    try place.shell(
      """
      for p in one two; do
        mkdir -p $p/archive $p/data; ln -s ../archive/s $p/data/s
        echo 'tasks: { a: { run: "echo a >> trace; cp data/s out", inputs: [data/s], outputs: [out], cache: true } }' \\
          > $p/opflow.yaml
      done
      echo 1 > one/archive/s; echo 2 > two/archive/s
      for p in one two; do cd $p; "$opflow" run --cache ../cache --cache-write; cd ..; done
      test "$(cat one/out two/out)" = "$(printf '1\\n2')"
      echo 2 > one/archive/s; cd one; "$opflow" run --cache ../cache; test "$(cat out)" = 2
      """)
    #expect(place.lines("one/trace") == ["a"])
    #expect(place.lines("two/trace") == ["a"])
  }

  @Test func `a result with a link that would lead to nothing here is not used`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; ln -sfn target out; ln -sfn gone none", inputs: [src], outputs: [out, none], cache: true }
      """)
    try place.write("src", "1\n")
    try place.write("target", "text\n")
    #expect(try run(place).starts == ["a"])
    try place.shell("rm out none")
    // One that led to nothing when it was kept may do so.
    #expect(try run(place).told.contains("a restored from the cache"))
    try place.shell("rm out none target")
    let again = try run(place)
    #expect(again.starts == ["a"], "\(again.told)")
    #expect(
      again.told.contains(
        "cannot restore the cached result; the target of its link `out` is missing"),
      "\(again.told)")
  }

  @Test func `a watched run sees what links lead to, and where nothing was`() throws {
    let place = try Workplace(
      "tasks: { a: { run: echo a >> trace, inputs: [data/s, conf, l] } }")
    try place.shell(
      """
      mkdir -p archive data etc far; echo 1 > archive/s; ln -s ../archive/s data/s; \
      ln -s etc/conf conf; ln -s far/m l; ln -s ../etc far/m
      """
    )
    let run = try place.watch()
    try place.write("archive/s", "2\n")
    try run.waitForError("opflow: changed: data/s\n")
    try run.waitForRounds(2)
    try place.write("etc/conf", "1\n")
    try run.waitForRounds(3)
    _ = try run.leave()
    #expect(place.lines() == ["a", "a", "a"])
  }
}
