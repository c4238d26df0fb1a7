import OpflowBase
import OpflowWire

/// Checks messages between workers and the coordinator.
enum FuzzMessage {
  static func check(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    for line in bytes.split(separator: Field.lineFeed, omittingEmptySubsequences: false) {
      guard line.count < MessageCodec.longestLineBytes else { continue }
      let line = UnsafeRawBufferPointer(rebasing: line)
      try check(line, MessageCodec.message) { MessageCodec.encode($0, into: &$1) }
      try check(line, SecretPart.init) { $0.write(to: &$1) }
      try check(line, ExternalTaskLines.fact) { ExternalTaskLines.encode($0, into: &$1) }
      try check(line, MessageCodec.report) { MessageCodec.encode($0, into: &$1) }
    }
    try checkStream(bytes)
  }

  /// Checks that a decoded line keeps its meaning when it is encoded, in one line of a valid
  /// length.
  private static func check<Message: Equatable>(
    _ line: UnsafeRawBufferPointer, _ decode: (UnsafeRawBufferPointer) -> Message?,
    _ encode: (Message, inout FieldWriter) -> Void
  ) throws(FuzzFinding) {
    guard let message = decode(line) else { return }
    let written = encoded(message, encode)
    // opflow's own hello lines are short; their plan and actions are never cut.
    if line.starts(with: "hello".utf8), written.count > line.count + 1 { return }
    try expect(
      written.count <= MessageCodec.longestLineBytes, "a line of \(written.count) bytes: \(message)"
    )
    try expect(
      written.firstIndex(of: Field.lineFeed) == written.count - 1, "not one line: \(message)")
    guard let again = decoded(written, decode) else {
      throw FuzzFinding("what was written is no message: \(message)")
    }
    // Invalid UTF-8 grows when it is replaced, so free text may be cut, and useless long strings of
    // a download's report are dropped.
    let mayDiffer = written.count > line.count || line.starts(with: "fetched".utf8)
    try expect(again == message || mayDiffer, "\(message) became \(again)")
    try expect(encoded(again, encode) == written, "\(again) is written in two ways")
  }

  private static func encoded<Message>(
    _ message: Message, _ encode: (Message, inout FieldWriter) -> Void
  ) -> [UInt8] {
    var writer = FieldWriter()
    encode(message, &writer)
    return writer.bytes
  }

  private static func decoded<Message>(
    _ line: [UInt8], _ decode: (UnsafeRawBufferPointer) -> Message?
  ) -> Message? {
    line.withUnsafeBytes { decode(UnsafeRawBufferPointer(rebasing: $0.dropLast())) }
  }

  /// Checks that messages do not depend on the sizes of reads.
  private static func checkStream(_ bytes: UnsafeRawBufferPointer) throws(FuzzFinding) {
    let whole = messages(in: bytes, step: 1000)
    for step in [1, 7, 333] {
      try expect(
        messages(in: bytes, step: step) == whole, "messages depend on how their bytes come")
    }
  }

  private struct Stream: Equatable {
    var reports: [WorkerReport] = []
    var isMalformed = false
    var isMidLine = false
  }

  private static func messages(in bytes: UnsafeRawBufferPointer, step: Int) -> Stream {
    var stream = Stream()
    var buffer = LineBuffer()
    var taken = 0
    while true {
      switch buffer.nextReport() {
      case .message(let report): stream.reports.append(report)
      case .malformed:
        stream.isMalformed = true
        return stream
      case .needsMore:
        guard taken < bytes.count else {
          stream.isMidLine = !buffer.isEmpty
          return stream
        }
        buffer.fill { (room: UnsafeMutableRawBufferPointer) throws(Never) -> Int in
          let count = min(step, room.count, bytes.count - taken)
          room.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[taken..<(taken + count)]))
          taken += count
          return count
        }
      }
    }
  }
}
