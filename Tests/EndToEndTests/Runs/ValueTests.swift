import Glibc
import Testing

/// Values that tasks leave for those that need them.
struct ValueTests {
  @Test func `a value reaches who needs it, in every place that takes one`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo 1.2 > $OPFLOW_VALUES/ver; printf 'two\\nlines\\n' > $OPFLOW_VALUES/text" }
        env: { needs: a, env: { V: "v${{ needs.a.ver }}", T: "${{ needs.a.text }}" }, run: 'echo "$V" "$T" >> trace' }
        list: { needs: [a, env], run: [sh, -c, 'echo "$0" >> trace', "<${{ needs.a.ver }}>"] }
        yes: { needs: [a, list], if: needs.a.ver == '1.2', run: echo yes >> trace }
        no: { needs: [a, list], if: needs.a.ver != '1.2', run: echo no >> trace }
        after: { needs: no, run: echo after >> after }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["v1.2 two", "lines", "<1.2>", "yes"])
    #expect(place.lines("after") == ["after"])
    let status = try place.status()
    #expect(status["no"]?.state == "skipped")
    #expect(status["no"]?.reason == "if")
  }

  @Test func `text of a value is no code, whatever it holds`() throws {
    let place = try Workplace(
      #"""
      tasks:
        a: { run: "printf '%s' '$(touch gone) `touch gone` ; touch gone \"q\" $${{ x }}' > $OPFLOW_VALUES/v" }
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'printf %s "$V" > out' }
        c: { needs: a, run: [printf, '%s', "${{ needs.a.v }}"] }
      """#)
    try place.opflow("run")
    #expect(try place.text("out") == "$(touch gone) `touch gone` ; touch gone \"q\" ${{ x }}")
    #expect(try place.log("c") == "$(touch gone) `touch gone` ; touch gone \"q\" ${{ x }}")
    #expect(!place.exists("gone"))
  }

  @Test func `a missing value fails the task, and both are named`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'true' }
        env: { needs: a, retry: 3, env: { V: "${{ needs.a.v }}" }, run: echo ran >> trace }
        if: { needs: a, if: needs.a.go, run: echo ran >> trace }
        default: { needs: a, env: { V: "${{ needs.a.v || 'x' }}" }, run: echo $V >> trace }
        allowed: { needs: a, allow_failure: true, if: needs.a.go, run: echo ran >> trace }
        after: { needs: allowed, run: echo after >> trace }
      """)
    let run = try place.opflow("run", "-k", "-j", "1", status: 1)
    #expect(place.lines().sorted() == ["after", "x"])
    #expect(
      run.errors.contains("`needs.a.v` is missing: task `a` did not set the value `v`"),
      "\(run)")
    #expect(
      run.errors.contains("`needs.a.go` is missing: task `a` did not set the value `go`"),
      "\(run)")
    let status = try place.status()
    #expect(status["env"]?.state == "failed")
    #expect(status["env"]?.attempts == 1)
    #expect(status["env"]?.reason == "value")
    #expect(status["if"]?.state == "failed")
    #expect(status["if"]?.attempts == 0)
  }

  @Test func `what an attempt left that failed is not seen`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          retry: { max: 1, delay: 1ms }
          run: |
            test $OPFLOW_ATTEMPT = 2 || { echo old > $OPFLOW_VALUES/v; echo old > $OPFLOW_VALUES/w; exit 1; }
            ls $OPFLOW_VALUES > seen
            echo new > $OPFLOW_VALUES/v
        b: { needs: a, env: { V: "${{ needs.a.v }} ${{ needs.a.w || 'none' }}" }, run: echo $V >> trace }
        c: { run: 'echo x > $OPFLOW_VALUES/v; exit 1', allow_failure: true }
        d: { needs: c, env: { V: "${{ needs.c.v || 'none' }}" }, run: echo $V >> trace }
        e: { run: 'echo x > $OPFLOW_VALUES/v; exit 1' }
        f: { needs: [{ task: e, on: finished }], env: { V: "${{ needs.e.v || 'none' }}" }, run: echo $V >> trace }
      """)
    try place.opflow("run", "-k", status: 1)
    #expect(place.lines().sorted() == ["new none", "none", "none"])
    #expect(try place.text("seen") == "")
  }

  @Test func `tasks whose values nobody reads may leave them all the same`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: ./leave }
        b: { run: ./leave }
      """)
    try place.writeProgram("leave", "#!/bin/sh\nset -eu\necho x > \"$OPFLOW_VALUES/x\"\n")
    try place.opflow("run")
  }

  struct Bad: Sendable, CustomTestStringConvertible {
    let leave: String
    let says: String
    var testDescription: String { leave }
  }

  @Test(arguments: [
    Bad(
      leave: "echo x > $OPFLOW_VALUES/my-name",
      says: "$OPFLOW_VALUES/my-name does not have a valid name; use at most 128 letters"),
    Bad(
      leave: "echo x > $OPFLOW_VALUES/.hidden",
      says: "$OPFLOW_VALUES/.hidden does not have a valid name"),
    Bad(
      leave: "echo x > \"$OPFLOW_VALUES/ä\"",
      says: "$OPFLOW_VALUES/ä does not have a valid name"),
    Bad(
      leave: "head -c 65538 /dev/zero | tr '\\0' x > $OPFLOW_VALUES/big",
      says: "$OPFLOW_VALUES/big is longer than 65536 bytes"),
    Bad(
      leave: "for i in $(seq 101); do echo $i > $OPFLOW_VALUES/v$i; done",
      says: "it left 101 files in $OPFLOW_VALUES"),
    Bad(
      leave: "printf 'a\\0b' > $OPFLOW_VALUES/nul",
      says: "$OPFLOW_VALUES/nul: it contains a NUL byte"),
    Bad(
      leave: "printf '\\377' > $OPFLOW_VALUES/bytes",
      says: "$OPFLOW_VALUES/bytes: it is not UTF-8"),
    Bad(
      leave: "mkdir $OPFLOW_VALUES/sub",
      says: "$OPFLOW_VALUES/sub is not a regular file: it is a folder"),
    Bad(
      leave: "ln -s $PWD/kept/file $OPFLOW_VALUES/l",
      says: "$OPFLOW_VALUES/l is not a regular file: it is a link"),
    Bad(
      leave: "mkfifo $OPFLOW_VALUES/pipe",
      says: "$OPFLOW_VALUES/pipe is not a regular file: it is a FIFO"),
    Bad(
      leave: "rm -r $OPFLOW_VALUES", says: "cannot read $OPFLOW_VALUES: No such file or directory"),
    Bad(
      leave: "rm -r $OPFLOW_VALUES; ln -s $PWD/kept $OPFLOW_VALUES",
      says: "cannot read $OPFLOW_VALUES: Not a directory"),
  ])
  func `what is no value fails its task and is named`(_ bad: Bad) throws {
    let place = try Workplace()
    try place.write("kept/file", "kept")
    try place.write(
      "opflow.yaml",
      """
      tasks:
        a:
          run: |
            \(bad.leave)
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: echo ran >> trace }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains(bad.says), "\(run)")
    #expect(place.lines().isEmpty)
    #expect(try place.status()["a"]?.reason == "value")
    #expect(place.entries(try place.runFolder() + "/values") == [])
    #expect(try place.text("kept/file") == "kept")
  }

  @Test func `who clears its folder takes nothing from others`() throws {
    let place = try Workplace(
      """
      tasks:
        good: { run: 'echo 1 > $OPFLOW_VALUES/b' }
        wipe: { needs: [good], run: [./wipe] }
        read: { needs: [good, wipe], run: [sh, -c, 'echo $0 >> trace', "${{ needs.good.b }}"] }
      """)
    try place.writeProgram(
      "wipe", "#!/bin/sh\nrm -rf \"$OPFLOW_VALUES\"/*\necho 2 > \"$OPFLOW_VALUES/b\"\n")
    try place.opflow("run")
    #expect(place.lines() == ["1"])
  }

  @Test(arguments: [
    #"env: { V: "${{ needs.a.v }}" }, run: echo read >> trace"#,
    "run: echo $OPFLOW_NEEDS read >> trace",
  ])
  func `a value that somebody changes meanwhile is not read`(_ reader: String) throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; echo 1 > $OPFLOW_VALUES/v" }
        b: { needs: a, run: "test -e ok || { echo 2 > .opflow/runs/$OPFLOW_RUN/values/a.1/v; echo 3 > .opflow/runs/$OPFLOW_RUN/values/a.1/w; }" }
        c: { needs: [a, b], \(reader) }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(run.errors.contains("`needs.a.v` is not what the task left: "), "\(run)")
    #expect(place.lines() == ["a"])
    #expect(try place.status()["c"]?.reason == "value")
    // The next session sets it again.
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines().count == 3)
  }

  @Test func `the largest that may be a value is one`() throws {
    let place = try Workplace(
      """
      tasks:
        a:
          run: |
            head -c 65536 /dev/zero | tr '\\0' x > $OPFLOW_VALUES/big
            for i in $(seq 98); do echo $i > $OPFLOW_VALUES/v$i; done
            : > $OPFLOW_VALUES/empty
        b: { needs: a, env: { V: "${{ needs.a.big }}", E: "${{ needs.a.empty }}" }, run: 'echo ${#V} "<$E>" >> trace' }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["65536 <>"])
  }

  @Test func `an if takes 400 bytes`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "printf %0400d 1 > $OPFLOW_VALUES/fits; printf %0401d 1 > $OPFLOW_VALUES/long" }
        b: { needs: a, if: needs.a.fits, run: echo b >> trace }
        c: { needs: a, if: needs.a.long, run: echo c >> trace }
      """)
    let run = try place.opflow("run", "-k", status: 1)
    #expect(place.lines() == ["b"])
    #expect(
      run.errors.contains("`needs.a.long` is longer than 400 bytes, the limit of `if`"), "\(run)")
  }

  @Test func `a resume keeps unchanged results and knows the values of earlier sessions`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; cat in > $OPFLOW_VALUES/v" }
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'echo "b $V" >> trace' }
        no: { needs: a, if: needs.a.v == 'other', run: echo no >> trace }
        c: { needs: [a, b], env: { V: "${{ needs.a.v }}" }, run: 'echo "c $V" >> trace; test -e ok' }
        d: { needs: [a, c], if: needs.a.v == 'one', run: echo d >> trace }
      """)
    try place.write("in", "one\n")
    try place.opflow("run", status: 1)
    #expect(place.lines() == ["a", "b one", "c one"])
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "b one", "c one", "c one", "d"])
    #expect(try place.status()["no"]?.attempts == 0)
    // All is done, the skip too.
    try place.opflow("resume")
    #expect(place.lines().count == 5)
    try place.write("in", "other\n")
    try place.opflow("resume", "--rerun", "a")
    #expect(place.lines().dropFirst(5).sorted() == ["a", "b other", "c other", "no"])
    #expect(try place.status()["d"]?.state == "skipped")
  }

  @Test func `a value of an earlier session does not count once the task ran again without it`()
    throws
  {
    let place = try Workplace(
      """
      tasks:
        a: { run: "test ! -e in || cp in $OPFLOW_VALUES/v" }
        if: { needs: a, if: "(needs.a.v || 'none') == 'go'", run: echo if >> trace }
        env: { needs: a, env: { V: "${{ needs.a.v || 'none' }}" }, run: echo $V >> trace }
        file: { needs: a, run: "ls $OPFLOW_NEEDS >> trace" }
      """)
    try place.write("in", "go\n")
    try place.opflow("run")
    #expect(place.lines().sorted() == ["a", "go", "if"])
    try place.shell("rm in; : > trace")
    try place.opflow("resume", "--rerun", "a")
    #expect(place.lines() == ["none"])
  }

  @Test func `a value that is lost is made anew`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; echo 1 > $OPFLOW_VALUES/v" }
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'echo "b $V" >> trace; test -e ok' }
      """)
    try place.opflow("run", status: 1)
    // As a power loss leaves it: the line is there, what the file held is not.
    try place.write(place.runFolder() + "/values/a.1/v", "")
    try place.write("ok", "")
    let resume = try place.opflow("resume")
    #expect(place.lines() == ["a", "b 1", "a", "b 1"])
    #expect(resume.errors.contains("a: re-run (an output is missing)"), "\(resume)")
  }

  @Test(arguments: [
    #"env: { V: "${{ needs.a.v }}" }, run: 'echo "b $V" >> trace; test -e ok'"#,
    #"if: needs.a.v == '1', run: 'echo "b 1" >> trace; test -e ok'"#,
    #"run: 'echo "b $(cat $OPFLOW_NEEDS/a/v)" >> trace; test -e ok'"#,
  ])
  func `a value that nobody was to read is made once somebody is`(_ reader: String) throws {
    let head = "tasks:\n  a: { run: ./leave }\n  c: { run: ./leave }\n"
    let place = try Workplace(head + "  b: { needs: [a, c], run: 'test -e ok' }\n")
    try place.writeProgram(
      "leave", "#!/bin/sh\necho $OPFLOW_TASK >> trace\necho 1 > $OPFLOW_VALUES/v\n")
    try place.opflow("run", "-j", "1", status: 1)
    // In a session of its own, which does not reach the reader.
    try place.write("opflow.yaml", head + "  b: { needs: [a], \(reader) }\n")
    try place.opflow("resume", "--only", "c", status: 1)
    let resume = try place.opflow("resume", status: 1)
    #expect(place.lines() == ["a", "c", "a", "b 1"], "\(resume)")
    #expect(resume.errors.contains("a: re-run (an output is missing)"), "\(resume)")
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "c", "a", "b 1", "b 1"])
  }

  @Test func `who was read and left nothing does not run again for that`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: echo a >> trace }
        b: { needs: a, env: { V: "${{ needs.a.v || 'none' }}" }, run: 'echo "b $V" >> trace; test -e ok' }
      """)
    try place.opflow("run", status: 1)
    try place.write("ok", "")
    try place.opflow("resume")
    #expect(place.lines() == ["a", "b none", "b none"])
    #expect(
      try place.journal().first { $0.event == "success" && $0.task == "a" }?.values["values"] == "")
  }

  @Test func `hashes of values stand in the journal, and a hash of what was read`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo 1 > $OPFLOW_VALUES/v; echo 2 > $OPFLOW_VALUES/w" }
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'true' }
      """)
    try place.opflow("run")
    let journal = try place.journal()
    let left = try #require(journal.first { $0.event == "success" && $0.task == "a" })
    #expect(left.values["values"]?.contains(#/^v:[0-9a-f]{16},w:[0-9a-f]{16}$/#) == true)
    let read = try #require(journal.first { $0.event == "success" && $0.task == "b" })
    #expect(read.values["with"]?.count == 16)
    #expect(read.values["values"] == nil)
  }

  @Test func `a skipped task leaves nothing`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo 1 > $OPFLOW_VALUES/v" }
        b: { needs: a, env: { V: "${{ needs.a.v || 'none' }}" }, run: echo $V >> trace }
        c: { needs: a, env: { V: "${{ needs.a.v }}" }, run: echo $V >> trace }
      """)
    let run = try place.opflow("run", "--skip", "a", "-k", status: 1)
    #expect(place.lines() == ["none"])
    #expect(run.errors.contains("`needs.a.v` is missing: task `a` did not set the value `v`"))
  }

  @Test func `a download takes its address and hash from a task`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'pwd > $OPFLOW_VALUES/dir; sha256sum src | cut -c-64 > $OPFLOW_VALUES/sum; echo bad > $OPFLOW_VALUES/bad' }
        get: { needs: a, download: { url: "file://${{ needs.a.dir }}/src", sha256: "${{ needs.a.sum }}", to: got } }
        missing: { needs: a, download: { url: "file://${{ needs.a.nothing }}/src", to: got2 } }
        bad: { needs: a, download: { url: "file://${{ needs.a.dir }}/src", sha256: "${{ needs.a.bad }}", to: got3 } }
        scheme: { needs: a, download: { url: "${{ needs.a.bad }}", to: got4 } }
      """)
    try place.write("src", "content")
    let run = try place.opflow("run", "-k", status: 1)
    #expect(try place.text("got") == "content")
    #expect(
      run.errors.contains("`needs.a.nothing` is missing: task `a` did not set the value `nothing`"),
      "\(run)")
    #expect(run.errors.contains("`sha256` must have 64 hexadecimal digits"), "\(run)")
    #expect(place.entries().filter { $0.hasPrefix("got") } == ["got"])
    #expect(try place.status()["scheme"]?.state == "failed")
  }

  @Test func `a chain of late conditions decides one after the other`() throws {
    var text = "tasks:\n  t0: { run: 'echo true > $OPFLOW_VALUES/v' }\n"
    text += "  t1: { needs: t0, run: 'true' }\n"
    for index in 2...300 {
      text += "  t\(index): { needs: [t0, t\(index - 1)], if: needs.t0.v == 'no', run: 'false' }\n"
    }
    let place = try Workplace(text)
    try place.opflow("run")
    #expect(try place.status().counts["skipped"] == 299)
  }

  @Test func `a kill between any two steps leaves values and claims in step`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo a >> trace; echo 1 > $OPFLOW_VALUES/v; echo here > here; read x < go" }
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'echo "b $V" >> trace' }
      """)
    let here = try place.gate("here")
    let go = try place.gate("go")
    let run = try place.start("run")
    _ = try here.next(1)
    run.send(SIGKILL)
    _ = try run.finish()
    let resume = try place.start("resume")
    _ = try here.next(1)
    try go.letGo(1)
    #expect(try resume.finish().status == 0)
    // What the first try left is gone.
    #expect(place.lines() == ["a", "a", "b 1"])
    #expect(place.entries(try place.runFolder() + "/values") == ["a.2"])
  }

  @Test func `a resume removes what lost tries left, and keeps what successes did`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: "echo 1 > $OPFLOW_VALUES/v" }
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'test -e go && echo "$V" > b' }
        c: { run: "test $OPFLOW_ATTEMPT = 2 && echo 2 > $OPFLOW_VALUES/v", retry: { max: 1, delay: 0 } }
      """)
    try place.opflow("run", "-k", status: 1)
    let values = try place.runFolder() + "/values"
    #expect(place.entries(values) == ["a.1", "c.2"])
    try place.write("kept/file", "kept")
    try place.shell(
      """
      cd \(values); mkdir -p a.7 c.1~99 b.2/x; echo x | tee a.7/v c.1~99/v b.2/x/v plain a.b > c.9
      ln -s ../../../../kept c.7; ln -s ../../../../../kept b.2/x/link
      """)
    try place.write("go", "")
    try place.opflow("resume")
    #expect(try place.text("b") == "1\n")
    // Those that no try's folder is called like are a task's that nobody reads.
    #expect(place.entries(values) == ["a.1", "a.b", "c.2", "plain"])
    #expect(try place.text("kept/file") == "kept")
  }

  @Test func `values of a matrix are a line each, in the order of its tasks`() throws {
    let place = try Workplace(
      """
      tasks:
        part:
          matrix: { n: [3, 1, 2], k: [x, y] }
          run: 'test $OPFLOW_TASK = "part[n=1,k=y]" || echo "${{ matrix.n }}${{ matrix.k }}" > $OPFLOW_VALUES/v'
        all: { needs: part, env: { V: "${{ needs.part.v }}" }, run: 'echo "$V" > all' }
        one:
          matrix: { n: [1, 2] }
          needs: ["part[n]"]
          env: { V: "${{ needs.part.v }}" }
          run: 'echo "$V" > one.${{ matrix.n }}'
        named: { needs: ["part[n=3,k=x]"], env: { V: "${{ needs.part.v }}" }, run: 'echo "$V" > named' }
        none: { needs: part, env: { V: "${{ needs.part.w || 'none' }}" }, run: 'echo "$V" > none' }
      """)
    try place.opflow("run")
    #expect(place.lines("all") == ["3x", "3y", "1x", "2x", "2y"])
    #expect(place.lines("one.1") == ["1x"])
    #expect(place.lines("one.2") == ["2x", "2y"])
    #expect(place.lines("named") == ["3x"])
    #expect(place.lines("none") == ["none"])
  }

  @Test func `a value is empty if no task of the matrix succeeded`() throws {
    let place = try Workplace(
      """
      max_failures: 0
      tasks:
        empty: { matrix: { n: { glob: "*.none" } }, run: "true" }
        off: { matrix: { n: [1, 2] }, if: "false", run: "true" }
        one: { matrix: { n: [1] }, if: "false", run: "true" }
        failed: { matrix: { n: [1, 2] }, allow_failure: true, run: "echo x > $OPFLOW_VALUES/v; exit 1" }
        mixed: { matrix: { n: [1, 2] }, run: "test $N = 1 || exit 9", env: { N: "${{ matrix.n }}" }, allow_failure: [9] }
        all:
          needs: [empty, off, one, failed]
          env: { V: "<${{ needs.empty.v }}${{ needs.off.v }}${{ needs.one.v }}${{ needs.failed.v }}>" }
          run: 'echo "$V" >> trace'
        default: { needs: off, env: { V: "${{ needs.off.v || 'none' }}" }, run: 'echo "$V" >> trace' }
        leg: { needs: ["off[n=1]"], env: { V: "<${{ needs.off.v }}>" }, run: 'echo "leg $V" >> trace' }
        yes: { needs: empty, if: "needs.empty.v == ''", run: echo yes >> trace }
        no: { needs: off, if: needs.off.v, run: echo no >> trace }
        misspelt: { needs: mixed, env: { V: "${{ needs.mixed.v }}" }, run: echo misspelt >> trace }
      """)
    let run = try place.opflow("run", "-j", "1", status: 1)
    #expect(place.lines().sorted() == ["<>", "leg <>", "none", "yes"], "\(run)")
    #expect(
      run.errors.contains(
        "`needs.mixed[n=1].v` is missing: task `mixed[n=1]` did not set the value `v`"),
      "\(run)")
    let status = try place.status()
    #expect(status["misspelt"]?.reason == "value")
    #expect(status["no"]?.reason == "if")
    // Tasks skipped by such a value stay skipped.
    let resume = try place.opflow("resume", status: 1)
    #expect(place.lines().count == 4, "\(resume)")
  }

  @Test func `an included task reads by the names of its file`() throws {
    let place = try Workplace(
      """
      include: [{ path: sub.yaml, as: db }]
      tasks:
        last: { needs: db/b, env: { V: "${{ needs.db/b.w }}" }, run: 'echo "last $V" >> trace' }
      """)
    try place.write(
      "sub.yaml",
      """
      tasks:
        a: { run: "echo 1 > $OPFLOW_VALUES/v" }
        b: { needs: a, env: { V: "${{ needs.a.v }}" }, run: 'echo "b $V" >> trace; echo 2 > $OPFLOW_VALUES/w' }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["b 1", "last 2"])
  }
}
