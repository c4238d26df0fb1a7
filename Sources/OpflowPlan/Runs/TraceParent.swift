internal import OpflowBase

/// A W3C Trace Context (level 2): a trace and the enclosing span.
package struct TraceParent: Hashable, Sendable {
  package let trace: TraceID
  package let span: SpanID
  /// `sampled` and `random` only.
  package let flags: UInt8

  package static let sampled: UInt8 = 1
  private static let known: UInt8 = 3
  private static let byteCount = 55
  package static let spanStart = 36

  package static let variable = "TRACEPARENT"
  /// Vendor data, passed on unchanged.
  package static let stateVariable = "TRACESTATE"

  package init(trace: TraceID, span: SpanID, flags: UInt8) {
    self.trace = trace
    self.span = span
    self.flags = flags & Self.known
  }

  /// Nil for an invalid text: a new trace begins. Of a later version it reads the fields of version
  /// 00.
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

  /// As in `TRACEPARENT` and in the journal.
  package var text: String {
    let flags = String(decoding: Hexadecimal.digits[Int(flags)...Int(flags)], as: UTF8.self)
    return "00-\(trace.text)-\(span.text)-0\(flags)"
  }
}

/// Never 0.
package struct TraceID: Hashable, Sendable {
  package let high: UInt64
  package let low: UInt64

  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = high | low == 0 ? 1 : low
  }

  package var text: String { Hexadecimal.text(high) + Hexadecimal.text(low) }
}

/// Never 0.
package struct SpanID: Hashable, Sendable {
  package let value: UInt64

  package init(_ value: UInt64) { self.value = value == 0 ? 1 : value }

  package var text: String { Hexadecimal.text(value) }
}

extension SpanID {
  package func attempt(_ number: Int32, ofTask name: UnsafeRawBufferPointer) -> SpanID {
    let task = Hash.combine(value, Hash.xxh3(name))
    return SpanID(Hash.combine(task, UInt64(UInt32(bitPattern: number))))
  }

  package func drive(_ number: Int) -> SpanID {
    SpanID(Hash.combine(value, UInt64(truncatingIfNeeded: number)))
  }

  /// For a span that a damaged journal contains twice.
  package func repeated(_ number: Int) -> SpanID { SpanID(Hash.combine(~value, UInt64(number))) }
}
