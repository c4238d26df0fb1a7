import Fixtures
import Foundation
import OpflowPlan
import OpflowReports
import Testing

/// Reads what a run is as spans, and holds it against the rules of the protocol.
enum SpanFixture {
  /// A collector takes 20 MiB at once, and a line is somewhat longer than what it is ended at.
  static let mostLineBytes = 5 << 20

  struct Attribute: Decodable {
    struct Value: Decodable {
      var stringValue: String?
      var intValue: String?
      var boolValue: Bool?
    }
    let key: String
    let value: Value

    var text: String {
      value.stringValue ?? value.intValue ?? value.boolValue.map { "\($0)" } ?? "none"
    }
  }

  struct Event: Decodable {
    let timeUnixNano: String
    let name: String
    let attributes: [Attribute]
    var values: [String: String] { SpanFixture.values(attributes) }
  }

  struct Span: Decodable {
    struct Status: Decodable {
      let code: Int
      let message: String
    }
    struct Link: Decodable {
      let traceId: String
      let spanId: String
    }
    let traceId: String
    let spanId: String
    var parentSpanId: String?
    let flags: UInt32
    let name: String
    let kind: Int
    let startTimeUnixNano: String
    let endTimeUnixNano: String
    let attributes: [Attribute]
    var events: [Event]?
    var links: [Link]?
    var status: Status?

    var key: String { "\(traceId)/\(spanId)" }
    var values: [String: String] { SpanFixture.values(attributes) }
    /// From the first line of a fixture's journal on.
    var seconds: String { "\(Self.second(startTimeUnixNano))-\(Self.second(endTimeUnixNano))" }

    private static func second(_ nanoseconds: String) -> Int {
      (Int(nanoseconds) ?? 0) / 1_000_000_000 - 1_767_323_045
    }
  }

  private struct Request: Decodable {
    struct Resource: Decodable { let attributes: [Attribute] }
    struct Scope: Decodable {
      let name: String
      let version: String
    }
    struct ScopeSpans: Decodable {
      let scope: Scope
      let spans: [Span]
      let schemaUrl: String
    }
    struct ResourceSpans: Decodable {
      let resource: Resource
      let scopeSpans: [ScopeSpans]
      let schemaUrl: String
    }
    let resourceSpans: [ResourceSpans]
  }

  private static func values(_ attributes: [Attribute]) -> [String: String] {
    Dictionary(attributes.map { ($0.key, $0.text) }) { "\($0) and \($1)" }
  }

  static func text(_ run: ReportFixture, isHeld: Bool = false) throws -> [UInt8] {
    var report = SpanReport(try run.status(isHeld: isHeld))
    var bytes: [UInt8] = []
    while let piece = report.nextPiece() { bytes += piece }
    return bytes
  }

  static func spans(_ run: ReportFixture, isHeld: Bool = false) throws -> [Span] {
    let text = try text(run, isHeld: isHeld)
    #expect(text.last == 10)
    var spans: [Span] = []
    for line in text.split(separator: 10) {
      let request = try JSONDecoder().decode(Request.self, from: Data(line))
      let resource = try #require(request.resourceSpans.first)
      #expect(request.resourceSpans.count == 1 && resource.scopeSpans.count == 1)
      let values = values(resource.resource.attributes)
      #expect(values["service.name"] == "opflow" && values["cicd.pipeline.run.id"] == "r1")
      spans += resource.scopeSpans.flatMap(\.spans)
    }
    for fault in faults(spans) { Issue.record("\(fault)") }
    return spans
  }

  private static func faults(_ spans: [Span]) -> [String] {
    var faults: [String] = []
    let keys = Set(spans.map(\.key))
    if keys.count < spans.count { faults.append("two spans of one id") }
    for span in spans {
      if TraceParent("00-\(span.traceId)-\(span.spanId)-00") == nil {
        faults.append("\(span.name) has the id \(span.key)")
      }
      let isRemote = span.flags & 0x200 != 0
      if let parent = span.parentSpanId, !isRemote, !keys.contains("\(span.traceId)/\(parent)") {
        faults.append("\(span.name) is within a span that is not there")
      }
      guard let start = UInt64(span.startTimeUnixNano), let end = UInt64(span.endTimeUnixNano),
        start <= end
      else {
        faults.append("\(span.name) has no time")
        continue
      }
      let names = span.attributes.map(\.key)
      if Set(names).count < names.count { faults.append("\(span.name) has an attribute twice") }
      for event in span.events ?? [] where UInt64(event.timeUnixNano) == nil {
        faults.append("\(event.name) has no time")
      }
    }
    return faults
  }
}
