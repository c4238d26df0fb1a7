import Fixtures
import OpflowJournal
import OpflowPlan
import Testing

/// What W3C's Trace Context says of `TRACEPARENT`, and the ids of a run's spans.
@Suite struct TraceParentTests {
  private static let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
  private static let span = "00f067aa0ba902b7"

  @Test(arguments: [
    ("00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01"),
    ("00-\(trace)-\(span)-00", "00-\(trace)-\(span)-00"),
    // Flags that nobody has defined go no further.
    ("00-\(trace)-\(span)-ff", "00-\(trace)-\(span)-03"),
    ("00-\(trace)-\(span)-08", "00-\(trace)-\(span)-00"),
    // A later version is taken for what this one has.
    ("cc-\(trace)-\(span)-01", "00-\(trace)-\(span)-01"),
    ("cc-\(trace)-\(span)-01-what-the-future-will-be", "00-\(trace)-\(span)-01"),
    ("00-0000000000000000\(span)-\(span)-01", "00-0000000000000000\(span)-\(span)-01"),
  ])
  func `one that holds is taken`(_ text: String, _ taken: String) {
    #expect(TraceParent(text)?.text == taken)
  }

  @Test(arguments: [
    "", "-", "00", "00-\(trace)-\(span)", "00-\(trace)-\(span)-", "00-\(trace)-\(span)-1",
    "00-\(trace)-\(span)-01-", "00-\(trace)-\(span)-01-more", "00-\(trace)-\(span)-01 ",
    " 00-\(trace)-\(span)-01", "00-\(trace)-\(span)-01\n", "ff-\(trace)-\(span)-01",
    "cc-\(trace)-\(span)-01.more", "0-\(trace)-\(span)-01", "000-\(trace)-\(span)-01",
    "00-\(trace.uppercased())-\(span)-01", "00-\(trace)-\(span.uppercased())-01",
    "0G-\(trace)-\(span)-01", "00-\(trace)-\(span)-0x", "00-\(trace)-\(span)-0A",
    "00-00000000000000000000000000000000-\(span)-01", "00-\(trace)-0000000000000000-01",
    "00_\(trace)_\(span)_01", "00-\(span)-\(trace)-01", "00-\(trace)\(span)-01",
    "00-4bf92f3577b34da6a3ce929d0e0e473é-\(span)-01",
    "00-\u{0}bf92f3577b34da6a3ce929d0e0e4736-\(span)-01",
  ])
  func `anything else is none`(_ text: String) { #expect(TraceParent(text) == nil) }

  private static func trace(_ change: (inout OpenEntry) -> Void = { _ in }) -> RunTrace {
    var open = OpenEntry.example
    change(&open)
    return RunTrace(open, openedMilliseconds: 1_767_323_045_000)
  }

  /// They are in what was exported and logged by others: an id that changes breaks that.
  @Test func `ids are the same in every opflow`() {
    let trace = Self.trace()
    #expect(trace.id.text == "2a856da0d2c143e39409aeabfef4dd3b")
    #expect(trace.span.text == "fa90fec4cc285420")
    let name = Array("build[arch=x86_64]".utf8)
    let attempt = name.withUnsafeBytes { trace.span.attempt(2, ofTask: $0) }
    #expect(attempt.text == "1a3fc17998fc6d5d")
    #expect(trace.span.session(2).text == "9b2f456fba4b5e1e")
  }

  @Test func `runs of one second, tasks and attempts have ids of their own`() {
    let traces = [
      Self.trace(), Self.trace { $0.run = "20260101-000000-abce" },
      Self.trace { $0.stateFolder = "/elsewhere" }, Self.trace { $0.manifestPath = "/other.yaml" },
      RunTrace(.example, openedMilliseconds: 1_767_323_045_001),
    ]
    #expect(Set(traces.map(\.id)).count == traces.count)
    #expect(Set(traces.map(\.span)).count == traces.count)
    var spans: Set<SpanID> = []
    for trace in traces {
      spans.insert(trace.span)
      for session in 2..<100 { spans.insert(trace.span.session(session)) }
      for task in 0..<1000 {
        Array("t\(task)".utf8).withUnsafeBytes { name in
          for attempt in 1...5 { spans.insert(trace.span.attempt(Int32(attempt), ofTask: name)) }
        }
      }
    }
    #expect(spans.count == traces.count * (1 + 98 + 5000))
  }

  @Test func `a run and a session are a part of what they were begun by`() throws {
    let parent = try #require(TraceParent("00-\(Self.trace)-\(Self.span)-02"))
    let trace = Self.trace { $0.trace = parent }
    #expect(trace.id == parent.trace && trace.flags == 2)
    #expect(trace.context(ofSession: nil).text == "00-\(Self.trace)-\(trace.span.text)-02")
    let other = try #require(TraceParent("00-1\(Self.trace.dropFirst())-\(Self.span)-01"))
    #expect(
      trace.context(ofSession: other).text == "00-1\(Self.trace.dropFirst())-\(trace.span.text)-01")
    // The run's spans have the same IDs in every process.
    #expect(trace.span == Self.trace().span)
  }

  @Test func `no id is zero`() {
    #expect(SpanID(0).value == 1)
    #expect(TraceID(high: 0, low: 0).text == "00000000000000000000000000000001")
  }

  @Test func `the journal keeps it, and a reader takes nothing else for it`() throws {
    let plan = try ViewFixture.plan([("a", [])])
    let parent = try #require(TraceParent("00-\(Self.trace)-\(Self.span)-01"))
    var open = OpenEntry.example
    open.trace = parent
    var resume = ResumeEntry(planKey: "k", opflowVersion: "1")
    resume.trace = parent
    var encoder = JournalEncoder()
    encoder.append(.open(open), at: 1, plan: plan)
    encoder.append(.resume(resume), at: 2, plan: plan)
    encoder.append(.resume(ResumeEntry(planKey: "k", opflowVersion: "1")), at: 3, plan: plan)
    let history = try encoder.bytes.withUnsafeBytes { try RunModel.read($0, plan: plan).history }
    #expect(history.sessionRecords.map(\.trace) == [parent, parent, nil])
    #expect(history.open == open)
    let text = String(decoding: encoder.bytes, as: UTF8.self)
    #expect(text.contains("\ttrace=00-\(Self.trace)-\(Self.span)-01\n"))
    #expect(text.split(separator: "\n").last?.contains("trace=") == false)
  }
}
