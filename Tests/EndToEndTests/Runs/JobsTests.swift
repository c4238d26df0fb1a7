import Foundation
import Testing

/// Runs the manifests in `jobs`, without `jobs/features`: each does what its comment says.
struct JobsTests {
  private func place(_ job: String) throws -> Workplace { try .ofJob(job) }

  @Test func `every manifest in the folder is tested here`() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Program.package + "/jobs")
    let names = files.filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }
    #expect(
      names.sorted() == [
        "c-library", "dev", "downloads", "headers", "inbox", "index", "integration", "licences",
        "nightly", "quickstart", "release", "samples", "sweep",
      ])
  }

  @Test func `the quickstart counts the primes`() throws {
    let place = try place("quickstart.yaml")
    let run = try place.opflow("run")
    #expect(run.errors.contains("78498"))
    let starts = try place.journal().filter { $0.event == "start" }.map(\.task)
    #expect(Array(starts.prefix(2)) == ["prepare", "flaky"])
    #expect(try place.status()["flaky"]?.attempts == 2)
  }

  @Test func `the index of the C headers equals the count of a single pass`() throws {
    let place = try place("index.yaml")
    try place.opflow("run", "--output", "quiet")
    let status = try place.status()
    #expect(status.counts["succeeded"] == 90)
    #expect(try place.log("verify").contains("the single pass counted"))
    #expect(place.exists("out/index/words"))
    #expect(!place.exists("out/index/count-0"))
  }

  @Test func `all kernel headers have a result after an interruption`() throws {
    let place = try place("headers.yaml")
    let live = try place.start("run", "--output", "line")
    try live.waitForError("shard-7")
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    let done = try place.journal().filter { $0.event == "success" }.map(\.task)
    #expect(done.contains("list"))
    try place.opflow("resume", "--output", "quiet")
    let successes = try place.journal().filter { $0.event == "success" }.map(\.task)
    #expect(Set(successes).count == 35)
    #expect(successes.count == 35, "a success was repeated")
  }

  @Test func `every licence text is counted once, and is up to date in the second run`() throws {
    let place = try place("licences.yaml")
    try place.opflow("run")
    let texts = place.lines("out/licences/texts")
    #expect(texts.count > 5)
    for text in texts { #expect(try place.status()["count[text=\(text)]"]?.state == "succeeded") }
    #expect(place.lines("out/licences/all").first?.hasSuffix(" the") == true)
    let again = try place.opflow("run")
    #expect(again.errors.contains("\(texts.count + 2) up to date"), "\(again)")
  }

  @Test func `the sweep estimates pi`() throws {
    let place = try place("sweep.yaml")
    try place.opflow("run", "--output", "quiet")
    let estimate = try #require(Double(place.text("out/sweep/pi").dropLast()))
    #expect(abs(estimate - Double.pi) < 0.01)
    #expect(try place.log("estimate").contains("200 tasks on "))
  }

  @Test func `the release waits for approvals and for its bench`() throws {
    let place = try place("release.yaml")
    let run = try place.start("run")
    try run.waitForError("begin asks for approval: ")
    #expect(
      try place.opflow("status").output.contains(
        "asks for approval: Begin the release of the sorted word list?"))
    #expect(try place.opflow("parallel", "bench=0").output == "limit of bench is now 0\n")
    #expect(try place.opflow("approve", "begin").output == "approved 1 task\n")
    try place.waitForJournal { $0.contains { $0.event == "success" && $0.task == "build" } }
    #expect(
      try place.opflow("why", "tag:bench").output.contains("needs 1 of bench; its limit is 0"))
    #expect(try !place.journal().contains { $0.event == "start" && $0.task.hasPrefix("measure") })
    #expect(try place.opflow("parallel", "bench=1").output == "limit of bench is now 1\n")
    try place.waitForJournal { $0.contains { $0.event == "start" && $0.task == "publish" } }
    #expect(try place.opflow("approve", "publish").output == "approved 1 task\n")
    #expect(try run.finish().status == 0)
    #expect(try place.bytes("out/published/words") == place.bytes("out/release/words"))
    #expect(!place.exists("out/aside"))
    // One measurement at a time: each ends before the next starts.
    let lines = try place.journal().filter { $0.task.hasPrefix("measure") }.map(\.event)
    #expect(lines == ["start", "success", "start", "success", "start", "success"])
  }

  @Test func `a rejected release is set aside`() throws {
    let place = try place("release.yaml")
    let run = try place.start("run")
    try run.waitForError("begin asks for approval: ")
    try place.opflow("approve", "begin")
    try place.waitForJournal { $0.contains { $0.event == "start" && $0.task == "publish" } }
    #expect(try place.opflow("reject", "publish").output == "rejected 1 task\n")
    #expect(try run.finish().status == 1)
    #expect(place.exists("out/aside/words"))
    #expect(!place.exists("out/published"))
  }

  @Test func `a new row of samples runs its own matrix tasks and the summary`() throws {
    let place = try place("samples.yaml")
    try place.opflow("run", "--output", "quiet")
    #expect(try place.log("summary") == "3 samples, 75000 events\n")
    let valueTable = try place.text("samples/samples.tsv")
    try place.write("samples/samples.tsv", valueTable + "east\t17\t1000\t32MiB\t30s\n")
    try place.opflow("resume", "--output", "quiet")
    #expect(try place.log("summary").hasSuffix("4 samples, 76000 events\n"))
    let ended = try place.journal().filter { $0.event == "success" }.map(\.task)
    let again = ended.dropFirst(16).filter { $0 != "summary" }
    #expect(again.count == 5, "\(again)")
    #expect(again.allSatisfy { $0.contains("sample=east") }, "\(again)")
  }

  @Test func `each log in the inbox is packed once, even if the queue is killed`() throws {
    let place = try place("inbox.yaml")
    func put(_ name: String, lines: Int) throws {
      let text = (0..<lines).map { "\(name) \($0)\n" }.joined()
      try place.write("out/inbox/in/\(name)", text)
    }
    func feed(status: Int32 = 0) throws {
      try place.shell("python3 inbox/feed.py --once --opflow $opflow", status: status)
    }
    let queue = try place.start("serve", "opflow.yaml", "--name", "inbox")
    try queue.waitForError("the queue is open")
    try put("app.log", lines: 5000)
    try put("with 'odd' \"${{ name }}\".log", lines: 3)
    try put(".half.log", lines: 1)
    try feed()
    try place.opflow("wait", "inbox", "--for", "pack-app.*")
    queue.send(SIGKILL)
    _ = try queue.finish()
    try put("app.log", lines: 20)
    // The queue is down; the log is moved all the same.
    try feed()
    let again = try place.start("resume", "inbox")
    try again.waitForError("resuming")
    try feed()
    try place.opflow("close", "--run", "inbox")
    let end = try again.finish()
    #expect(end.status == 0, "\(end)")
    #expect(place.entries("out/inbox/in") == [".half.log"])
    #expect(place.entries("out/inbox/taken").isEmpty)
    let index = place.lines("out/inbox/index").map { $0.split(separator: " ") }
    #expect(index.map { $0[1] } == ["5000", "20", "3"], "\(index)")
    #expect(
      index.allSatisfy { $0[0].wholeMatch(of: /(app|with-odd-name-.log)\S*\.gz/) != nil },
      "\(index)")
    let packed = try place.journal().filter { $0.event == "success" && $0.task != "index" }
    #expect(Set(packed.map(\.task)).count == 3 && packed.count == 3)
  }

  @Test(.enabled(if: PackageSources.areReachable))
  func `the C library is built with two compilers in two modes, tested and packed`() throws {
    let place = try place("c-library.yaml")
    let run = try place.opflow("run", "--output", "group")
    #expect(try place.status().counts["succeeded"] == 20, "\(run)")
    let packages = place.entries("out/c-library/packages")
    #expect(packages.count == 2)
    #expect(packages.allSatisfy { $0.hasPrefix("zlib-1.") }, "\(packages)")
    #expect(try place.log("report").split(separator: "\n").count == 7)

    let again = try place.opflow("run", "--output", "line")
    #expect(again.errors.contains("20 up to date"), "\(again)")
    #expect(!again.errors.contains("started"), "\(again)")
    try place.shell("rm out/c-library/packages/*-gcc.tar.gz")
    let packed = try place.opflow("run", "--output", "line")
    #expect(Self.started(packed) == ["pack[cc=gcc]", "report"], "\(packed)")
    #expect(place.entries("out/c-library/packages") == packages)
  }

  /// The tasks that a run started, by its output, sorted.
  private static func started(_ run: Finished) -> [String] {
    run.errors.matches(of: /(?m)^\[[ \d\/]+\] (\S+) started/).map { String($0.1) }.sorted()
  }

  @Test func `a night processes only its new data`() throws {
    let place = try place("nightly.yaml")
    func night(_ count: Int) throws -> (run: Finished, requests: [String]) {
      let server = try place.startShell(
        "exec python3 \(Program.package)/jobs/serve.py --port 0 --speed 0 --nights \(count)")
      try server.waitForOutput("\n")
      let words: [Substring] = server.outputText.split(separator: " ")
      let address: Substring = words.last?.dropLast() ?? ""
      try place.shell("curl -fsS -o nightly/nights.tsv \(address)/nights.tsv")
      let run = try place.opflow("run", "--output", "line", "--set", "server=\(address)")
      server.send(SIGTERM)
      _ = try server.finish()
      // A transfer that stalls on a busy machine may be asked for again.
      let files = Set(server.outputText.matches(of: /GET \/nights\/(\S+)\.csv/).map(\.1))
      let names: [String] = files.map { String($0) }
      return (run, names.sorted())
    }
    let days: [String] = (1...5).map { "2026-03-0\($0)" }
    let fetches: [String] = days.map { "fetch[night=\($0)]" }
    let first = try night(3)
    #expect(first.requests == Array(days[..<3]), "\(first)")
    #expect(first.run.errors.contains("9 succeeded"), "\(first)")
    let published = try place.text("out/nightly/published/means")
    #expect(published.split(separator: "\n").count == 8)

    // opflow checks the existing files and sends no request.
    let second = try night(3)
    #expect(second.requests == [])
    #expect(Self.started(second.run) == Array(fetches[..<3]), "\(second)")
    #expect(second.run.errors.contains("3 succeeded, 6 up to date"), "\(second)")

    // An implausible night is counted, but not published.
    let bad = try night(4)
    #expect(bad.requests == [days[3]])
    var tasks: [String] = ["count[night=\(days[3])]"]
    tasks += fetches[..<4]
    tasks += ["judge", "merge"]
    #expect(Self.started(bad.run) == tasks, "\(bad)")
    #expect(bad.run.errors.contains("publish skipped: its `if` is false"), "\(bad)")
    #expect(try place.text("out/nightly/published/means") == published)

    let good = try night(5)
    #expect(good.requests == [days[4]])
    tasks = ["count[night=\(days[4])]"]
    tasks += fetches
    tasks += ["judge", "merge", "publish"]
    #expect(Self.started(good.run) == tasks, "\(good)")
    #expect(try place.bytes("out/nightly/published/means") == place.bytes("out/nightly/means"))
    #expect(try place.text("out/nightly/published/means") != published)
  }

  @Test func `interrupted downloads continue with the missing bytes`() throws {
    let place = try place("downloads.yaml")
    let server = try place.startShell(
      "exec python3 \(Program.package)/jobs/serve.py --port 0 --speed 2000000")
    try server.waitForOutput("\n")
    let address = server.outputText.split(separator: " ").last.map { $0.dropLast() } ?? ""
    let live = try place.start("run", "--output", "line", "--set", "server=\(address)")
    try live.waitForError("] north: ")
    try live.waitForError("] south: ")
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    #expect(place.exists("out/downloads/north.tar.part"))
    #expect(!place.exists("out/downloads/north.tar"))
    #expect(try place.opflow("status").output.contains("MiB kept"))

    let resumed = try place.opflow("resume", "--output", "line")
    for task in ["north", "south"] {
      let success = try place.journal().last { $0.event == "success" && $0.task == task }
      let from = try #require(success?.values["from"])
      #expect(try #require(Int(from)) > 0)
      #expect(success?.values["size"] == "5048320")
      try server.waitForOutput("\"GET /\(task).tar HTTP/1.1\" 206 - bytes=\(from)-")
      #expect(resumed.errors.contains("resumed at "), "\(resumed)")
    }
    #expect(resumed.errors.contains("from \(address)/south.tar"))
    #expect(try place.log("report").contains("north 8 stations 600000 rows"))

    try place.remove("out/downloads/north.tar")
    let again = try place.opflow("resume", "--output", "line")
    #expect(again.errors.contains("north: re-run (an output is missing)"), "\(again)")
    #expect(again.errors.contains("verify: re-run (north is re-run)"), "\(again)")
    #expect(!again.errors.contains("south: re-run"), "\(again)")
    #expect(place.exists("out/downloads/north.tar"))
  }
}
