import Glibc
import Testing

/// Downloads in a run. The tests of the download program cover faulty servers.
struct DownloadRunTests {
  @Test func `a download creates its folders, and dependents run after it`() throws {
    let place = try Workplace()
    try place.write("source", "content\n")
    try place.write(
      "opflow.yaml",
      """
      tasks:
        use: { needs: [fetch], run: cat new/folder/copy >> trace }
        fetch: { download: { url: "file://\(place.file("source"))", to: new/folder/copy } }
      """)
    try place.opflow("run")
    #expect(place.lines() == ["content"])
  }

  @Test func `a download with the wrong hash leaves no file`() throws {
    let place = try Workplace()
    try place.write("source", "content\n")
    let zeros = String(repeating: "0", count: 64)
    try place.write(
      "opflow.yaml",
      """
      tasks:
        fetch:
          download: { url: "file://\(place.file("source"))", to: copy, sha256: "\(zeros)" }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(!place.exists("copy"))
    #expect(run.errors.contains("sha256") || run.errors.contains("SHA-256"), "\(run)")
  }

  @Test func `a download retries if no server listens`() throws {
    let place = try Workplace(
      """
      defaults: { retry: { exit_codes: [75] } }
      tasks:
        fetch:
          download: { url: "http://127.0.0.1:1/x", to: x }
          retry: { max: 2, delay: 1ms }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(try place.status()["fetch"]?.attempts == 3)
    let said = run.errorLines.filter { $0.contains("cannot connect to 127.0.0.1 port 1: ") }
    #expect(said.count >= 3, "\(run)")
  }

  @Test func `each download from a slow server prints its start once`() throws {
    let place = try Workplace()
    let server = try place.startShell(
      "exec python3 \(Program.package)/jobs/serve.py --port 0 --speed 20000000")
    try server.waitForOutput("\n")
    let address = server.outputText.split(separator: " ").last.map { $0.dropLast() } ?? ""
    let tasks = (0..<6).map {
      "  d\($0): { download: { url: \"\(address)/north.tar\", to: copy\($0) } }\n"
    }
    try place.write("opflow.yaml", "tasks:\n" + tasks.joined())
    let run = try place.opflow("run", "--output", "line", "--json")
    for index in 0..<6 {
      #expect(run.errorLines.filter { $0.hasSuffix("d\(index) started") }.count == 1, "\(run)")
    }
    let first = try #require(run.errorLines.firstIndex { $0.contains("succeeded in") })
    // At most four downloads run at once.
    #expect(run.errorLines[..<first].filter { $0.hasSuffix(" started") }.count <= 4, "\(run)")
    #expect(!run.output.contains(#""reason":"revoked""#))
    let events = run.output.split(separator: "\n")
    #expect(events.filter { $0.contains(#""event":"start""#) }.count == 6)
  }

  @Test func `the status of a live run shows the progress of a download`() throws {
    let place = try Workplace()
    let server = try place.startShell(
      "exec python3 \(Program.package)/jobs/serve.py --port 0 --speed 500000")
    try server.waitForOutput("\n")
    let address = server.outputText.split(separator: " ").last.map { $0.dropLast() } ?? ""
    try place.write(
      "opflow.yaml",
      """
      tasks:
        fetch: { download: { url: "\(address)/north.tar", to: north.tar } }
      """)
    let live = try place.start("run")
    try live.waitForError("fetch started")
    let watch = try FolderWatch(place.file(place.runFolder()))
    let progress = try place.runFolder() + "/progress"
    while !place.exists(progress) { try watch.wait() }
    let before = try place.bytes(place.journalName)
    var table = try place.opflow("status").output
    #expect(table.contains("of 4.8MiB ("), "\(table)")
    // opflow writes the first progress before it knows the speed.
    while !table.contains("/s, ") {
      try watch.wait()
      table = try place.opflow("status").output
    }
    let json = try place.opflow("status", "--json").output
    #expect(json.contains(#""total_bytes":5048320,"#), "\(json)")
    #expect(try place.bytes(place.journalName) == before)
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    #expect(!place.exists(progress))
    #expect(try !place.opflow("status").output.contains("MiB"))
  }

  @Test func `a resume fetches a deleted file again and says why`() throws {
    let place = try Workplace()
    try place.write("source", "content\n")
    try place.write(
      "opflow.yaml",
      """
      tasks:
        gone: { download: { url: "file://\(place.file("source"))", to: a/gone } }
        kept: { download: { url: "file://\(place.file("source"))", to: b/kept } }
        use: { needs: [gone], run: cat a/gone >> trace }
        other: { needs: [kept], run: cat b/kept >> trace }
        fail: { needs: [use, other], run: test -e ok }
      """)
    try place.opflow("run", status: 1)
    try place.remove("a")
    let forecast = try place.opflow("resume", "--dry-run").output
    #expect(forecast.contains("an output is missing"), "\(forecast)")
    try place.write("ok", "")
    try place.opflow("resume")
    let resumed = try place.journal().filter { $0.event == "resume" && !$0.task.isEmpty }
    #expect(
      resumed.map { "\($0.task): \($0.values["reason"] ?? "")" }.sorted() == [
        "fail: failed before", "gone: output missing", "use: after rerun",
      ])
    #expect(place.lines() == ["content", "content", "content"])
    #expect(try place.text("a/gone") == "content\n")
  }

  @Test func `a password in an address is in no view and no journal`() throws {
    let place = try Workplace(
      """
      tasks:
        fetch:
          download:
            url: http://me:hush@127.0.0.1:1/x
            mirrors: ["http://you:hush@127.0.0.1:1/y"]
            to: x
          retry: 0
      """)
    let run = try place.opflow("run", "-v", "--json", status: 1)
    #expect(run.errors.contains("http://127.0.0.1:1/y: cannot connect"), "\(run)")
    let views = [
      run.output, run.errors, try place.opflow("status", "-v").output,
      try place.opflow("status", "--json").output, try place.opflow("plan").output,
      try place.text(place.journalName),
    ]
    for view in views { #expect(!view.contains("hush"), "\(view)") }
  }
}
