internal import OpflowBase
package import OpflowPlan

/// Text queued for a slow reader: bounded, with a count in place of dropped lines.
struct Backlog {
  enum Kind {
    /// Output of tasks, which is also in their logs.
    case output
    case event
    /// Never dropped.
    case closing
  }

  let outputLimit: Int
  let eventLimit: Int

  private struct Segment {
    var bytes: [UInt8] = []
    var lines = 0
    var kind: Kind
    var isGap = false
    var log: LogRange?
  }

  /// The queue begins at index `first`.
  private var segments: [Segment] = []
  private var first = 0
  private var outputBytes = 0
  private var eventBytes = 0
  private(set) var lineCount = 0

  /// The size up to which segments are joined, and taken together.
  private static let pieceBytes = 65_536
  /// The accounted size of a gap, so that even a million gaps are bounded.
  private static let gapBytes = 64
  private static let logBytes = 256

  init(outputLimit: Int, eventLimit: Int) {
    self.outputLimit = outputLimit
    self.eventLimit = eventLimit
  }

  var isEmpty: Bool { first == segments.count }

  var outputRoom: Int { max(0, outputLimit - outputBytes) }

  mutating func add(_ bytes: [UInt8], _ kind: Kind) {
    if bytes.isEmpty { return }
    let lines = Self.lines(bytes)
    guard hasRoom(kind) else { return leaveOut(lines, kind) }
    lineCount += lines
    count(bytes.count, kind)
    if let last = segments.indices.last, last >= first, segments[last].kind == kind,
      !segments[last].isGap, segments[last].log == nil,
      segments[last].bytes.count + bytes.count <= Self.pieceBytes
    {
      segments[last].bytes += bytes
      segments[last].lines += lines
    } else {
      segments.append(Segment(bytes: bytes, lines: lines, kind: kind))
    }
  }

  mutating func add(_ log: LogRange) {
    guard hasRoom(.event) else { return leaveOut(1, .output) }
    count(Self.logBytes, .event)
    segments.append(Segment(kind: .output, log: log))
  }

  /// nil unless everything before the log range has been taken.
  var wanted: LogRange? { isEmpty ? nil : segments[first].log }

  mutating func advance(to offset: Int64, lines: Int) {
    guard var log = wanted else { return }
    lineCount += lines
    log.bytes = max(offset, log.bytes.lowerBound)..<max(offset, log.bytes.upperBound)
    log.isNew = false
    segments[first].log = log
    if !log.bytes.isEmpty { return }
    count(-Self.logBytes, .event)
    segments[first] = Segment(kind: .output)
    first += 1
    removeTaken()
  }

  mutating func leaveOutOutput() {
    let waiting = segments[first...]
    segments = []
    first = 0
    outputBytes = 0
    for segment in waiting {
      if let log = segment.log {
        count(-Self.logBytes, .event)
        let missing = SizeText.text(
          bytes: UInt64(max(0, log.bytes.upperBound - log.bytes.lowerBound)))
        let path = CleanText.string(log.path)
        add(Array("… \(missing) not shown; full log: \(path)\n".utf8), .event)
      } else if segment.kind == .output, !segment.isGap {
        leaveOut(segment.lines, .output)
      } else if segment.isGap {
        count(-Self.gapBytes, .event)
        leaveOut(segment.lines, segment.kind)
      } else {
        segments.append(segment)
      }
    }
  }

  /// Returns the next lines; empty if the queue is empty or a log range is next. `gap` returns a
  /// line with the number of missing lines.
  mutating func take(_ gap: (_ lines: Int, _ isOutput: Bool) -> [UInt8]) -> [UInt8] {
    var taken: [UInt8] = []
    while first < segments.count {
      let segment = segments[first]
      if segment.log != nil { return taken }
      if !taken.isEmpty, taken.count + segment.bytes.count > Self.pieceBytes { break }
      if segment.isGap {
        count(-Self.gapBytes, .event)
        taken += gap(segment.lines, segment.kind == .output)
      } else {
        count(-segment.bytes.count, segment.kind)
        if taken.isEmpty { taken = segment.bytes } else { taken += segment.bytes }
      }
      segments[first].bytes = []
      first += 1
    }
    removeTaken()
    return taken
  }

  private mutating func removeTaken() {
    if first == segments.count {
      segments.removeAll(keepingCapacity: segments.count < 1024)
      first = 0
    } else if first > 1024, first > segments.count / 2 {
      segments.removeFirst(first)
      first = 0
    }
  }

  private func hasRoom(_ kind: Kind) -> Bool {
    switch kind {
    case .output: outputBytes < outputLimit
    case .event: eventBytes < eventLimit
    case .closing: true
    }
  }

  private mutating func count(_ bytes: Int, _ kind: Kind) {
    if kind == .output { outputBytes += bytes } else { eventBytes += bytes }
  }

  private mutating func leaveOut(_ lines: Int, _ kind: Kind) {
    // Beyond the event limit, gaps of both kinds are merged.
    if let last = segments.indices.last, last >= first, segments[last].isGap,
      segments[last].kind == kind || eventBytes >= eventLimit
    {
      segments[last].lines += lines
      if kind != .output { segments[last].kind = kind }
    } else {
      count(Self.gapBytes, .event)
      segments.append(Segment(lines: lines, kind: kind, isGap: true))
    }
  }

  private static func lines(_ bytes: [UInt8]) -> Int {
    bytes.reduce(0) { $0 + ($1 == Field.lineFeed ? 1 : 0) }
  }
}

/// The output of an attempt as a range of its log, read piece by piece, as fast as the view's
/// reader.
package struct LogRange: Sendable {
  package let task: TaskID
  /// The attempt's header may be at the start of the range.
  let attempt: Int32
  package internal(set) var bytes: Range<Int64>
  var isNew = true
  let path: String
}
