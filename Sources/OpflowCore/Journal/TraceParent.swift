/// What a process is a part of, as W3C's Trace Context (level 2) tells it in `TRACEPARENT`: a trace, and in it
/// the span that is around the process.
package struct TraceParent: Hashable, Sendable {
  package let trace: TraceID
  package let span: SpanID
  /// `sampled` and `random`, the flags that are defined.
  package let flags: UInt8

  package static let sampled: UInt8 = 1
  private static let known: UInt8 = 3
  /// `00-` 32 digits `-` 16 digits `-` 2 digits
  private static let byteCount = 55
  /// Where in it the digits of the span begin.
  package static let spanStart = 36

  package static let variable = "TRACEPARENT"
  /// What other programs add to it, which goes on as it is.
  package static let stateVariable = "TRACESTATE"

  package init(trace: TraceID, span: SpanID, flags: UInt8) {
    self.trace = trace
    self.span = span
    self.flags = flags & Self.known
  }

  /// Nil for what is none: then a new trace begins, as the standard has it. Of a later version that which this
  /// one has is taken.
  package init?(_ text: String) {
    let bytes = Array(text.utf8)
    let dash = UInt8(ascii: "-")
    guard bytes.count >= Self.byteCount, bytes[2] == dash, bytes[35] == dash, bytes[52] == dash,
      let version = Hexadecimal.value(bytes[..<2]), version != 0xFF,
      let high = Hexadecimal.value(bytes[3..<19]), let low = Hexadecimal.value(bytes[19..<35]),
      let span = Hexadecimal.value(bytes[36..<52]), let flags = Hexadecimal.value(bytes[53..<55]),
      high | low != 0, span != 0
    else { return nil }
    if bytes.count > Self.byteCount, version == 0 || bytes[Self.byteCount] != dash { return nil }
    self.init(
      trace: TraceID(high: high, low: low), span: SpanID(span), flags: UInt8(flags))
  }

  /// As tasks find it, and as the journal keeps it.
  package var text: String {
    let flags = String(decoding: Hexadecimal.digits[Int(flags)...Int(flags)], as: UTF8.self)
    return "00-\(trace.text)-\(span.text)-0\(flags)"
  }
}

/// Of a trace; never 0.
package struct TraceID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = high | low == 0 ? 1 : low
  }

  /// 32 hexadecimal digits.
  package var text: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}

/// Of a span of a trace; never 0.
package struct SpanID: Hashable, Sendable {
  package let value: UInt64

  package init(_ value: UInt64) { self.value = value == 0 ? 1 : value }

  /// 16 hexadecimal digits.
  package var text: String { Hexadecimal.text(value) }
}

extension SpanID {
  /// The span of a try of a task, in the run of which this is the span.
  package func attempt(_ number: Int32, ofTask name: UnsafeRawBufferPointer) -> SpanID {
    let task = Hash.combine(value, Hash.xxh3(name))
    return SpanID(Hash.combine(task, UInt64(UInt32(bitPattern: number))))
  }

  /// That of a further drive of the run.
  package func drive(_ number: Int) -> SpanID {
    SpanID(Hash.combine(value, UInt64(truncatingIfNeeded: number)))
  }

  /// Another one, for what a damaged journal tells twice.
  func repeated(_ number: Int) -> SpanID { SpanID(Hash.combine(~value, UInt64(number))) }
}

/// What the spans of a run are parts of. All of it follows from the first line of the run's journal and those
/// that begin further drives, so that spans have the same ids whenever and wherever they are written down.
package struct RunTrace: Sendable {
  /// Of the run as a whole.
  package let span: SpanID
  /// What the run was begun by; nil where nobody said.
  package let parent: TraceParent?
  /// That of the run, where nobody gave it one.
  private let own: TraceID

  /// - Parameter milliseconds: since the epoch, of the journal's first line.
  package init(_ open: OpenEntry, openedMilliseconds milliseconds: Int64) {
    // The id of a run alone is one of few that begin within a second.
    let parts =
      "\(open.run)\0\(milliseconds)\0\(open.stateFolder)\0\(open.manifestPath)\0\(open.planKey)"
    let key = Hash.planKey(Array(parts.utf8))
    own = TraceID(high: key.high, low: key.low)
    span = SpanID(Hash.combine(key.high, key.low))
    parent = open.trace
  }

  package var id: TraceID { parent?.trace ?? own }
  package var flags: UInt8 { parent?.flags ?? TraceParent.sampled }

  /// What workers find in their environment in a drive of the run, for the tries of tasks.
  ///
  /// - Parameter parent: what the drive was begun by; nil where nobody said, so that it goes on with the run's
  ///   trace.
  package func context(ofDrive parent: TraceParent?) -> TraceParent {
    TraceParent(trace: parent?.trace ?? id, span: span, flags: parent?.flags ?? flags)
  }
}
