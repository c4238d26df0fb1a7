import Fixtures
import OpflowJournal
import OpflowPlan
import OpflowReports
import Testing

/// Test results as other programs read them.
@Suite struct JUnitTests {
  private func text(_ fixture: ReportFixture, isHeld: Bool = false) throws -> String {
    String(decoding: try bytes(fixture, isHeld: isHeld), as: UTF8.self)
  }

  private func bytes(_ fixture: ReportFixture, isHeld: Bool = false) throws -> [UInt8] {
    var report = JUnitReport(try fixture.status(isHeld: isHeld), output: fixture.output)
    var bytes: [UInt8] = []
    while let piece = report.nextPiece() { bytes += piece }
    return bytes
  }

  @Test func `a task that a stop kept from its next attempt is interrupted, with its attempts`()
    throws
  {
    var run = ReportFixture(try ViewFixture.plan([("flaky", [])]))
    run.tell(.start, "flaky")
    run.tell(.retry, "flaky", .exit(1), wall: 1000)
    run.tell(.start, "flaky", attempt: 2)
    run.tell(.retry, "flaky", attempt: 2, .exit(2), wall: 1000)
    let running = try text(run, isHeld: true)
    #expect(
      running.contains(
        #"<skipped message="waits for its next attempt; attempt 2 of 1 failed: exit 2" "#
          + #"type="pending"/>"#),
      "\(running)")
    run.close(.interrupted, exit: 143, signal: 15)
    let text = try text(run)
    #expect(text.contains(#"errors="1""#), "\(text)")
    let message =
      "interrupted before its next attempt; a resume re-runs it; attempt 2 of 1 failed: exit 2"
    #expect(text.contains("<error message=\"\(message)\" type=\"interrupted\">"), "\(text)")
    #expect(text.contains(#"<rerunFailure message="attempt 1: exit 1" type="exit"/>"#), "\(text)")
    #expect(text.contains(#"<rerunFailure message="attempt 2: exit 2" type="exit"/>"#), "\(text)")
  }

  private func plan() throws -> Plan {
    try ViewFixture.plan([
      ("fetch", []), ("build", []), ("flaky", []), ("lib/lint", []), ("soft", []),
      ("late", ["build"]),
      ("cut", []), ("lost", []), ("off", []), ("open", []),
    ])
  }

  private func run() throws -> ReportFixture {
    var run = ReportFixture(try plan())
    run.tell(.start, "fetch")
    run.tell(.success, "fetch", .success, wall: 1_234_567)
    run.tell(.start, "build")
    run.tell(.retry, "build", .exit(2), wall: 1000)
    run.tell(.start, "build", attempt: 2)
    run.tell(.failure, "build", attempt: 2, .signal(9), wall: 20_000)
    run.logs["build"] = Array("first\n--- attempt 2 ---\nsecond\n".utf8)
    run.tell(.start, "flaky")
    run.tell(.retry, "flaky", .exit(75), .timeout)
    run.tell(.start, "flaky", attempt: 2)
    run.tell(.success, "flaky", attempt: 2, .success, wall: 5000)
    run.tell(.skip(.condition), "lib/lint", attempt: 0)
    run.tell(.start, "soft")
    run.tell(.failure, "soft", .exit(4)) { $0.allowed = true }
    run.tell(.skip(.upstream(run.plan.task(named: "build") ?? .none)), "late", attempt: 0)
    run.tell(.start, "cut")
    run.tell(.interrupt, "cut", .signal(15), .stopped(.signal))
    run.tell(.start, "lost")
    run.tell(.failure, "lost", .unknown, .workerLost)
    run.tell(.start, "off")
    run.tell(.cancel, "off", .signal(15), .stopped(.cancel))
    run.close(.failed, exit: 1)
    return run
  }

