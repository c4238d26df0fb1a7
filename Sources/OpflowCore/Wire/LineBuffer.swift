/// Collects the bytes of a stream and gives them out as messages, line by line.
package struct LineBuffer {
  package enum Step<Message> {
    case message(Message)
    /// No whole line is left.
    case needsMore
    /// A line is too long, or no message: from here on the stream means nothing.
    case malformed
  }

  private var storage: [UInt8]
  private let longestLineBytes: Int
  private var start = 0
  private var end = 0

  /// For messages, with room for four of the longest, so that one read takes several.
  package init() {
    self.init(
      longestLineBytes: MessageCodec.longestLineBytes, bytes: 4 * MessageCodec.longestLineBytes)
  }

  /// - Parameters:
  ///   - longestLineBytes: the line feed included.
  ///   - bytes: how many there is room for; a longest line at least.
  package init(longestLineBytes: Int, bytes: Int) {
    precondition(bytes >= longestLineBytes)
    self.longestLineBytes = longestLineBytes
    storage = [UInt8](repeating: 0, count: bytes)
  }

  /// Whether bytes of a line that has not ended are waiting.
  package var isEmpty: Bool { start == end }

  /// Lets `read` fill in more bytes and tell how many. There is always room, provided that messages
  /// are taken until it needs more.
  @discardableResult
  package mutating func fill<Failure: Error>(
    _ read: (UnsafeMutableRawBufferPointer) throws(Failure) -> Int
  ) throws(Failure) -> Int {
    moveToFront()
    let used = end
    let count = try storage.withUnsafeMutableBufferPointer { all throws(Failure) in
      // SAFETY: the free part of storage, for the call only.
      try read(
        UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: all[used...])))
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

  /// Holds that line, given without its line feed, in place of all that was there.
  mutating func replace(withLine line: UnsafeRawBufferPointer) {
    precondition(line.count < storage.count)
    storage.withUnsafeMutableBytes { all in
      all.copyMemory(from: line)
      all[line.count] = Field.lineFeed
    }
    start = 0
    end = line.count + 1
  }

  /// The next order or secret.
  package mutating func nextInput() -> Step<WorkerInput> { next { WorkerInput($0) } }

  /// The next report.
  package mutating func nextReport() -> Step<WorkerReport> { next(MessageCodec.report) }

  /// The next line of an agent's. A worker's own becomes all that is in `lines`.
  package mutating func nextRelayed(into lines: inout LineBuffer) -> Step<AgentReport> {
    next { RelayLines.report($0, into: &lines) }
  }

  /// The same, where lines that are no message go to `other`.
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

  /// The next line for an agent. One for a worker becomes all that is in `lines`.
  package mutating func nextAgentOrder(into lines: inout LineBuffer) -> Step<AgentOrder> {
    next { RelayLines.order($0, into: &lines) }
  }

  /// Adds the next line as it is, behind the number of the worker that said it. Tells whether it is of a
  /// task that ended badly.
  package mutating func nextLine(
    of worker: WorkerID, into writer: inout FieldWriter
  ) -> Step<Bool> {
    next { line in
      RelayLines.number(worker, into: &writer)
      writer.line(line)
      return RelayLines.tellsBadEnd(line)
    }
  }

  /// Adds all that it has, as it is.
  package mutating func moveAll(to writer: inout FieldWriter) {
    storage.withUnsafeBytes { writer.add($0.part(start, end)) }
    start = 0
    end = 0
  }

  /// The next line of an allocation's keeper.
  package mutating func nextOfKeeper() -> Step<AllocationLines.Report> {
    next(AllocationLines.report)
  }

  /// The next line as it is, for the call only.
  package mutating func nextLine(_ take: (UnsafeRawBufferPointer) -> Void) -> Step<Void> {
    next { take($0) }
  }

  /// The next line as text, whatever it is.
  package mutating func nextText() -> Step<String> { next { String(decoding: $0, as: UTF8.self) } }

  /// Takes the next line, which `decode` turns into a message. Not for other modules, where it would
  /// be compiled for any kind of message and slow for each.
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
