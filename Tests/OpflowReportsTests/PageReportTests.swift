import Fixtures
import OpflowJournal
import Testing

@testable import OpflowPlan
@testable import OpflowReports

/// A run as a page: its text without scripts, and that only its own script can run.
@Suite struct PageReportTests {
  private func plan() throws -> Plan {
    try ViewFixture.plan([
      ("build", []), ("test", ["build"]), ("package", ["test"]), ("publish", ["package"]),
      ("docs", []),
    ])
  }

  private func failed() throws -> ReportFixture {
    var run = ReportFixture(try plan())
    run.tell(.start, "build") { $0.worker = WorkerID(0) }
    run.tell(.start, "docs") { $0.worker = WorkerID(1) }
    run.tell(.retry, "docs", .exit(7), wall: 500_000)
    run.tell(.success, "build", .success, wall: 2_000_000)
    run.tell(.start, "docs", attempt: 2) { $0.worker = WorkerID(1) }
    run.tell(.start, "test") { $0.worker = WorkerID(0) }
    run.tell(.success, "docs", attempt: 2, .success, wall: 1_500_000)
    run.tell(.failure, "test", .exit(101), wall: 1_000_000)
    for (task, need) in [("package", "test"), ("publish", "package")] {
      run.tell(.skip(.upstream(run.plan.task(named: need) ?? .none)), task, attempt: 0)
    }
    run.close(.failed, exit: 1)
    run.logs["test"] = Array("running\nassertion failed\n".utf8)
    return run
  }

