import Glibc
import Testing

/// Inputs of a task from elsewhere, and their changes while it runs.
struct FreshReadingTests {
  /// What starts in another run, sorted.
  private func starts(
    _ place: Workplace, _ arguments: String = "run", status: Int32 = 0,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> [String] {
    try place.shell(
      "rm -f trace; \"$opflow\" \(arguments)", status: status, sourceLocation: sourceLocation)
    return place.lines().sorted()
  }

  @Test(arguments: [
    // What a need left.
    (
      "  a: { inputs: [src], outputs: [gen], run: cp src gen }\n  b: { needs: a, inputs: [], ",
      "gen", "outputs of a"
    ),
    ("  b: { inputs: [{ run: [cat, src] }], ", "src", "`cat src`"),
  ])
  func `what changes while a task reads it is no success that the next run goes by`(
    _ tasks: String, _ read: String, _ told: String
  ) throws {
    let place = try Workplace(
      """
      tasks:
      \(tasks)outputs: [out], run: 'echo b >> trace; cat \(read) > out; cat more >> \(read)' }
      """
    )
    try place.write("src", "text\n")
    try place.write("more", "more\n")
    let run = try place.opflow("run", "--output", "line")
    #expect(run.errors.contains("changed: \(told) while it ran; the next run re-runs it"), "\(run)")
    try place.write("more", "")
    #expect(try starts(place) == ["b"])
    #expect(try starts(place) == [])
  }

  @Test
  func `an input that is replaced while a task reads it counts as changed, whatever it holds`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        a:
          inputs: [src]
          outputs: [out]
          run: |
            echo a >> trace
            $(cat swap)
            cp src out
            $(cat back)
      """)
    try place.write("src", "good\n")
    try place.write("evil", "evil\n")
    try place.write("swap", "cp -p src kept\n")
    try place.write("back", "true\n")
    #expect(try starts(place) == ["a"])
    #expect(try starts(place) == [])
    try place.shell("touch src; echo cp evil src > swap; echo cp kept src > back; rm out")
    let run = try place.opflow("run", "--output", "line")
    #expect(run.errors.contains("changed: src while it ran; the next run re-runs it"), "\(run)")
    #expect(try place.text("out") == "evil\n")
    try place.write("swap", "true\n")
    try place.write("back", "true\n")
    #expect(try starts(place) == ["a"])
    #expect(try place.text("out") == "good\n")
  }

  @Test(arguments: [
    ("ln -sfn other link", "ln -sfn real link", "link"),
    ("ln -sfn other way", "ln -sfn real way", "far"),
  ])
  func `an input whose link is another one meanwhile counts as changed, with the link restored`(
    _ swap: String, _ back: String, _ path: String
  ) throws {
    let place = try Workplace(
      """
      tasks:
        a:
          inputs: [src, link/x, far/x]
          outputs: [out]
          run: "echo a >> trace; . ./swap; cat src link/x far/x > out; . ./back"
      """)
    try place.write("src", "good\n")
    try place.write("real/x", "good\n")
    try place.write("other/x", "evil\n")
    try place.write("evil", "evil\n")
    try place.shell("ln -s real link; ln -s real way; ln -s way far; touch swap back")
    #expect(try starts(place) == ["a"])
    #expect(try starts(place) == [])
    try place.write("swap", swap)
    try place.write("back", back)
    try place.shell("rm out")
    let run = try place.opflow("run", "--output", "line")
    #expect(run.errors.contains("changed: \(path) while it ran; the next run re-runs it"), "\(run)")
    #expect(try place.text("out").contains("evil"))
    try place.write("swap", "true")
    try place.write("back", "true")
    #expect(try starts(place) == ["a"])
    #expect(try starts(place) == [])
  }

  @Test func `a link to an input that is made while a task reads it is no change of it`() throws {
    let place = try Workplace(
      "tasks: { a: { inputs: [src], run: 'echo a >> trace; ln -f src linked' } }")
    try place.write("src", "text\n")
    // Long enough ago to be known again.
    try place.shell("touch -d 2001-01-01T00:00:00.5 src")
    #expect(try starts(place) == ["a"])
    #expect(try starts(place) == [])
  }

  @Test func `what a command prints is asked anew once a task has run`() throws {
    let place = try Workplace(
      """
      max_parallel: 1
      tasks:
        first: { inputs: [{ run: [cat, version] }], run: 'true' }
        make: { needs: [{ task: first, on: finished }], inputs: [src], outputs: [made], run: "cp src version; echo ok > made" }
        last: { needs: make, inputs: [{ run: [cat, version] }], outputs: [out], run: "echo last >> trace; cat version > out" }
      """)
    try place.write("src", "1\n")
    try place.write("version", "1\n")
    #expect(try starts(place) == ["last"])
    #expect(try starts(place) == [])
    try place.write("src", "2\n")
    #expect(try starts(place) == ["last"])
    #expect(try place.text("out") == "2\n")
    #expect(try starts(place) == [])
  }

  @Test func `what follows on a failure follows on each`() throws {
    let place = try Workplace(
      """
      tasks:
        deploy: { inputs: [in], run: "echo deploy >> trace; $(cat how)" }
        rollback: { needs: [{ task: deploy, on: failure }], inputs: [conf], run: echo rollback >> trace }
        report: { needs: [{ task: deploy, on: finished }], inputs: [conf], run: echo report >> trace }
      """)
    try place.write("in", "1")
    try place.write("conf", "1")
    try place.write("how", "false")
    let all = ["deploy", "report", "rollback"]
    #expect(try starts(place, status: 1) == all)
    #expect(try starts(place, status: 1) == all)
    #expect(try starts(place, "resume", status: 1) == all)
    try place.write("how", "true")
    #expect(try starts(place) == ["deploy", "report"])
    #expect(try starts(place) == [])
  }

  @Test func `in which order a task needs others is no reason to run it`() throws {
    func manifest(_ needs: String) -> String {
      """
      tasks:
        a: { inputs: [in], run: 'true' }
        b: { inputs: [in], run: 'false', allow_failure: true }
        c: { needs: [\(needs)], inputs: [in], run: echo c >> trace }
      """
    }
    let place = try Workplace(manifest("a, { task: b, on: finished }"))
    try place.write("in", "1")
    #expect(try starts(place) == ["c"])
    #expect(try starts(place) == ["c"], "b ran again")
    let settled = manifest("a").replacing("  b:", with: "  d: { inputs: [in], run: 'true' }\n  b:")
    try place.write("opflow.yaml", settled.replacing("needs: [a]", with: "needs: [a, d]"))
    #expect(try starts(place) == ["c"])
    try place.write("opflow.yaml", settled.replacing("needs: [a]", with: "needs: [d, a]"))
    #expect(try starts(place) == [])
  }

  @Test func `a variable that is no UTF-8 is told from another one`() throws {
    let place = try Workplace("tasks: { a: { inputs: [{ env: X }], run: echo a >> trace } }")
    try place.shell("X=$(printf '\\377') \"$opflow\" run; X=$(printf '\\376') \"$opflow\" run")
    #expect(place.lines() == ["a", "a"])
  }

  @Test func `a command that is an input finds no secret, whoever looks`() throws {
    let place = try Workplace(
      """
      secrets: { TOKEN: { env: TOKEN } }
      tasks:
        a:
          inputs: [{ run: [sh, -c, "echo ${TOKEN-none} | tee -a seen"] }]
          secrets: [TOKEN]
          run: echo a >> trace
      """)
    try place.shell("export TOKEN=secret-word; \"$opflow\" run; \"$opflow\" plan; \"$opflow\" run")
    #expect(place.lines() == ["a"])
    #expect(Set(place.lines("seen")) == ["none"])
  }

  @Test func `the folder of an output is made, also where that is a pattern`() throws {
    let place = try Workplace(
      """
      tasks: { a: { inputs: [in], outputs: ['out/deep/*.o', '*.x'], run: 'cp in out/deep/a.o; \
      cp in a.x' } }
      """
    )
    try place.write("in", "text\n")
    try place.shell("\"$opflow\" run")
    #expect(try place.text("out/deep/a.o") == "text\n")
  }

  @Test func `a resume makes again what is gone of tasks that declare outputs alone`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { outputs: [out/a, 'out/*.b'], run: "echo a >> trace; mkdir -p out; touch out/a out/x.b" }
        b: { needs: a, run: "echo b >> trace; test -e right" }
      """)
    #expect(try starts(place, status: 1) == ["a", "b"])
    #expect(try starts(place, "resume", status: 1) == ["b"])
    try place.remove("out/a")
    let run = try place.opflow("resume", "--output", "line", status: 1)
    #expect(run.errors.contains("a: re-run (an output is missing)"), "\(run)")
    try place.remove("out/x.b")
    try place.write("right", "")
    #expect(try starts(place, "resume") == ["a", "b"])
  }

  @Test func `records that cannot be used end the run before anything starts`() throws {
    let place = try Workplace("tasks: { a: { inputs: [in], run: echo a >> trace } }")
    try place.write("in", "text\n")
    try place.shell("mkdir -p .opflow/records")
    let run = try place.opflow("run", status: 74)
    #expect(run.errors.contains("cannot use") && run.errors.contains(".opflow/records"), "\(run)")
    #expect(place.lines() == [])
    try place.shell("rmdir .opflow/records; \"$opflow\" resume")
    #expect(place.lines() == ["a"])
  }

  @Test func `records that hold mostly what is past are written anew at the end of a run`() throws {
    let place = try Workplace("tasks: { a: { inputs: ['in/*'], run: \"true\" } }")
    try place.shell("mkdir in; cd in; seq -f name-that-is-not-so-short-%g 3000 | xargs touch")
    func size() throws -> Int { try place.bytes(".opflow/records").count }
    try place.shell("\"$opflow\" run")
    let one = try size()
    for round in 1...8 {
      try place.shell("echo \(round) > in/changed; \"$opflow\" run")
      #expect(try size() < 4 * one + (1 << 20))
    }
    #expect(try starts(place) == [])
  }

  @Test(arguments: ["'s/*', 't/*'", "'t/*', 's/*'", "s, t"])
  func `names that only look the same are those of several files`(_ inputs: String) throws {
    let place = try Workplace(
      """
      tasks: { a: { inputs: [\(inputs)], outputs: [out], run: 'echo a >> trace; \
      cat s/* t/* > out' } }
      """
    )
    // One letter, composed and decomposed.
    let names = ["s/\u{E9}", "s/e\u{301}"]
    try place.write("t/x", "x\n")
    for name in names { try place.write(name, "text\n") }
    #expect(try starts(place) == ["a"])
    for name in names {
      try place.write(name, "other\n")
      #expect(try starts(place) == ["a"])
      #expect(try starts(place) == [])
    }
  }

  @Test func `an output is no input that only looks the same`() throws {
    let place = try Workplace(
      """
      tasks: { a: { inputs: ['s/*'], outputs: ["s/e\u{301}"], run: "echo a >> trace; \
      cp s/\u{E9} s/e\u{301}" } }
      """
    )
    try place.write("s/\u{E9}", "text\n")
    #expect(try starts(place) == ["a"])
    try place.write("s/\u{E9}", "other\n")
    #expect(try starts(place) == ["a"])
    #expect(try starts(place) == [])
  }

  @Test func `a link counts by the bytes of its text`() throws {
    let place = try Workplace("tasks: { a: { inputs: [in], run: echo a >> trace } }")
    try place.shell("ln -s \"$(printf 'x\\377')\" in")
    #expect(try starts(place) == ["a"])
    try place.shell("ln -sfn \"$(printf 'x\\376')\" in")
    #expect(try starts(place) == ["a"])
    #expect(try starts(place) == [])
  }

  @Test func `what is skipped stands as it was last for what needs it`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        files: { inputs: [in], outputs: [out], run: "echo files >> trace; cp in out" }
        reader: { needs: files, inputs: [out], run: "echo reader >> trace" }
        silent: { inputs: [in], run: "echo silent >> trace" }
        after: { needs: silent, inputs: [in], run: "echo after >> trace; ! test -e broken" }
      """)
    try place.write("in", "text\n")
    #expect(try starts(place) == ["after", "files", "reader", "silent"])
    #expect(try starts(place, "run --skip files --skip silent") == [])
    #expect(try starts(place, "resume") == [])
    #expect(try starts(place) == [])
    // Only the failed task runs.
    try place.write("broken", "")
    #expect(try starts(place, "run --rerun after", status: 1) == ["after"])
    try place.remove("broken")
    #expect(try starts(place, "resume --skip silent --skip files") == ["after"])
    #expect(try starts(place, "resume") == [])
    #expect(try starts(place) == [])
    // A skipped task that would have run is still due.
    try place.write("in", "other\n")
    #expect(try starts(place, "run --skip files --skip silent") == ["after"])
    #expect(try starts(place) == ["after", "files", "reader", "silent"])
    #expect(try starts(place) == [])
  }

  @Test func `to look at a file is no use of it`() throws {
    let place = try Workplace(
      "tasks: { a: { inputs: ['in/*'], run: 'echo a >> trace', outputs: [] } }")
    try place.shell("mkdir in; echo 1 > in/a; touch -a -d 2001-01-01 in/a; stat -c %x in/a > time")
    #expect(try starts(place) == ["a"])
    try place.shell("stat -c %x in/a | cmp - time")
  }

  @Test(.enabled(if: geteuid() == 0, "another user's files need another user"))
  func `files of another user are looked at too`() throws {
    let place = try Workplace(
      "tasks: { a: { inputs: ['in/*'], run: 'echo a >> trace', outputs: [] } }")
    let other = "chmod 777 .; setpriv --reuid=65534 --clear-groups"
    try place.shell("mkdir in; for i in 1 2 3; do echo $i > in/$i; done")
    try place.shell("\(other) \"$opflow\" run -f opflow.yaml")
    try place.shell("touch in/*; echo 4 > in/4")
    try place.shell("\(other) \"$opflow\" run -f opflow.yaml")
    try place.shell("touch in/*; \(other) \"$opflow\" run -f opflow.yaml")
    #expect(place.lines() == ["a", "a"])
  }

  @Test(.timeLimit(.minutes(30)))
  func `a task that names many files is no slower for each of them`() throws {
    let place = try Workplace()
    let names = (0..<40_000).map { "in/\($0)" }
    try place.write(
      "opflow.yaml",
      "tasks: { a: { inputs: [\(names.joined(separator: ", "))], run: 'echo a >> trace' } }")
    try place.shell("mkdir in; cd in; seq 0 39999 | xargs touch")
    // Several times what it takes in a build for debugging.
    try place.shell("ulimit -t 15; \"$opflow\" run")
    #expect(try starts(place) == [])
  }
}
