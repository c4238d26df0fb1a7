import Testing

/// Downloads as a run sees them. What servers can do wrong is the download program's own tests'.
struct DownloadRunTests {
  @Test func `a download makes its folders, and what needs it runs after it`() throws {
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

  @Test func `a download whose hash is not the one asked for leaves no file`() throws {
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

  @Test func `a server that is not there is asked again, with the same answer`() throws {
    let place = try Workplace(
      """
      tasks:
        fetch:
          download: { url: "http://127.0.0.1:1/x", to: x }
          retry: { max: 2, delay: 1ms }
      """)
    let run = try place.opflow("run", status: 1)
    #expect(try place.status()["fetch"]?.attempts == 3)
    let said = run.errorLines.filter { $0.contains("no connection") }
    #expect(said.count >= 3, "\(run)")
  }
}