  @Test func `each end of a task is told in the words of the dialect`() throws {
    #expect(
      try text(run()) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="demo" tests="10" failures="1" errors="3" time="20.000">
          <testsuite name="demo" tests="9" failures="1" errors="3" skipped="3" time="1.259" timestamp="2026-01-02T03:04:05Z">
            <properties>
              <property name="opflow.run" value="r1"/>
            </properties>
            <testcase classname="demo" name="fetch" time="1.234"/>
            <testcase classname="demo" name="build" time="0.020">
              <failure message="signal 9 (KILL)" type="signal">signal 9 (KILL)
        second
        </failure>
              <rerunFailure message="attempt 1: exit 2" type="exit"/>
            </testcase>
            <testcase classname="demo" name="flaky" time="0.005">
              <flakyFailure message="attempt 1: timeout" type="timeout"/>
            </testcase>
            <testcase classname="demo" name="soft" time="0.000">
              <skipped message="failed (allowed): exit 4" type="allowed"/>
            </testcase>
            <testcase classname="demo" name="late" time="0.000">
              <skipped message="skipped: build failed" type="skipped"/>
            </testcase>
            <testcase classname="demo" name="cut" time="0.000">
              <error message="interrupted; a resume re-runs it" type="interrupted">interrupted; a resume re-runs it
        </error>
            </testcase>
            <testcase classname="demo" name="lost" time="0.000">
              <error message="its worker was lost" type="worker-lost">its worker was lost
        </error>
            </testcase>
            <testcase classname="demo" name="off" time="0.000">
              <error message="cancelled" type="cancelled">cancelled
        </error>
            </testcase>
            <testcase classname="demo" name="open" time="0.000">
              <skipped message="not started: the run ended first" type="pending"/>
            </testcase>
          </testsuite>
          <testsuite name="demo.lib" tests="1" failures="0" errors="0" skipped="1" time="0.000" timestamp="2026-01-02T03:04:05Z">
            <properties>
              <property name="opflow.run" value="r1"/>
            </properties>
            <testcase classname="demo.lib" name="lib/lint" time="0.000">
              <skipped message="skipped: its `if` is false" type="skipped"/>
            </testcase>
          </testsuite>
        </testsuites>

        """)
  }

  @Test func `the published schema takes it`() throws {
    let read = JUnitSchema.read(try bytes(run()))
    #expect(read.faults == [])
    #expect(read.tests.count == 10)
    #expect(read.tests["demo build"] == ["failure", "rerunFailure"])
    #expect(read.tests["demo flaky"] == ["flakyFailure"])
  }

  @Test func `the rules find what breaks them`() throws {
    let sound = try text(run())
    for (part, other) in [
      ("type=\"exit\"/>", "/>"), ("tests=\"9\"", "tests=\"8\""), ("\"lost\"", "\"cut\""),
      ("<properties>", "<properties>x"), ("time=\"1.259\"", "time=\"1.2s\""), ("&#", "&"),
      ("classname=", "file="), ("second", "\u{1b}[0m"),
    ] where sound.contains(part) {
      let broken = JUnitSchema.read(Array(sound.replacing(part, with: other).utf8))
      #expect(!broken.faults.isEmpty, "\(part)")
    }
  }

  @Test func `hostile text is text`() throws {
    var run = ReportFixture(try plan())
    run.tell(.start, "build")
    run.tell(.failure, "build", .unknown, .refused) {
      $0.detail = String(decoding: ReportFixture.hostile, as: UTF8.self) + "\u{FFFF}\tx\ny"
    }
    run.logs["build"] = ReportFixture.hostile
    run.close(.failed, exit: 1)
    let bytes = try bytes(run)
    let read = JUnitSchema.read(bytes)
    #expect(read.faults == [])
    #expect(read.texts.joined().contains("red link ]]> </script> &amp; <failure> \"abc"))
    #expect(read.texts.joined().contains("::error file=a::x\n ##[add-mask]y\n"))
    #expect(!bytes.contains { $0 < 32 && $0 != 10 || $0 == 127 })
    #expect(!String(decoding: bytes, as: UTF8.self).contains("\u{202e}"))
  }

  @Test func `of much output the end is told, in lines where there are any`() throws {
    var run = ReportFixture(try plan())
    for name in ["build", "fetch"] {
      run.tell(.start, name)
      run.tell(.failure, name, .exit(1))
    }
    run.logs["build"] = Array(String(repeating: "0123456789\n", count: 10_000).utf8)
    run.logs["fetch"] = Array(repeating: UInt8(ascii: "x"), count: 200_000)
    run.close(.failed, exit: 1)
    let text = try text(run)
    #expect(
      text.contains("exit 1\n(the last 65527 bytes; full log: logs/build.log)\n0123456789\n"))
    #expect(text.contains("exit 1\n(the last 65536 bytes; full log: logs/fetch.log)\nxxx"))
    #expect(text.utf8.count < 140_000)
  }

  @Test func `attempts before a resume do not count`() throws {
    var run = try run()
    run.tell(.resume(.failedBefore), "build", attempt: 0)
    run.tell(.start, "build", attempt: 3)
    run.tell(.success, "build", attempt: 3, .success, wall: 1000)
    #expect(try text(run).contains("<testcase classname=\"demo\" name=\"build\" time=\"0.001\"/>"))
  }

  @Test func `running and waiting tasks of a live run are not failures`() throws {
    var run = ReportFixture(try plan())
    run.tell(.start, "build")
    let text = try text(run, isHeld: true)
    #expect(text.contains("<skipped message=\"still running\" type=\"running\"/>"))
    #expect(text.contains("<skipped message=\"not started: it waits\" type=\"pending\"/>"))
    // Its opflow process is gone, so running tasks were interrupted.
    #expect(try self.text(run).contains("<error message=\"interrupted"))
  }
}
