import Fixtures
import OpflowBase
import OpflowJournal
import OpflowPlan
import OpflowViews
import OpflowWire
import Testing

/// Downloads in views: lines, notes for other processes, what a journal keeps.
@Suite struct ViewDownloadTests {
  private static let mebibyte: Int64 = 1 << 20

  private func plan() throws -> Plan {
    try ViewFixture.plan(
      [("fetch", []), ("other", []), ("build", ["fetch"])],
      downloads: [
        "fetch": ["http://example.org/file", "http://mirror.example.org/file"],
        "other": ["http://example.org/other"],
      ])
  }

  private func fetched(
    size: Int64, resumed: Int64 = 0, url: String = "http://example.org/file",
    isKept: Bool = false
  ) -> FetchRecord {
    var report = FetchReport()
    report.sizeBytes = size
    report.resumedBytes = resumed
    report.isKept = isKept
    report.url = url
    report.source = 7
    report.sha256 = String(repeating: "ab", count: 32)
    return FetchRecord(report)
  }

  @Test func `a long download is told after a second, then now and then`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    _ = view.errorText()
    for tenth in 1...700 {
      view.wait(100)
      view.download(
        "fetch", done: Int64(tenth) * Self.mebibyte, of: 1000 * Self.mebibyte,
        speed: 10 * Self.mebibyte, resumed: 50 * Self.mebibyte)
    }
    let lines = view.errorText().split(separator: "\n")
    #expect(
      lines[0]
        == "[0/3] fetch: 10.0MiB of 1000.0MiB (1%), resumed at 50.0MiB, 10.0MiB/s, 1m39s left")
    #expect(lines[1] == "[0/3] fetch: 60.0MiB of 1000.0MiB (6%), 10.0MiB/s, 1m34s left")
    #expect(lines.count == 12)
  }

  @Test func `a download whose length nobody knows tells its bytes`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    _ = view.errorText()
    view.wait(999)
    view.download("fetch", done: 512, speed: 512)
    #expect(view.errorText() == "")
    view.wait(1)
    view.download("fetch", done: 600, speed: 512)
    #expect(view.errorText() == "[0/3] fetch: 600B, 512B/s\n")
  }

  @Test func `progress of what does not run is nothing`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    _ = view.errorText()
    view.wait(5000)
    view.download("fetch", done: 5, of: 10)
    #expect(view.errorText() == "")
  }

  @Test func `the end tells size, speed, where it went on and where it came from`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    view.start("other")
    _ = view.errorText()
    view.end("fetch", .success, attempt: 2, wall: 10_000_000) {
      $0.fetch = fetched(
        size: 200 * Self.mebibyte, resumed: 50 * Self.mebibyte,
        url: "http://mirror.example.org/file")
    }
    view.end("other", .success, wall: 1000) {
      $0.fetch = fetched(size: 10, url: "", isKept: true)
    }
    view.close(.succeeded)
    #expect(
      view.errorText() == """
        [1/3] fetch succeeded in 10.0s (attempt 2): 200.0MiB at 15.0MiB/s, resumed at 50.0MiB, \
        from http://mirror.example.org/file
        [2/3] other succeeded in 0.00s: 10B, already there
        pending: build
        downloaded: 2 files, 150.0MiB fetched, 50.0MiB resumed, 1 already there
        run r1 succeeded in 0.00s: 2 succeeded, 1 pending

        """)
  }

  @Test func `a failure has its duration, then the error of each source`() throws {
    var view = ViewDriver(try plan(), ProgressOptions(mode: .line))
    view.start("fetch")
    _ = view.errorText()
    view.end("fetch", .retry, .unknown, attempt: 2, wall: 300_000) {
      $0.outcome.reason = .fetch
      $0.detail = "http://example.org/file: answered 503; http://mirror/: no connection"
      $0.delayMilliseconds = 2000
    }
    view.end("fetch", .failure, .unknown, wall: 0) {
      $0.outcome.reason = .fetchFinal
      $0.outcome.errorNumber = 28
      $0.detail = "cannot write /x: No space left on device"
    }
    #expect(
      view.errorText() == """
        [0/3] fetch failed after 0.30s (attempt 2): http://example.org/file: answered 503; \
        http://mirror/: no connection; attempt 3 in 2.0s
        [1/3] fetch failed: cannot write /x: No space left on device

        """)
  }

  @Test func `json tells what a download found`() throws {
    var options = ProgressOptions(mode: .quiet)
    options.json = true
    var view = ViewDriver(try plan(), options)
    view.start("fetch")
    _ = view.outputText()
    view.end("fetch", .success) { $0.fetch = fetched(size: 20, resumed: 5) }
    let hash = String(repeating: "ab", count: 32)
    #expect(
      view.outputText().contains(
        #""download":{"to":"/demo/out/fetch","done_bytes":20,"total_bytes":20,"#
          + #""resumed_bytes":5,"bytes_per_second":null,"seconds_left":null,"kept":false,"#
          + #""sha256":"\#(hash)","sha512":null,"url":"http://example.org/file"}"#))
  }

  // MARK: - Running downloads

  private func report(_ plan: Plan, _ name: String, done: Int64, total: Int64 = -1)
    -> WorkerProgress
  {
    WorkerProgress(
      task: plan.task(named: name) ?? .none, doneBytes: done, totalBytes: total,
      bytesPerSecond: 100, text: "")
  }

  private func start(_ plan: Plan, _ name: String, attempt: Int32 = 1) -> Transition {
    Transition(.start, plan.task(named: name) ?? .none, attempt: attempt)
  }

  @Test func `where a download goes on is told by its worker`() throws {
    let plan = try plan()
    var running = RunningDownloads()
    running.apply(start(plan, "fetch"), plan: plan)
    var report = report(plan, "fetch", done: 60, total: 90)
    report.text = WorkerProgress.resumeText(bytes: 50)
    let progress = running.take(report, atMilliseconds: 1)
    #expect(progress?.resumedBytes == 50)
    #expect(progress?.percent == 66)
    #expect(progress?.secondsLeft(at: 1) == 1)
    for text in ["", "from=", "from=-5", "from=x", "a line of output"] {
      report.text = text
      #expect(running.take(report, atMilliseconds: 2)?.resumedBytes == 0)
    }
    #expect(WorkerProgress.resumeText(bytes: 0) == "")
  }

  @Test func `only downloads that run are heard`() throws {
    let plan = try plan()
    var running = RunningDownloads()
    #expect(running.take(report(plan, "fetch", done: 5), atMilliseconds: 1) == nil)
    running.apply(start(plan, "build"), plan: plan)
    #expect(running.take(report(plan, "build", done: 5), atMilliseconds: 1) == nil)
    running.apply(start(plan, "fetch"), plan: plan)
    #expect(running.take(report(plan, "fetch", done: 5), atMilliseconds: 1) != nil)
    running.apply(Transition(.success, plan.task(named: "fetch") ?? .none), plan: plan)
    #expect(running.take(report(plan, "fetch", done: 5), atMilliseconds: 1) == nil)
    #expect(running.entries.isEmpty)
  }

  @Test(arguments: [Int64.max, 1, 0, -1])
  func `numbers that make no sense do no harm`(number: Int64) throws {
    let plan = try plan()
    var running = RunningDownloads()
    running.apply(start(plan, "fetch"), plan: plan)
    for done in [Int64.max, 0, 7] {
      let report = WorkerProgress(
        task: plan.task(named: "fetch") ?? .none, doneBytes: done, totalBytes: number,
        bytesPerSecond: number, text: "")
      let progress = running.take(report, atMilliseconds: 1)
      #expect((0...100).contains(progress?.percent ?? 0))
      _ = progress?.secondsLeft(at: .max)
      let notes = ProgressNotes.read(ProgressNotes.encoded(running, plan: plan), plan: plan)
      #expect(notes == running.entries)
    }
  }

  @Test func `notes are read as they were written, and what is damaged is left out`() throws {
    let plan = try plan()
    var running = RunningDownloads()
    running.apply(start(plan, "fetch"), plan: plan)
    running.apply(start(plan, "other", attempt: 3), plan: plan)
    _ = running.take(report(plan, "fetch", done: 5), atMilliseconds: 77)
    _ = running.take(report(plan, "other", done: 6, total: 8), atMilliseconds: 78)
    let notes = ProgressNotes.encoded(running, plan: plan)
    #expect(
      String(decoding: notes, as: UTF8.self)
        == "progress\t1\n1\t77\t5\t-1\t100\t0\tfetch\n3\t78\t6\t8\t100\t0\tother\n")
    #expect(ProgressNotes.read(notes, plan: plan) == running.entries)
    for count in 0..<notes.count {
      let cut = ProgressNotes.read(Array(notes[..<count]), plan: plan)
      #expect(cut.allSatisfy { running.entries[$0.key]?.attempt == $0.value.attempt })
    }
    let other = Array("progress\t2\n1\t77\t5\t-1\t100\t5\tfetch\n".utf8)
    #expect(ProgressNotes.read(other, plan: plan).isEmpty)
  }

  // MARK: - Status

  private func status(_ plan: Plan, ended: Bool) throws -> RunStatus {
    var encoder = JournalEncoder()
    encoder.append(
      .open(
        OpenEntry(
          run: "r1", planKey: "00", opflowVersion: "0.1.0", manifestPath: "/demo/opflow.yaml",
          folder: "/demo")), at: 1000, plan: plan)
    encoder.append(start(plan, "fetch"), at: 1000, plan: plan)
    if ended {
      var success = Transition(.success, plan.task(named: "fetch") ?? .none, attempt: 1)
      success.outcome = Outcome(status: .success)
      success.outcome.usage.wallMicroseconds = 2_000_000
      success.fetch = fetched(size: 20 * Self.mebibyte, resumed: 4 * Self.mebibyte)
      encoder.append(success, at: 3000, plan: plan)
    }
    let history = try encoder.bytes.withUnsafeBytes {
      try RunModel.read($0, plan: plan, keepingDetails: true).history
    }
    return RunStatus(
      run: "r1", plan: plan, history: history, included: .all(taskCount: plan.taskCount),
      isHeld: true)
  }

  private func told(_ plan: Plan, attempt: Int32) -> [TaskID: RunningDownloads.Entry] {
    let progress = DownloadProgress(
      doneBytes: 54 * Self.mebibyte, totalBytes: 200 * Self.mebibyte,
      bytesPerSecond: 10 * Self.mebibyte, toldMilliseconds: 2000)
    return [
      plan.task(named: "fetch") ?? .none: RunningDownloads.Entry(
        attempt: attempt, progress: progress)
    ]
  }

  @Test func `the status of a running download tells how far it is`() throws {
    let plan = try plan()
    var status = try status(plan, ended: false)
    status.told = told(plan, attempt: 1)
    let text = String(
      decoding: StatusView(
        status, resumeCommand: "opflow resume r1", nowMilliseconds: 2500, showsAll: false,
        color: false
      ).text(),
      as: UTF8.self)
    let line = "fetch  running  1.5s  54.0MiB of 200.0MiB (27%), 10.0MiB/s, 15s left\n"
    #expect(text.contains(line), "\(text)")
    let json = String(
      decoding: StatusJSON.text(status, nowMilliseconds: 2500) { _ in nil }, as: UTF8.self)
    #expect(json.contains(#""download":{"to":"/demo/out/fetch","done_bytes":56623104,"#))
  }

  @Test func `notes of another attempt, or of a task that has ended, are old`() throws {
    let plan = try plan()
    for (ended, attempt) in [(false, Int32(2)), (true, 1)] {
      var status = try status(plan, ended: ended)
      status.told = told(plan, attempt: attempt)
      let text = String(
        decoding: StatusView(
          status, resumeCommand: "opflow resume r1", nowMilliseconds: 2500, showsAll: false,
          color: false
        ).text(),
        as: UTF8.self)
      #expect(!text.contains("54.0MiB"))
    }
  }

  @Test func `the status of a failure tells what was the matter`() throws {
    let plan = try plan()
    var encoder = JournalEncoder()
    encoder.append(
      .open(
        OpenEntry(
          run: "r1", planKey: "00", opflowVersion: "0.1.0", manifestPath: "/demo/opflow.yaml",
          folder: "/demo")), at: 1000, plan: plan)
    encoder.append(start(plan, "fetch"), at: 1000, plan: plan)
    var failure = Transition(.failure, plan.task(named: "fetch") ?? .none, attempt: 1)
    failure.outcome = Outcome(status: .unknown, reason: .fetchFinal)
    failure.detail = "http://example.org/file: answered 404"
    encoder.append(failure, at: 1000, plan: plan)
    let history = try encoder.bytes.withUnsafeBytes {
      try RunModel.read($0, plan: plan, keepingDetails: true).history
    }
    var status = RunStatus(
      run: "r1", plan: plan, history: history, included: .all(taskCount: plan.taskCount),
      isHeld: false)
    let fetch = try #require(plan.task(named: "fetch"))
    #expect(status.mayHavePart(fetch))
    #expect(!status.mayHavePart(plan.task(named: "other") ?? .none))
    status.keptBytes[fetch] = 3 * Self.mebibyte
    let json = String(
      decoding: StatusJSON.text(status, nowMilliseconds: 2500) { _ in nil }, as: UTF8.self)
    #expect(json.contains(#""done_bytes":3145728,"total_bytes":null,"#), "\(json)")
    let text = String(
      decoding: StatusView(
        status, resumeCommand: "opflow resume r1", nowMilliseconds: 2500, showsAll: false,
        color: false
      ).text(),
      as: UTF8.self)
    #expect(text.contains("http://example.org/file: answered 404; 3.0MiB kept\n"), "\(text)")
  }

  @Test func `the whole status tells what a finished download found`() throws {
    let status = try status(plan(), ended: true)
    let text = String(
      decoding: StatusView(
        status, resumeCommand: "opflow resume r1", nowMilliseconds: 4000, showsAll: true,
        color: false
      ).text(),
      as: UTF8.self)
    #expect(
      text.hasSuffix(
        """

        fetch: 20.0MiB at 8.0MiB/s, resumed at 4.0MiB
          to      /demo/out/fetch
          sha256  \(String(repeating: "ab", count: 32))
          url     http://example.org/file

        """), "\(text)")
  }
}
