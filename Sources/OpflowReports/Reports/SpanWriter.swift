internal import OpflowPlan
internal import OpflowViews

/// Writes spans in OTLP's JSON: camel-case fields, hexadecimal IDs, numeric enumerations, 64-bit
/// numbers as strings. Each line is a complete request, as in the files of OpenTelemetry's
/// exporters and collectors.
struct SpanWriter {
  private(set) var json = JSONWriter()
  /// Already returned by `take`.
  private var takenBytes = 0
  private(set) var isInLine = false

  /// Collectors accept 20 MiB per request.
  static let mostLineBytes = 4 << 20
  private static let schema = "https://opentelemetry.io/schemas/1.37.0"

  enum Kind: Int { case `internal` = 1, server = 2 }

  struct Place {
    let trace: TraceID
    let span: SpanID
    let parent: SpanID?
    let flags: UInt8
    /// The parent is another program's span.
    var isRemote = false
  }

  var byteCount: Int { json.bytes.count }
  var isLineFull: Bool { takenBytes + json.bytes.count >= Self.mostLineBytes }

  mutating func take() -> [UInt8] {
    takenBytes += json.bytes.count
    return json.take()
  }

  mutating func beginLine(version: String, resource: (inout SpanWriter) -> Void) {
    isInLine = true
    json.beginObject()
    beginList("resourceSpans")
    json.key("resource")
    json.beginObject()
    attributes(resource)
    json.endObject()
    beginList("scopeSpans")
    json.object("scope") { json in
      json.add("name", "opflow")
      json.add("version", version)
    }
    json.key("spans")
    json.beginArray()
  }

  mutating func endLine() {
    json.endArray()
    for _ in 0..<2 {
      json.add("schemaUrl", Self.schema)
      json.endObject()
      json.endArray()
    }
    json.endObject()
    json.endLine()
    takenBytes = -json.bytes.count
    isInLine = false
  }

  private mutating func beginList(_ name: StaticString) {
    json.key(name)
    json.beginArray()
    json.beginObject()
  }

  mutating func beginSpan(
    _ place: Place, _ name: String, _ kind: Kind, milliseconds: ClosedRange<Int64>
  ) {
    json.beginObject()
    json.add("traceId", place.trace.text)
    json.add("spanId", place.span.text)
    if let parent = place.parent { json.add("parentSpanId", parent.text) }
    // Bit 9: a remote parent; bit 8: bit 9 is valid.
    json.add("flags", UInt32(place.flags) | (place.isRemote ? 0x300 : 0x100))
    json.add("name", name)
    json.add("kind", kind.rawValue)
    time("startTimeUnixNano", milliseconds.lowerBound)
    time("endTimeUnixNano", milliseconds.upperBound)
  }

  mutating func endSpan() { json.endObject() }

  mutating func attributes(_ body: (inout SpanWriter) -> Void) { list("attributes", body) }

  private mutating func list(_ key: StaticString, _ body: (inout SpanWriter) -> Void) {
    json.key(key)
    json.beginArray()
    body(&self)
    json.endArray()
  }

  mutating func attribute(_ key: StaticString, _ text: String) {
    attribute(key) { $0.add("stringValue", text) }
  }

  mutating func attribute(_ key: StaticString, _ number: some FixedWidthInteger) {
    attribute(key) { $0.add("intValue", "\(number)") }
  }

  mutating func attribute(_ key: StaticString, _ isSo: Bool) {
    attribute(key) { $0.add("boolValue", isSo) }
  }

  private mutating func attribute(_ key: StaticString, _ value: (inout JSONWriter) -> Void) {
    json.object { json in
      json.key("key")
      json.constant(key)
      json.object("value", value)
    }
  }

  mutating func events(dropped: Int = 0, _ body: (inout SpanWriter) -> Void) {
    list("events", body)
    if dropped > 0 { json.add("droppedEventsCount", UInt32(clamping: dropped)) }
  }

  mutating func event(_ name: String, at milliseconds: Int64, _ body: (inout SpanWriter) -> Void) {
    json.beginObject()
    time("timeUnixNano", milliseconds)
    json.add("name", name)
    attributes(body)
    json.endObject()
  }

  mutating func link(to trace: TraceID, _ span: SpanID, flags: UInt8) {
    json.objects("links", CollectionOfOne(span)) { json, span in
      json.add("traceId", trace.text)
      json.add("spanId", span.text)
      json.add("flags", UInt32(flags) | 0x100)
    }
  }

  mutating func error(_ message: String) {
    json.object("status") { json in
      json.add("code", 2)
      json.add("message", message)
    }
  }

  /// Clamped to 64-bit nanoseconds.
  private mutating func time(_ key: StaticString, _ milliseconds: Int64) {
    json.key(key)
    json.string("\(min(UInt64(clamping: milliseconds), UInt64.max / 1_000_000) * 1_000_000)")
  }
}
