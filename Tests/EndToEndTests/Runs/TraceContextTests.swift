import Foundation
import Testing

/// What tasks find in `TRACEPARENT`, and that the spans of the run are those.
struct TraceContextTests {
  private static let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"

  /// `TRACE-SPAN` of each span of the newest run, by its task and try.
  private static func spans(_ place: Workplace) throws -> [String: String] {
    let text = try place.opflow("report", "otel").output
    var spans: [String: String] = [:]
    for line in text.split(separator: "\n") {
      let request = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      let resources = request?["resourceSpans"] as? [[String: Any]] ?? []
      let scopes = resources.first?["scopeSpans"] as? [[String: Any]] ?? []
      for span in scopes.first?["spans"] as? [[String: Any]] ?? [] {
        let attributes = span["attributes"] as? [[String: Any]] ?? []
        let id = attributes.first { $0["key"] as? String == "cicd.pipeline.task.run.id" }
        let value = id?["value"] as? [String: Any]
        let name = value?["stringValue"] as? String ?? span["name"] as? String ?? ""
        spans[name] = "\(span["traceId"] ?? "")-\(span["spanId"] ?? "")"
      }
    }
    return spans
  }

  @Test func `each try finds its own span, in shells and without`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'echo "a#$OPFLOW_ATTEMPT $TRACEPARENT" >> trace; test $OPFLOW_ATTEMPT = 2', retry: { max: 1, delay: 1ms } }
        b: { needs: [a], run: [sh, -c, 'echo "b#1 $TRACEPARENT" >> trace'] }
        c: { needs: [b], run: 'sh c.sh' }
      """)
    try place.write("c.sh", "echo \"c#1 $TRACEPARENT\" >> trace")
    try place.opflow("run")
    let spans = try Self.spans(place)
    let found = place.lines().map { $0.split(separator: " ").map(String.init) }
    #expect(found.map(\.first) == ["a#1", "a#2", "b#1", "c#1"])
    for words in found {
      let span = try #require(spans[words.first ?? ""])
      #expect(words.last == "00-\(span)-01")
    }
    #expect(Set(spans.values).count == 5)
  }

  @Test func `a run is a part of the trace that it is begun in, a resume too`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { run: 'echo "$TRACEPARENT $TRACESTATE" >> trace' }
        b: { needs: [a], run: 'echo "$TRACEPARENT $TRACESTATE" >> trace; test -e ok' }
      """)
    let state = ["TRACESTATE": "vendor=1,other=2"]
    try place.opflow(
      "run", status: 1, environment: state.merging(["TRACEPARENT": Self.parent]) { $1 })
    try place.write("ok", "")
    // Without TRACEPARENT the run's trace continues, and TRACESTATE is not passed on.
    try place.opflow("resume", environment: state)
    let other = Self.parent.replacing("4bf9", with: "1111").replacing("-01", with: "-00")
    try place.opflow(
      "resume", "--rerun", "b", environment: ["TRACEPARENT": other, "TRACESTATE": "x=1"])
    let lines = place.lines()
    let beginnings: [String] = ["4bf9", "4bf9", "4bf9", "1111"]
    let traces: [String] = lines.map { String($0.dropFirst(3).prefix(32)) }
    #expect(traces == beginnings.map { "\($0)2f3577b34da6a3ce929d0e0e4736" })
    let ends: [String] = lines.map { String($0.dropFirst(52)) }
    #expect(ends == ["-01 vendor=1,other=2", "-01 vendor=1,other=2", "-01 ", "-00 x=1"])
    // `a` ran once: a new trace does not re-run finished tasks.
    let spans = try Self.spans(place)
    let tries: [String?] = lines.map { String($0.dropFirst(3).prefix(49)) }
    #expect(tries == [spans["a#1"], spans["b#1"], spans["b#2"], spans["b#3"]])
    let run = try #require(spans.first { $0.key.hasPrefix("RUN ") })
    #expect(run.value.hasPrefix("4bf9"))
  }

  @Test(arguments: ["", "bogus", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"])
  func `what is none is passed over, and its state with it`(_ parent: String) throws {
    let place = try Workplace(
      "tasks: { a: { run: 'echo \"$TRACEPARENT ${TRACESTATE-none}\" >> trace' } }")
    let run = try place.opflow(
      "run", environment: ["TRACEPARENT": parent, "TRACESTATE": "vendor=1"])
    #expect(!run.errors.contains("TRACE"))
    let span = try #require(Self.spans(place)["a#1"])
    #expect(place.lines() == ["00-\(span)-01 none"])
  }

  @Test func `one that the manifest sets holds, and makes nothing run again`() throws {
    let place = try Workplace(
      """
      tasks:
        a: { env: { TRACEPARENT: "${{ env.OTHER }}" }, run: 'echo "$TRACEPARENT" >> trace' }
        b: { needs: [a], run: test -e ok }
      """)
    try place.opflow("run", status: 1, environment: ["OTHER": "mine"])
    try place.write("ok", "")
    try place.opflow("resume", environment: ["OTHER": "yours"])
    #expect(place.lines() == ["mine"])
  }

  @Test func `a run within a task is a part of the task's try`() throws {
    let place = try Workplace(
      "tasks: { a: { run: '\"$opflow\" run -q --state-dir inner inner.yaml' } }")
    try place.write("inner.yaml", "tasks: { b: { run: 'echo $TRACEPARENT >> trace' } }")
    try place.opflow("run")
    let outer = try #require(Self.spans(place)["a#1"])
    let opened = try place.shell("head -1 inner/runs/*/journal.log").output
    #expect(opened.contains("trace=00-\(outer)-01"))
    #expect(place.lines().first?.dropFirst(3).prefix(32) == outer.prefix(32))
  }

  @Test func `the spans of a run that was killed are there, also compressed`() throws {
    let place = try Workplace(
      """
      tasks: { a: { run: 'echo $TRACEPARENT >> trace; \
      kill -KILL $(cat .opflow/runs/$OPFLOW_RUN/lock)' } }
      """
    )
    try place.opflow("run", status: nil)
    let spans = try Self.spans(place)
    let span = try #require(spans["a#1"])
    #expect(place.lines() == ["00-\(span)-01"])
    try place.opflow("report", "otel", "-o", "run.json")
    try place.opflow("report", "otel", "-o", "run.json.gz")
    try place.shell("gzip -dc run.json.gz | cmp - run.json")
  }
}