  @Test func `it has the result, reasons and failures without scripts`() throws {
    let page = try TakenPage(failed())
    #expect(page.header.contains("demo ✘ failed"))
    #expect(
      page.header.contains("test failed: exit 101; 2 tasks were skipped because of it."))
    #expect(page.header.contains("5 tasks 2 succeeded 1 failed 2 skipped"))
    #expect(
      page.section("failures")
        == "Failures test exit 101 after 1.0s · 2 tasks were skipped because of it"
        + " make test output; to see all of it: opflow logs --run r1 test running assertion failed")
    #expect(page.section("slowest").contains("build 2.0s"))
    #expect(page.section("retried").contains("docs 2 exit 7 succeeded"))
    #expect(page.section("resume") == "")
    #expect(page.text.contains("<section id=\"tasks\" hidden>"))
  }

  @Test func `its policy lets run what it has and nothing else`() throws {
    let page = try TakenPage(failed())
    let running = page.scripts.filter { !$0.tag.contains("application/json") }
    #expect(running.count == 1)
    let script = try #require(running.first)
    #expect(script.tag == "")
    let policy = PagePolicy.text(script: script.text, style: PageStyle.text)
    #expect(page.text.contains("content=\"\(policy)\""))
    #expect(policy.hasPrefix("default-src 'none'; script-src 'sha256-"))
    #expect(page.text.contains("<style>\(PageStyle.text)</style>"))
    // A style or a handler of an element is none of what the policy lets run; nor is anything
    // fetched. The name of SVG's elements is an address that nobody goes to.
    let text = page.text.replacing("\"http://www.w3.org/2000/svg\"", with: "")
    for word in [" style=\"", " onclick=", "src=\"", "url(", "@import", "http://", "https://"] {
      #expect(!text.contains(word), "\(word)")
    }
  }

  @Test func `what tasks print and are called stays text`() throws {
    let hostile = ReportFixture.hostile
    let name = String(decoding: hostile.filter { $0 != 10 && $0 != 0 }, as: UTF8.self)
    var run = ReportFixture(try ViewFixture.plan([(name, [])]))
    run.tell(.start, name)
    run.tell(.failure, name, .exit(1), wall: 1)
    run.logs[name] = hostile + Array("<script>alert(1)</script><!-- ".utf8)
    let page = try TakenPage(run)
    #expect(page.scripts.filter { !$0.tag.contains("json") }.count == 1)
    #expect(page.data.count == page.scripts.count - 1)
    #expect(page.names.count == 1)
    #expect(page.names.first?.contains("</script>") == true)
    #expect(!page.text.contains("alert(1)</script>"))
    #expect(!page.text.contains("<!--"))
    for scalar in page.text.unicodeScalars {
      let isControl = scalar.value < 32 && scalar != "\n" || scalar.value == 127
      #expect(!isControl && scalar.value != 0x202E)
    }
  }

  @Test func `the data tells of tasks, attempts and dependencies`() throws {
    let page = try TakenPage(failed())
    #expect(page.names == ["build", "test", "package", "publish", "docs"])
    #expect(page.column("states").map { $0 & 15 } == [5, 8, 9, 9, 5])
    let notes = page.data.first?["notes"] as? [String] ?? []
    #expect(
      page.column("why").map { notes[$0] } == [
        "", "exit 101", "skipped: test failed", "skipped: package was skipped", "",
      ])
    #expect(page.data.first?["path"] as? [Int] == [0, 1])
    var task = 0
    var begin = 0
    let tasks = page.column("tries").map { change in
      task += TakenPage.signed(change)
      return task
    }
    let begins = page.column("begins").map { change in
      begin += change
      return begin
    }
    #expect(tasks == [0, 4, 4, 1])
    #expect(begins == [1000, 2000, 5000, 6000])
    #expect(page.column("times") == [3000, 1000, 2000, 2000])
    // `docs` was to be tried again from 3s on, `test` could begin when `build` had ended at 4s.
    #expect(page.column("waits") == [1000, 2000, 2000, 2000])
    #expect(page.column("ends") == [1, 4, 1, 2])
    #expect(page.column("numbers") == [1, 1, 2, 1])
    #expect(page.column("lanes") == [0, 1, 1, 0])
    // How many runs; of each how far back it begins, before its sign and whether it has more.
    #expect(page.column("needs") == [0, 1, 4, 1, 4, 1, 4, 0])
  }

  @Test func `the data has commands of tasks and outcomes of attempts`() throws {
    let page = try TakenPage(failed())
    #expect(
      page.lines("actions", "actionHeads", "actionTails")
        == ["build", "test", "package", "publish", "docs"].map { "make \($0)" })
    let outcomes = page.data.first?["outcomes"] as? [String] ?? []
    #expect(page.column("outcomes").map { outcomes[$0] } == ["", "exit 7", "", "exit 101"])
  }

  @Test func `a task that a stop kept from its next attempt was interrupted`() throws {
    var run = ReportFixture(try ViewFixture.plan([("flaky", []), ("late", ["flaky"])]))
    run.tell(.start, "flaky")
    run.tell(.retry, "flaky", .exit(7), wall: 500_000)
    run.close(.interrupted, exit: 143, signal: 15)
    let page = try TakenPage(run)
    #expect(page.column("states") == [64, 0])
    let notes = page.data.first?["notes"] as? [String] ?? []
    let words = page.column("why").map { notes[$0] }
    #expect(words.first?.contains("attempt 1 of 1 failed: exit 7") == true)
    #expect(page.header.contains("The run was stopped by SIGTERM."))
  }

  @Test func `needs that follow each other are told as one`() throws {
    let names = (0..<30).map { "t\($0)" }
    let all = names.map { ($0, [String]()) } + [("all", names), ("some", ["t3", "t4", "t9"])]
    let page = try TakenPage(ReportFixture(try ViewFixture.plan(all)))
    #expect(page.column("needs").suffix(7) == [1, 121, 29, 2, 113, 1, 10])
  }

  @Test func `the last resume has the kept results and the re-run tasks`() throws {
    var run = try failed()
    run.resume(("test", .failedBefore), ("docs", .changed(nil)), ("package", .skippedBefore))
    run.tell(.start, "docs", attempt: 3) { $0.worker = WorkerID(0) }
    run.tell(.success, "docs", attempt: 3, .success, wall: 1)
    let page = try TakenPage(run)
    #expect(page.section("resume").contains("Session 2 kept the results of 2 tasks"))
    #expect(page.section("resume").contains("failed last time 1 test"))
    #expect(page.section("resume").contains("its definition changed 1 docs"))
    #expect(page.column("states").map { $0 & 16 } == [16, 0, 0, 16, 0])
    // Its opflow process is gone, and the journal has no end.
    #expect(page.header.contains("■ interrupted"))
    #expect(page.header.contains("The run died: its opflow process is gone"))
    #expect(page.header.contains("2 tasks are pending. To continue: opflow resume r1"))
  }

  @Test func `a live run, and one without started tasks, have pages`() throws {
    var run = ReportFixture(try plan())
    run.tell(.start, "build") { $0.worker = WorkerID(0) }
    let page = try TakenPage(run, isHeld: true)
    #expect(page.header.contains("▶ running"))
    #expect(page.header.contains("The run was live when opflow wrote this page"))
    let empty = try TakenPage(ReportFixture(try plan()))
    #expect(empty.section("failures") == "" && empty.section("slowest") == "")
    #expect(empty.column("tries").isEmpty)
  }

  @Test func `numbers have digits of five bits`() {
    var digits = PageDigits()
    for value in [0, 31, 32, 1023, 1 << 40, -5] { digits.add(value) }
    for value in [0, -1, 1, -1000, 1 << 40] { digits.add(signed: value) }
    let numbers = TakenPage.numbers(String(decoding: digits.bytes, as: UTF8.self))
    #expect(numbers.prefix(6) == [0, 31, 32, 1023, 1 << 40, 0])
    #expect(numbers.suffix(5).map(TakenPage.signed) == [0, -1, 1, -1000, 1 << 40])
    #expect(PageDigits.alphabet.count == 64)
  }

  @Test func `a task of many takes few bytes, and none is missing`() throws {
    let count = 5000
    var run = ReportFixture(
      try ViewFixture.plan(
        (0..<count).map { ("build[part=\($0)]", $0 > 0 ? ["build[part=\($0 - 1)]"] : []) }))
    run.stepMilliseconds = 3
    for task in 0..<count {
      run.tell(.start, "build[part=\(task)]") { $0.worker = WorkerID(Int32(task % 8)) }
      run.tell(.success, "build[part=\(task)]", .success, wall: 2000)
    }
    let page = try TakenPage(run)
    #expect(page.names == (0..<count).map { "build[part=\($0)]" })
    #expect(page.column("tries").count == count)
    #expect(page.column("needs").count == 1 + 2 * (count - 1))
    let bytes = page.scripts.filter { $0.tag.contains("json") }.reduce(0) {
      $0 + $1.text.utf8.count
    }
    #expect(bytes < count * 45)
  }

  @Test func `the previous run is compared task by task`() throws {
    var old = ReportFixture(
      try ViewFixture.plan([
        ("build", []), ("test", ["build"]), ("docs", []), ("lint", []), ("slow", []), ("gone", []),
      ]))
    for (task, wall) in [("build", 1_000_000), ("docs", 400_000), ("slow", 90_000)] {
      old.tell(.success, task, .success, wall: Int64(wall))
    }
    old.tell(.failure, "test", .exit(1), wall: 5)
    old.tell(.failure, "lint", .exit(1), wall: 5)
    old.close(.failed, exit: 1)
    var now = ReportFixture(
      try ViewFixture.plan([
        ("build", []), ("test", ["build"]), ("docs", []), ("lint", []), ("slow", []), ("new", []),
      ]))
    for (task, wall) in [("build", 3_000_000), ("test", 7), ("slow", 95_000), ("new", 1)] {
      now.tell(.success, task, .success, wall: Int64(wall))
    }
    now.tell(.failure, "docs", .exit(1), wall: 100_000)
    now.tell(.failure, "lint", .exit(1), wall: 5)
    now.close(.failed, exit: 1)
    let page = try TakenPage(now, before: old)
    let text = page.section("before-now")
    #expect(text.contains("failed after 5.0s: 3 succeeded, 2 failed, 1 pending."))
    #expect(text.contains("New failures (1) docs"))
    #expect(text.contains("Fixed (1) test"))
    #expect(text.contains("Failed in both runs (1) lint"))
    #expect(text.contains("New in the manifest (1) new"))
    #expect(text.contains("1 task of that run is no longer in the manifest."))
    // Five milliseconds more of ninety are too few, and the times of failures do not count.
    #expect(text.hasSuffix("task before now change build 1.0s 3.0s +2.0s"))
    #expect(page.column("before") == [1001, 1, 401, 1, 91, 0])
    #expect(try TakenPage(now).column("before").isEmpty)
  }

  @Test func `times that no run has make a page all the same`() throws {
    let wall: Int64 = 900_000_000_000_000_000
    var run = ReportFixture(try plan())
    for task in ["build", "test", "docs"] { run.tell(.success, task, .success, wall: wall) }
    let page = try TakenPage(run, before: run)
    #expect(page.section("slowest").contains("build 10416666d16h"))
    #expect(
      page.column("before") == [
        Int(wall / 1000) + 1, Int(wall / 1000) + 1, 0, 0, Int(wall / 1000) + 1,
      ])
  }

  @Test func `base 64 has its padding`() {
    let texts = ["", "f", "fo", "foo", "foob", "fooba", "foobar"]
    #expect(
      texts.map { PagePolicy.base64(Array($0.utf8)) } == [
        "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
      ])
  }
}
