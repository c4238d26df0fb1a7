import Foundation
import Testing

/// Files that are made of runs.
@Suite struct ReportTests {
  @Test func `results are written in the end, and again by report`() throws {
    let place = try Workplace(
      """
      name: demo
      max_failures: 0
      tasks:
        good: { run: "true" }
        bad: { run: "echo '<why>'; exit 3" }
        build: { matrix: { n: [1, 2] }, run: "true" }
      """)
    try place.opflow("run", "--junit", "out/tests.xml", status: 1)
    let text = try place.text("out/tests.xml")
    #expect(place.entries("out") == ["tests.xml"])
    #expect(text.contains("<testsuites name=\"demo\" tests=\"4\" failures=\"1\" errors=\"0\""))
    #expect(text.contains("type=\"exit\">exit 3\n&lt;why&gt;\n</failure>"))
    #expect(text.contains("classname=\"demo.build\" name=\"build[n=2]\""))
    #expect(try place.opflow("report", "junit").output == text)
    try place.shell("ln -s tests.xml out/link.xml")
    try place.opflow("report", "junit", "-o", "out/link.xml")
    #expect(place.entries("out") == ["link.xml", "tests.xml"])
    #expect(try place.shell("readlink out/link.xml").output == "tests.xml\n")
    #expect(try place.shell("\"$opflow\" report junit -o /dev/stdout | cat").output == text)
  }

  @Test func `results are written after a signal too, and by a resume with nothing to do`() throws {
    let place = try Workplace(
      """
      tasks:
        first: { run: "true" }
        last: { needs: [first], run: "echo > here; exec sleep 100" }
      """)
    let here = try place.gate("here")
    let live = try place.start("run", "--junit", "tests.xml")
    _ = try here.next()
    live.send(SIGINT)
    #expect(try live.finish().status == -SIGINT)
    #expect(
      try place.text("tests.xml").contains(
        "<error message=\"stopped by a signal\" type=\"interrupted\">"))
    try place.write("opflow.yaml", "tasks: { first: { run: \"true\" } }")
    try place.opflow("resume")
    try place.opflow("resume", "--junit", "tests.xml")
    #expect(try place.text("tests.xml").contains("tests=\"1\" failures=\"0\" errors=\"0\""))
  }

  @Test func `a file that cannot be written ends it before anything runs`() throws {
    let place = try Workplace("tasks: { a: { run: echo > ran } }")
    try place.write("file", "")
    let run = try place.opflow("run", "--junit", "file/tests.xml", status: 74)
    #expect(run.errors == "opflow: cannot write file/tests.xml: Not a directory\n")
    #expect(!place.exists("ran"))
    try place.opflow("run", "--junit", ".", status: 74)
    #expect(place.entries().filter { $0.contains(".new") } == [])
  }

  @Test func `a trace has each try of a real run`() throws {
    let place = try Workplace(
      """
      tasks:
        one: { run: "true" }
        two: { needs: [one], run: "exit 3", retry: { max: 1, delay: 1ms } }
      """)
    try place.opflow("run", status: 1)
    try place.opflow("report", "trace", "-o", "run.json")
    let trace = try JSONSerialization.jsonObject(with: Data(place.text("run.json").utf8))
    let events = (trace as? [String: Any])?["traceEvents"] as? [[String: Any]] ?? []
    let slices = events.filter { $0["ph"] as? String == "X" }
    #expect(
      slices.map { "\($0["name"] ?? "") \($0["cat"] ?? "")" } == [
        "one succeeded", "two retried", "two failed",
      ])
    #expect(events.filter { $0["ph"] as? String == "s" }.count == 1)
    try place.opflow("report", "trace", "-o", "run.json.gz")
    try place.shell("gzip -dc run.json.gz | cmp - run.json")
  }

  @Test func `a page has the end of a failure's output`() throws {
    let place = try Workplace(
      """
      name: demo
      tasks:
        one: { run: "echo '</pre><script>x</script>'; exit 3" }
        two: { needs: [one], run: "true" }
      """)
    try place.opflow("run", status: 1)
    try place.opflow("report", "html", "-o", "run.html")
    let page = try place.text("run.html")
    #expect(page.hasPrefix("<!doctype html>") && page.hasSuffix("</html>\n"))
    #expect(page.contains("&lt;/pre&gt;&lt;script&gt;x&lt;/script&gt;"))
    #expect(page.contains("one failed: exit 3; 1 task was skipped because of it."))
    #expect(!page.contains("Comparison with the previous run"))
  }

  @Test func `a page compares with the run before of the same manifest`() throws {
    let place = try Workplace("tasks: { one: { run: exit 3 } }")
    try place.write("other.yaml", "tasks: { other: { run: 'true' } }")
    try place.opflow("run", status: 1)
    let first = try #require(place.runs.first)
    try place.opflow("run", "other.yaml")
    try place.write("opflow.yaml", "tasks: { one: { run: 'true' } }")
    try place.opflow("run")
    let page = try place.opflow("report", "html").output
    #expect(page.contains("Run <code>\(first)</code>"))
    #expect(page.contains("<b>Fixed (1)</b> <code>one</code>"))
    let other = try place.opflow("report", "html", "other.yaml").output
    #expect(!other.contains("Comparison with the previous run"))
  }
}
