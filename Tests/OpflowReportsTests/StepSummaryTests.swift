import Fixtures
import OpflowJournal
import OpflowPlan
import OpflowReports
import Testing

/// What GitHub shows of a step, and what `--notify` tells.
@Suite struct StepSummaryTests {
  private func run() throws -> ReportFixture {
    var run = ReportFixture(
      try ViewFixture.plan([("fetch", []), ("build", []), ("flaky", []), ("rest", ["build"])]))
    run.tell(.start, "fetch")
    run.tell(.success, "fetch", .success, wall: 3_200_000)
    run.tell(.start, "flaky")
    run.tell(.retry, "flaky", .exit(75))
    run.tell(.start, "flaky", attempt: 2)
    run.tell(.success, "flaky", attempt: 2, .success, wall: 5_000_000)
    run.tell(.start, "build")
    run.tell(.failure, "build", .exit(2), wall: 100_000)
    run.logs["build"] = Array("one\n``` <b>two\n".utf8)
    run.close(.failed, exit: 1)
    return run
  }

  private func text(_ run: ReportFixture, atMost room: Int = 1 << 20) throws -> String {
    let summary = StepSummary(
      try run.status(), resumeCommand: "opflow resume r1", output: run.output)
    return String(decoding: summary.text(atMost: room), as: UTF8.self)
  }

  @Test func `it has the result, failures, retried tasks and the slowest tasks`() throws {
    #expect(
      try text(run()) == """
        ### <code>demo</code> failed

        2 succeeded, 1 failed, 1 pending in 8.0s, run <code>r1</code>

        Not started: <code>rest</code>.

        To continue: <code>opflow resume r1</code>

        <details open><summary><code>build</code>: exit 2 after 0.10s</summary>

        ````text
        one
        ``` <b>two
        ````

        <code>logs/build.log</code>

        </details>

        #### Flaky

        | task | attempts | last failed attempt |
        | --- | ---: | --- |
        | <code>flaky</code> | 2 | exit 75 |

        #### Slowest

        | task | time |
        | --- | ---: |
        | <code>flaky</code> | 5.0s |
        | <code>fetch</code> | 3.2s |
        | <code>build</code> | 0.10s |

        """)
  }

  @Test func `it names allowed failures, and tasks that failed in all attempts`() throws {
    var run = try run()
    run.tell(.start, "rest")
    run.tell(.retry, "rest", .exit(75))
    run.tell(.start, "rest", attempt: 2)
    run.tell(.failure, "rest", attempt: 2, .exit(4)) { $0.allowed = true }
    run.close(.failed, exit: 1)
    #expect(
      try text(run).contains(
        """

        #### Failed (allowed)

        | task | outcome |
        | --- | --- |
        | <code>rest</code> | exit 4 |

        #### Flaky

        | task | attempts | last failed attempt |
        | --- | ---: | --- |
        | <code>flaky</code> | 2 | exit 75 |

        #### Retried

        | task | attempts | last failed attempt |
        | --- | ---: | --- |
        | <code>rest</code> | 2 | exit 75 |

        """))
  }

  @Test func `hostile text stays within its block`() throws {
    var run = try run()
    run.tell(.start, "rest")
    run.tell(.failure, "rest", .unknown, .refused) {
      $0.detail = "`</code>|<script>@all **x**\n# y"
    }
    run.logs["build"] = ReportFixture.hostile + Array("`````\n~~~\n</details>\n".utf8)
    let text = try text(run)
    #expect(text.contains("\n``````text\nred link ]]>"))
    #expect(text.contains("\n</details>\n``````\n"))
    #expect(!text.contains("<script>") && !text.contains("**x**") && !text.contains("\u{1b}"))
    #expect(text.contains("&#60;script&#62;&#64;all"))
  }

  @Test func `it keeps to its room, and says how much more there is`() throws {
    let names = (0..<200).map { "t\($0)" }
    var run = ReportFixture(try ViewFixture.plan(names.map { ($0, []) }))
    for name in names {
      run.tell(.start, name)
      run.tell(.failure, name, .exit(1), wall: 1000)
      run.logs[name] = Array(repeating: UInt8(ascii: "x"), count: 9000)
    }
    run.close(.failed, exit: 1)
    for room in [900 << 10, 50_000, 2000, 100, 0] {
      let text = try text(run, atMost: room)
      #expect(text.utf8.count <= room)
      if room > 1000 {
        let none = "\n200 failures, too long for this summary\n"
        let rest = text.contains("<details") ? " more failures\n" : none
        #expect(text.contains(rest) && text.contains("#### Slowest"), "\(room)")
      }
    }
    #expect(try text(run, atMost: 900 << 10).utf8.count > 880_000)
  }

  @Test func `for a stopped run it has the signal, unfinished tasks and how to continue`() throws {
    var run = ReportFixture(
      try ViewFixture.plan([("a", []), ("flaky", []), ("b", ["a"]), ("done", [])]))
    run.tell(.start, "done")
    run.tell(.success, "done", .success, wall: 1000)
    run.tell(.start, "flaky")
    run.tell(.retry, "flaky", .exit(1), wall: 1000)
    run.tell(.start, "a")
    run.tell(.interrupt, "a", .signal(15), .stopped(.signal))
    run.close(.interrupted, exit: 143, signal: 15)
    let text = try text(run)
    #expect(
      text.hasPrefix(
        """
        ### <code>demo</code> interrupted

        1 succeeded, 3 pending in 6.0s, run <code>r1</code>

        The run was stopped by SIGTERM.

        Interrupted: <code>a</code>, <code>flaky</code>.

        Not started: <code>b</code>.

        To continue: <code>opflow resume r1</code>

        """), "\(text)")
  }

  @Test func `the time between two sessions does not count`() throws {
    var run = try run()
    run.wait(86_400_000)
    run.resume(("build", .failedBefore))
    run.tell(.start, "build", attempt: 2)
    run.tell(.success, "build", attempt: 2, .success, wall: 1_000_000)
    run.close(.succeeded, exit: 0)
    #expect(try text(run).contains("3 succeeded, 1 pending in 11.0s in 2 sessions, run"))
  }

  @Test func `notify is told in one object`() throws {
    let status = try run().status()
    let bytes = SessionSummary.text(status, resumeCommand: "opflow resume r1") {
      $0.index == 1 ? "/logs/build.log" : nil
    }
    #expect(
      String(decoding: bytes, as: UTF8.self) == #"""
        {"run":"r1","name":"demo","manifest":"/srv/project/opflow.yaml","state":"failed","exit":1,"signal":null,"started_ms":1767323045000,"ended_ms":1767323053000,"counts":{"pending":1,"running":0,"suspended":0,"asking":0,"succeeded":2,"failed":1,"failed_allowed":0,"skipped":0,"cancelled":0,"up_to_date":0},"failed":[{"id":"build","attempts":1,"exit":2,"signal":null,"what":"exit 2","log":"/logs/build.log"}],"resume":"opflow resume r1"}

        """#)
  }
}
