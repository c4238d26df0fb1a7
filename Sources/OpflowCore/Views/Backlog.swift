/// Text on its way to a reader who may be slow, or read nothing at all: in order, bounded, and with a
/// count where something had to be left out.
struct Backlog {
  enum Kind {
    /// What tasks print; it is in their logs too.
    case output
    /// What happens: starts, ends, failures, warnings.
    case event
    /// The last words, which are always taken in.
    case closing
  }

  /// With so many bytes that wait no more are taken in, of output and of events.
  let outputLimit: Int
  let eventLimit: Int

  private struct Segment {
    var bytes: [UInt8] = []
    var lines = 0
    var kind: Kind
    /// Its lines were left out.
    var isGap = false
    /// In place of bytes: they are read when their turn comes.
    var log: LogRange?
  }

  /// From `first` on they wait.
  private var segments: [Segment] = []
  private var first = 0
  private var outputBytes = 0
  private var eventBytes = 0
  /// All lines that were ever taken in.
  private(set) var lineCount = 0

  /// What is handed on at once, where that much waits.
  private static let pieceBytes = 65_536
  /// What a gap counts, so that a million of them are bounded too.
  private static let gapBytes = 64
  /// What the place of a log counts.
  private static let logBytes = 256

  init(outputLimit: Int, eventLimit: Int) {
    self.outputLimit = outputLimit
    self.eventLimit = eventLimit
  }

  var isEmpty: Bool { first == segments.count }

  /// How many bytes of output may follow.
  var outputRoom: Int { max(0, outputLimit - outputBytes) }

  /// Takes in whole lines.
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

  /// What a try printed, which is to be read when its turn comes.
  mutating func add(_ log: LogRange) {
    guard hasRoom(.event) else { return leaveOut(1, .output) }
    count(Self.logBytes, .event)
    segments.append(Segment(kind: .output, log: log))
  }

  /// What is to be read now, since all before it is taken.
  var wanted: LogRange? { isEmpty ? nil : segments[first].log }

  /// The same was read up to an offset, in so many lines.
  mutating func advance(to offset: Int64, lines: Int) {
    guard var log = wanted else { return }
    lineCount += lines
    log.bytes = max(offset, log.bytes.lowerBound)..<max(offset, log.bytes.upperBound)
    log.isNew = false
    segments[first].log = log
    if log.bytes.isEmpty { drop() }
  }

  /// Takes the first one out.
  private mutating func drop() {
    count(-Self.logBytes, .event)
    segments[first] = Segment(kind: .output)
    first += 1
    if first == segments.count {
      segments.removeAll(keepingCapacity: segments.count < 1024)
      first = 0
    }
  }

  /// Leaves out the output that waits: what happened is to be read first.
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
        add(Array("… \(missing) not shown, see \(CleanText.string(log.path))\n".utf8), .event)
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

  /// What comes next, a few lines or all; empty when nothing waits.
  ///
  /// - Parameter gap: tells how many lines are missing here, in a line of its own.
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
    if first == segments.count {
      segments.removeAll(keepingCapacity: segments.count < 1024)
      first = 0
    } else if first > 1024, first > segments.count / 2 {
      segments.removeFirst(first)
      first = 0
    }
    return taken
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
    // Where events are left out as well, it no longer matters what else is.
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
