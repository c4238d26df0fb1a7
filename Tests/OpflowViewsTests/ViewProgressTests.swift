import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import Testing

@Suite struct ViewProgressTests {
  private func plan(flags: [String: TaskFlags] = [:]) throws -> Plan {
    try ViewFixture.plan(
      [("fetch", []), ("build", ["fetch"]), ("test", ["build"]), ("publish", ["test"])],
      flags: flags)
  }

  @Test func `line mode tells each start and end, output by whole lines`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    view.output("fetch", "one\ntw")
    view.output("fetch", "o\nlast")
    view.end("fetch", .success, outputBytes: 12)
    view.start("build")
    view.end("build", .retry, .exit(75), wall: 300_000) { $0.delayMilliseconds = 2000 }
    view.start("build", attempt: 2)
    view.output("build", "--- attempt 2 ---\nagain\n")
    view.end("build", .failure, .exit(2), attempt: 2)
    var skip = Transition(.skip(.upstream(view.id("build"))), view.id("test"))
    view.tell(skip)
    skip.task = view.id("publish")
    view.tell(skip)
    #expect(
      view.errorText() == """
        run r1 (demo): 4 tasks
        [0/4] fetch started
        fetch | one
        fetch | two
        fetch | last
        [1/4] fetch succeeded in 1.2s
        [1/4] build started
        [1/4] build failed after 0.30s: exit 75; attempt 2 in 2.0s
        [1/4] build started (attempt 2)
        build | again
        [2/4] build failed after 1.2s (attempt 2): exit 2
          make build
        [3/4] test skipped: build failed
        [4/4] publish skipped: build failed

        """)
    #expect(view.outputText().isEmpty)
  }

  @Test func `the summary has a line for a failure, and all of it if it scrolled away`() throws {
    for mode in [OutputMode.line, .quiet, .group, .live] {
      for isOutOfSight in [false, true] {
        var view = ViewDriver(try plan(), ProgressOptions(mode: mode))
        view.start("fetch")
        view.output("fetch", (1...30).map { "line \($0)\n" }.joined())
        view.end("fetch", .failure, .signal(9), outputBytes: 231)
        if isOutOfSight { for number in 1...24 { view.warning("\(number)") } }
        _ = view.errorText()
        view.wait(5000)
        view.close(.failed, exit: 1)
        let block = """
          fetch failed after 1.2s: signal 9 (KILL)
            make fetch
          \((11...30).map { "  | line \($0)" }.joined(separator: "\n"))
            log: logs/fetch.log
          """
        let line = "fetch failed after 1.2s: signal 9 (KILL), log: logs/fetch.log"
        let logs = mode == .live ? "to see the output of tasks: opflow logs --run r1\n" : ""
        #expect(
          view.errorText() == """

            \(isOutOfSight && (mode == .line || mode == .group) ? block : line)
            pending: build, test, publish
            run r1 failed in 5.0s: 1 failed, 3 pending
            \(logs)to continue: opflow resume r1

            """, "\(mode)")
      }
    }
  }

  @Test func `a failure has its place in the manifest and its command`() throws {
    for columns in [51, 52] {
      var options = ProgressOptions(mode: .quiet)
      options.size = TerminalSize(columns: columns, rows: 24)
      var view = ViewDriver(try plan(), options, standing: "ci/demo.yaml:12")
      view.start("fetch")
      view.output("fetch", "no\n")
      view.end("fetch", .failure, .exit(1), outputBytes: 3)
      view.close(.failed, exit: 1)
      #expect(
        view.errorText().hasPrefix(
          """
          fetch failed after 1.2s: exit 1
            ci/demo.yaml:12: make fetch
            | no
            log: logs/fetch.log

          fetch failed after 1.2s: exit 1\(columns == 51 ? "\n  " : ", ")log: logs/fetch.log
          pending:
          """), "\(columns)")
    }
  }

  @Test(arguments: [OutputMode.line, .group])
  func `a failure that keeps tasks from starting says so if others still run`(
    mode: OutputMode
  ) throws {
    let plan = try ViewFixture.plan([("a", []), ("b", []), ("c", []), ("d", ["a"])])
    var view = ViewDriver(plan, ProgressOptions(mode: mode), maxFailures: 2)
    for name in ["a", "b", "c"] { view.start(name) }
    _ = view.errorText()
    view.end("a", .failure, .exit(1)) { $0.allowed = true }
    view.end("b", .failure, .exit(1))
    #expect(!view.errorText().contains("no further task"))
    var last = ViewDriver(plan, ProgressOptions(mode: mode), maxFailures: 1)
    for name in ["a", "b", "c"] { last.start(name) }
    last.end("b", .failure, .exit(1))
    #expect(last.errorText().hasSuffix("\n[1/4] 1 failed: no further task starts; 2 still run\n"))
    last.end("c", .failure, .exit(1))
    #expect(!last.errorText().contains("no further task"))
  }

  @Test func `the summary names tasks whose dependencies failed`() throws {
    let plan = try ViewFixture.plan([
      ("test", []), ("publish", ["test"]), ("tell", ["publish"]), ("lint", []), ("complain", []),
      ("mail", ["complain"]), ("other", []),
    ])
    var view = ViewDriver(plan, ProgressOptions(mode: .live))
    view.start("lint")
    view.end("lint", .success)
    view.start("test")
    view.end("test", .failure, .exit(1))
    view.tell(Transition(.skip(.condition), view.id("other")))
    // Those are there for a failure that has not come.
    for (name, need) in [
      ("complain", "lint"), ("mail", "complain"), ("publish", "test"), ("tell", "publish"),
    ] {
      view.tell(Transition(.skip(.upstream(view.id(need))), view.id(name)))
    }
    view.close(.failed, exit: 1)
    #expect(view.errorText().contains("\nskipped (dependency failed): publish, tell\nrun r1"))
  }

  @Test func `a run without failures ends in one line`() throws {
    var view = ViewDriver(
      try plan(), ProgressOptions(mode: .quiet), reused: ["fetch", "build"], isResumed: true)
    view.start("test")
    view.end("test", .success)
    view.tell(Transition(.skip(.condition), view.id("publish")))
    view.close(.succeeded)
    #expect(
      view.errorText() == "run r1 succeeded in 0.00s: 1 succeeded, 1 skipped, 2 already done\n")
  }

  @Test func `a resume names the tasks that it re-runs, with the reasons`() throws {
    var view = ViewDriver(
      try plan(), ProgressOptions(mode: .line), reused: ["fetch"], isResumed: true)
    view.tell(Transition(.resume(.changed(.run)), view.id("build")))
    view.tell(Transition(.resume(.afterRerun(view.id("build"))), view.id("test")))
    #expect(
      view.errorText() == """
        resuming r1 (demo): 4 tasks, 1 already done
        [1/4] build: re-run (its `run` changed)
        [1/4] test: re-run (build is re-run)

        """)
  }

  @Test func `a resume of many tasks names twenty and counts the rest`() throws {
    let names = (1...30).map { "t\($0)" }
    var view = ViewDriver(
      try ViewFixture.plan(names.map { ($0, []) }), ProgressOptions(mode: .line), isResumed: true)
    for name in names { view.tell(Transition(.resume(.asked), view.id(name))) }
    view.start("t1")
    let lines = view.errorText().split(separator: "\n")
    #expect(lines.count == 23)
    #expect(lines[21] == "… and 10 more are re-run")
  }

  @Test func `group mode prints a block when a task ends`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .group))
    view.start("fetch")
    view.start("build")
    view.output("fetch", "a\nb\n")
    view.end("fetch", .success, outputBytes: 4)
    view.end("build", .success)
    #expect(
      view.errorText() == """
        run r1 (demo): 4 tasks
        [0/4] fetch started
        [0/4] build started
        [1/4] fetch succeeded in 1.2s
        a
        b

        [2/4] build succeeded in 1.2s

        """)
  }

  @Test func `group mode keeps the last mebibyte and says where the rest is`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .group))
    _ = view.errorText()
    view.start("fetch")
    let line = String(repeating: "x", count: 1023) + "\n"
    view.output("fetch", String(repeating: line, count: 1500))
    view.end("fetch", .success, outputBytes: 1500 * 1024)
    let text = view.errorText()
    #expect(text.utf8.count { $0 == 120 } == 1024 * 1023)
    #expect(text.hasSuffix("(the last 1048576 bytes; full log: logs/fetch.log)\n\n"))
  }

  @Test func `quiet mode shows failures only`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .quiet))
    view.start("fetch")
    view.end("fetch", .success)
    view.start("build")
    view.output("build", "error: x\n")
    view.end("build", .failure, .exit(1), outputBytes: 9)
    view.start("test")
    view.end("test", .failure, .exit(1)) { $0.allowed = true }
    #expect(
      view.errorText() == """
        build failed after 1.2s: exit 1
          make build
          | error: x
          log: logs/build.log

        """)
  }

  @Test func `a stopped task counts as cancelled, a lost one as interrupted`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    view.start("build")
    _ = view.errorText()
    view.end("fetch", .cancel, .signal(15))
    view.end("build", .interrupt, .unknown) {
      $0.outcome.reason = .workerLost
      $0.detail = "no memory"
    }
    view.close(.interrupted, exit: 143, signal: 15)
    #expect(
      view.errorText() == """
        [1/4] fetch cancelled after 1.2s
        [1/4] build interrupted: its worker was lost: no memory
        interrupted: build
        pending: test, publish
        run r1 interrupted by SIGTERM in 0.00s: 1 cancelled, 1 interrupted, 2 pending
        to continue: opflow resume r1

        """)
  }

  @Test func `a task that stays failed since a crash counts as failed`() throws {
    var view = ViewDriver(
      try plan(flags: ["build": .failWhenInterrupted]), ProgressOptions(mode: .line),
      reused: ["fetch"], stillFailed: ["build"], isResumed: true)
    _ = view.errorText()
    view.close(.failed, exit: 1)
    #expect(
      view.errorText() == """

        build failed: interrupted
          make build
          it stays failed (on_interrupted: fail); to run it again:
          opflow resume r1 --rerun build
        pending: test, publish
        run r1 failed in 0.00s: 1 failed, 2 pending, 1 already done
        to continue and run build again (on_interrupted: fail): opflow resume r1 --rerun build

        """)
  }

  @Test func `the summary has a command without --rerun only if that would run a task`() throws {
    for hasOther in [false, true] {
      let others: [(name: String, needs: [String])] = hasOther ? [("lint", [])] : []
      let plan = try ViewFixture.plan(
        [("build", []), ("test", ["build"])] + others, flags: ["build": .failWhenInterrupted])
      var view = ViewDriver(plan, ProgressOptions(mode: .line))
      view.start("build")
      view.end("build", .interrupt, .signal(15)) { $0.outcome.reason = .stopped(.signal) }
      _ = view.errorText()
      view.close(.interrupted, exit: 143, signal: 15)
      let plain = hasOther ? "to continue: opflow resume r1\n" : ""
      #expect(
        view.errorText() == """
          interrupted: build
          pending: test\(hasOther ? ", lint" : "")
          run r1 interrupted by SIGTERM in 0.00s: 1 interrupted, \(hasOther ? 2 : 1) pending
          \(plain)to continue and run build again (on_interrupted: fail): opflow resume r1 --rerun build

          """)
    }
  }

  @Test func `a task that returns from a worker to the queue is not reported`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    _ = view.errorText()
    view.end("fetch", .interrupt, .unknown) { $0.outcome.reason = .revoked }
    #expect(view.errorText() == "")
  }

  @Test func `verbose starts tell the command`() throws {
    for mode in [OutputMode.line, .group] {
      var options = ProgressOptions(mode: mode)
      options.verbose = true
      var view = ViewDriver(try plan(), options)
      _ = view.errorText()
      view.start("fetch")
      #expect(view.errorText() == "[0/4] fetch started\n  make fetch\n")
    }
  }

  @Test func `colour stands around words only`() throws {
    var options = ProgressOptions(mode: .line)
    options.color = true
    var view = ViewDriver(try plan(), options)
    _ = view.errorText()
    view.start("fetch")
    #expect(
      view.errorText() == "\u{1b}[2m[0/4]\u{1b}[0m \u{1b}[36mfetch started\u{1b}[0m\n")
  }

  @Test func `json tells every transition on standard output`() throws {
    var options = ProgressOptions(mode: .quiet)
    options.json = true
    var view = ViewDriver(try plan(), options)
    view.start("fetch")
    view.end("fetch", .retry, .exit(75)) { $0.delayMilliseconds = 10 }
    view.end("fetch", .failure, .unknown, attempt: 2) { $0.outcome.reason = .timeout }
    view.tell(
      Transition(.skip(.upstream(view.id("fetch"))), view.id("build")))
    view.close(.failed, exit: 1)
    let usage =
      #""wall_us":1200000,"user_us":0,"system_us":0,"peak_kib":0,"output_bytes":0"#
    #expect(
      view.outputText() == """
        {"time_ms":1000,"event":"open","run":"r1","name":"demo","tasks":4,"reused":0}
        {"time_ms":1000,"event":"start","task":"fetch","attempt":1}
        {"time_ms":1000,"event":"retry","task":"fetch","attempt":1,"exit":75,"signal":null,\
        \(usage),"delay_ms":10}
        {"time_ms":1000,"event":"failure","task":"fetch","attempt":2,"exit":null,"signal":null,\
        "allowed":false,\(usage),"reason":"timeout"}
        {"time_ms":1000,"event":"skip","task":"build","reason":"upstream","of":"fetch"}
        {"time_ms":1000,"event":"close","run":"r1","state":"failed","exit":1}

        """)
  }

  @Test func `a line that never ends is shown in pieces`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    _ = view.errorText()
    for _ in 0..<20 { view.output("fetch", String(repeating: "y", count: 10_000)) }
    view.end("fetch", .success)
    let text = view.errorText()
    #expect(text.utf8.count { $0 == 121 } == 200_000)
    #expect(text.split(separator: "\n").count == 14)
  }
}
