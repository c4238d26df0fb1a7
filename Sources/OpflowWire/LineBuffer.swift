package import OpflowBase
package import OpflowPlan

/// Collects bytes of a stream and splits them into messages.
package struct LineBuffer {
  package enum Step<Message> {
    case message(Message)
    case needsMore
    /// A line is too long or invalid: the stream is unusable.
    case malformed
  }

  private var storage: [UInt8]
  private let longestLineBytes: Int
  private var start = 0
  private var end = 0

  package init() {
    self.init(
      longestLineBytes: MessageCodec.longestLineBytes, bytes: 4 * MessageCodec.longestLineBytes)
  }

  /// - Parameter longestLineBytes: Includes the line feed.
  package init(longestLineBytes: Int, bytes: Int) {
    precondition(bytes >= longestLineBytes)
    self.longestLineBytes = longestLineBytes
    storage = [UInt8](repeating: 0, count: bytes)
  }

  package var isEmpty: Bool { start == end }

  /// Returns the number of bytes read. There is room if the caller takes messages until
  /// `needsMore`.
  @discardableResult
  package mutating func fill<Failure: Error>(
    _ read: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    moveToFront()
    let used = end
    let count = try storage.withUnsafeMutableBufferPointer { all throws(Failure) in
      // SAFETY: the free part of storage, for the call only.
      try read(UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: all[used...])))
    }
    end += count
    return count
  }

  private mutating func moveToFront() {
    if start == 0 { return }
    let (from, count) = (start, end - start)
    if count > 0 {
      storage.withUnsafeMutableBytes { all in
        // SAFETY: both ranges lie within storage, since `start` and `end` do.
        all.copyMemory(from: UnsafeRawBufferPointer(rebasing: all[from..<from + count]))
      }
    }
    start = 0
    end = count
  }

  /// `line` has no line feed.
  mutating func replace(withLine line: UnsafeRawBufferPointer) {
    precondition(line.count < storage.count)
    storage.withUnsafeMutableBytes { all in
      all.copyMemory(from: line)
      all[line.count] = Field.lineFeed
    }
    start = 0
    end = line.count + 1
  }

  package mutating func nextInput() -> Step<WorkerInput> { next { WorkerInput($0) } }

  package mutating func nextReport() -> Step<WorkerReport> { next(MessageCodec.report) }

  /// A worker's line replaces the contents of `lines`.
  package mutating func nextRelayed(into lines: inout LineBuffer) -> Step<AgentReport> {
    next { RelayLines.report($0, into: &lines) }
  }

  /// Passes invalid lines to `other`.
  package mutating func nextRelayed(
    into lines: inout LineBuffer, orElse other: (UnsafeRawBufferPointer) -> Void
  ) -> Step<AgentReport> {
    while true {
      let step: Step<AgentReport?> = next { line in
        if let report = RelayLines.report(line, into: &lines) { return .some(report) }
        other(line)
        return .some(nil)
      }
      switch step {
      case .message(let report?): return .message(report)
      case .message(nil): continue
      case .needsMore: return .needsMore
      case .malformed: return .malformed
      }
    }
  }

  package mutating func nextAgentMessage(into lines: inout LineBuffer) -> Step<AgentMessage> {
    next { RelayLines.message($0, into: &lines) }
  }

  /// Writes the line after its worker's number. Returns true if it reports a task without success.
  package mutating func nextLine(of worker: WorkerID, into writer: inout FieldWriter) -> Step<Bool>
  {
    next { line in
      RelayLines.number(worker, into: &writer)
      writer.line(line)
      return RelayLines.tellsBadEnd(line)
    }
  }

  package mutating func moveAll(to writer: inout FieldWriter) {
    storage.withUnsafeBytes { writer.add($0.part(start, end)) }
    start = 0
    end = 0
  }

  package mutating func nextOfKeeper() -> Step<AllocationLines.Report> {
    next(AllocationLines.report)
  }

  /// The line is valid during the call only.
  package mutating func nextLine(_ take: (UnsafeRawBufferPointer) -> Void) -> Step<Void> {
    next { take($0) }
  }

  package mutating func nextText() -> Step<String> { next { String(decoding: $0, as: UTF8.self) } }

  /// Not `package`: other modules would use a slow, unspecialized version.
  private mutating func next<Message>(
    _ decode: (UnsafeRawBufferPointer) -> Message?
  ) -> Step<Message> {
    let (from, to, longest) = (start, end, longestLineBytes)
    let step: (Step<Message>, Int) = storage.withUnsafeBytes { all in
      let bytes = all.part(from, to)
      let length = bytes.position(of: Field.lineFeed, from: 0)
      if length == bytes.count {
        return (length < longest ? .needsMore : .malformed, 0)
      }
      guard length < longest, let message = decode(bytes.part(0, length))
      else { return (.malformed, 0) }
      return (.message(message), length + 1)
    }
    start += step.1
    return step.0
  }
}
