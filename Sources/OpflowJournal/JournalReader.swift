internal import OpflowBase

/// Reads the intact lines of a journal in order and records the damage between them.
///
/// A journal survives truncation at any byte, a torn last line, blocks of zeros or noise, flipped
/// bits, a duplicated tail, and an editor that writes CR LF. A line is intact if its checksum is
/// right and its SEQ is above all earlier ones; anything else is dropped up to the next line feed.
/// So a reader sees a subsequence of the written lines.
///
/// Reading changes nothing: `repair` is for the holder of the run's lock. A growing journal is read
/// in pieces, each by a new reader that starts at the last reader's `place`.
package struct JournalReader {
  private let bytes: ByteWindow
  private let base: Int
  private var position = 0
  private var numbers = LineNumbers()
  private var lineStart = 0
  private var lineEnd = 0
  /// Complete after `next` has returned nil.
  package private(set) var recovery: JournalRecovery
  private var recoveryBeforeDamage = JournalRecovery()
  private var lineCountBeforeDamage = -1

  /// `bytes` must not change during the read. Throws if the first line is not an intact `open` of a
  /// known format.
  package init(
    _ bytes: UnsafeRawBufferPointer, from place: JournalPlace = JournalPlace()
  ) throws(JournalError) {
    guard let bytes = ByteWindow(bytes) else { throw .empty }
    self.bytes = bytes
    base = place.offset
    recovery = place.recovery
    if base == 0 { _ = try Self.firstLine(bytes) } else { passLineFeed() }
  }

  package static func open(_ bytes: UnsafeRawBufferPointer) throws(JournalError) -> OpenEntry {
    guard let bytes = ByteWindow(bytes) else { throw .empty }
    guard let open = try firstLine(bytes).open else { throw .firstLine }
    return open
  }

  /// nil if the last line is not an intact `close`.
  package static func close(atEndOf bytes: UnsafeRawBufferPointer) -> CloseEntry? {
    let end = bytes.last == Field.lineFeed ? bytes.count - 1 : bytes.count
    let start = bytes[..<max(0, end)].lastIndex(of: Field.lineFeed).map { $0 + 1 } ?? 0
    let text = UnsafeRawBufferPointer(rebasing: bytes[start..<max(start, end)])
    guard let line = JournalLine(text), line.event == .close else { return nil }
    return line.close
  }

  private static func firstLine(_ bytes: ByteWindow) throws(JournalError) -> JournalLine {
    if bytes.count == 0 { throw .empty }
    var end = 0
    var numbers = LineNumbers()
    guard let line = JournalLine(in: bytes, at: 0, end: &end, &numbers), line.sequence == 1,
      line.event == .open
    else { throw .firstLine }
    let format = line.first(.format) { $0 }
    guard let format, format.natural == Int64(OpenEntry.currentFormat) else {
      throw .version(found: format?.text ?? "")
    }
    return line
  }

  private mutating func passLineFeed() {
    guard !recovery.endsWithLineFeed, bytes.count > 0, bytes[0] == Field.lineFeed
    else { return }
    position = 1
    recovery.passLineFeed(end: base + 1)
  }

  /// Without line feed and carriage return.
  package var lineText: UnsafeRawBufferPointer {
    let text = bytes.part(lineStart, lineEnd)
    return text.last == Field.carriageReturn ? text.part(0, text.count - 1) : text
  }

  /// Includes damage after the last line only if another line follows: until then a resume may cut
  /// it off.
  package var place: JournalPlace {
    let isDamaged = lineCountBeforeDamage == recovery.lineCount
    return JournalPlace(recovery: isDamaged ? recoveryBeforeDamage : recovery)
  }

  @inline(__always)
  package mutating func next() -> JournalLine? {
    while position < bytes.count {
      let start = position
      var end = start
      let read = JournalLine(in: bytes, at: start, end: &end, &numbers)
      position = Swift.min(end + 1, bytes.count)
      guard let line = read else {
        drop(start, end < bytes.count ? .unreadable : .torn)
        continue
      }
      let highest = recovery.lastSequence
      if line.sequence <= highest {
        drop(start, .repeated)
        continue
      }
      if line.sequence > highest + 1 {
        recovery.note(missing: (highest + 1)..<line.sequence, before: base + start)
      }
      recovery.apply(line.sequence, end: base + position, endsWithLineFeed: end < bytes.count)
      lineStart = start
      lineEnd = end
      return line
    }
    recovery.finish(byteCount: base + bytes.count)
    return nil
  }

  @inline(never)
  private mutating func drop(_ start: Int, _ kind: JournalDamage.Kind) {
    if lineCountBeforeDamage != recovery.lineCount {
      lineCountBeforeDamage = recovery.lineCount
      recoveryBeforeDamage = recovery
    }
    recovery.drop((base + start)..<(base + position), kind)
  }
}

package struct JournalPlace: Sendable {
  package fileprivate(set) var recovery = JournalRecovery()

  package init() {}

  fileprivate init(recovery: JournalRecovery) { self.recovery = recovery }

  package var offset: Int { recovery.intactByteCount }
}

package struct JournalRecovery: Equatable, Sendable {
  /// The first `placeLimit` places.
  package private(set) var damage: [JournalDamage] = []
  package private(set) var droppedLines = 0
  package private(set) var droppedBytes = 0
  /// SEQs without an intact line.
  package private(set) var missingLines: UInt64 = 0
  package private(set) var lineCount = 0
  package private(set) var lastSequence: UInt64 = 0
  package private(set) var intactByteCount = 0
  private(set) var endsWithLineFeed = true
  private var byteCount = 0

  package static let placeLimit = 100

  package init() {}

  package var repair: JournalRepair {
    JournalRepair(
      truncateTo: intactByteCount < byteCount ? intactByteCount : nil,
      appendsLineFeed: !endsWithLineFeed)
  }

  package var isIntact: Bool { droppedLines == 0 && missingLines == 0 }

  /// All damage can come from a kill, a full disk or a write in progress.
  package var isOnlyTorn: Bool {
    missingLines == 0 && damage.allSatisfy { $0.kind == .torn }
  }

  mutating func apply(_ sequence: UInt64, end: Int, endsWithLineFeed: Bool) {
    lineCount += 1
    lastSequence = sequence
    intactByteCount = end
    self.endsWithLineFeed = endsWithLineFeed
  }

  mutating func passLineFeed(end: Int) {
    intactByteCount = end
    endsWithLineFeed = true
  }

  mutating func drop(_ range: Range<Int>, _ kind: JournalDamage.Kind) {
    droppedLines += 1
    droppedBytes += range.count
    if let last = damage.last, last.kind == kind, last.offset + last.byteCount == range.lowerBound {
      damage[damage.count - 1].byteCount += range.count
      damage[damage.count - 1].lineCount += 1
    } else if damage.count < Self.placeLimit {
      damage.append(
        JournalDamage(offset: range.lowerBound, byteCount: range.count, lineCount: 1, kind: kind))
    }
  }

  mutating func note(missing sequences: Range<UInt64>, before offset: Int) {
    let count = sequences.upperBound - sequences.lowerBound
    missingLines += count
    // The damage directly before this line already reports the gap.
    if let last = damage.last, last.offset + last.byteCount == offset { return }
    if damage.count < Self.placeLimit {
      damage.append(
        JournalDamage(
          offset: offset, byteCount: 0, lineCount: Int(count), kind: .missing(sequences)))
    }
  }

  mutating func finish(byteCount: Int) { self.byteCount = byteCount }
}

/// Done by the holder of the run's lock, before it appends.
package struct JournalRepair: Equatable, Sendable {
  package var truncateTo: Int?
  package var appendsLineFeed: Bool

  package init(truncateTo: Int?, appendsLineFeed: Bool) {
    self.truncateTo = truncateTo
    self.appendsLineFeed = appendsLineFeed
  }
}

package struct JournalDamage: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// Not a line, or a wrong checksum.
    case unreadable
    /// Unreadable, at the end of the file, without a line feed.
    case torn
    /// Its SEQ is not above all earlier ones.
    case repeated
    /// The line here is intact, but these SEQs before it are missing.
    case missing(Range<UInt64>)
  }

  package var offset: Int
  package var byteCount: Int
  /// For `missing`: missing SEQs.
  package var lineCount: Int
  package var kind: Kind

  package init(offset: Int, byteCount: Int, lineCount: Int, kind: Kind) {
    self.offset = offset
    self.byteCount = byteCount
    self.lineCount = lineCount
    self.kind = kind
  }

  package var message: String {
    switch kind {
    case .unreadable:
      "byte \(offset): skipped \(byteCount) damaged bytes (\(lines))"
    case .torn: "byte \(offset): the last line is incomplete (\(byteCount) bytes)"
    case .repeated: "byte \(offset): skipped \(lines) repeated from earlier"
    case .missing(let sequences):
      sequences.count == 1
        ? "byte \(offset): line \(sequences.lowerBound) is missing"
        : "byte \(offset): lines \(sequences.lowerBound) to \(sequences.upperBound - 1) are missing"
    }
  }

  private var lines: String { lineCount == 1 ? "1 line" : "\(lineCount) lines" }
}

extension JournalReader {
  /// Returns the number in the last intact line that has one.
  package static func taskCount(atEndOf bytes: UnsafeRawBufferPointer) -> Int? {
    last(in: bytes) { line in line.event == .extend || line.event == .resume ? line.taskCount : nil
    }
  }

  package static func planKey(atEndOf bytes: UnsafeRawBufferPointer) -> String? {
    last(in: bytes) { line in
      guard line.event == .open || line.event == .resume else { return nil }
      return line.first(.plan) { $0.text }
    }
  }

  private static func last<Told>(
    in bytes: UnsafeRawBufferPointer, _ tell: (JournalLine) -> Told?
  ) -> Told? {
    guard let window = ByteWindow(bytes) else { return nil }
    var end = bytes.count
    var pieceBytes = 1 << 20
    while end > 0 {
      var start = max(0, end - pieceBytes)
      if start > 0 { start = window.position(of: Field.lineFeed, from: start - 1, to: end) + 1 }
      if start >= end {
        // The piece is shorter than its last line.
        pieceBytes *= 2
        continue
      }
      if let told = last(in: window, start..<end, tell) { return told }
      end = start
    }
    return nil
  }

  private static func last<Told>(
    in bytes: ByteWindow, _ piece: Range<Int>, _ tell: (JournalLine) -> Told?
  ) -> Told? {
    var last: Told?
    var position = piece.lowerBound
    var numbers = LineNumbers()
    while position < piece.upperBound {
      var end = position
      if let line = JournalLine(in: bytes, at: position, end: &end, &numbers), let told = tell(line)
      {
        last = told
      }
      position = end + 1
    }
    return last
  }
}

/// Reads SEQ and time of a line. Comparing with the next SEQ and the last hundred seconds is faster
/// than parsing.
struct LineNumbers {
  /// The expected SEQ, and its digits and tab within `mask`. If none is expected, `text` never
  /// matches.
  private var sequence: UInt64 = 0
  private var (text, mask) = Self.nothing
  private var length = 0
  /// The first eight digits of the last time, and their value.
  private var timeText: UInt64 = 0x3030_3030_3030_3030
  private var timeStart: UInt64 = 0

  private static let nothing: (text: UInt64, mask: UInt64) = (1, 0)

  /// Reads at most 19 digits; returns the position after the tab too.
  @inline(__always)
  mutating func readSequence(_ bytes: ByteWindow, _ start: Int) -> (UInt64, Int)? {
    let eight = bytes.eight(at: start)
    if eight.bits & mask == text {
      let found = (sequence, start &+ length)
      expect(sequence &+ 1, eight, length &- 1)
      return found
    }
    return readOther(bytes, start)
  }

  @inline(never)
  private mutating func readOther(_ bytes: ByteWindow, _ start: Int) -> (UInt64, Int)? {
    let found = Self.number(bytes, start)
    let eight = bytes.eight(at: start)
    let count = eight.digitCount
    if let found, count < 8 {
      expect(found.0 &+ 1, eight, count)
    } else {
      (text, mask) = Self.nothing
    }
    return found
  }

  /// `count` is one to seven.
  @inline(__always)
  private mutating func expect(_ next: UInt64, _ eight: EightBytes, _ count: Int) {
    sequence = next
    length = count &+ 1
    let last = UInt64(count &- 1) &* 8
    mask = .max &>> (48 &- last)
    text = (eight.bits & mask) &+ 1 &<< last
    // A last digit 9 carries; the next SEQ is parsed.
    if eight[count &- 1] == UInt8(ascii: "9") { (text, mask) = Self.nothing }
  }

  /// Fast for 13 digits: times from 2001 to 2286.
  @inline(__always)
  mutating func readTime(_ bytes: ByteWindow, _ start: Int) -> (UInt64, Int)? {
    let first = bytes.eight(at: start)
    if first.bits != timeText {
      guard first.have(shape: "00000000") else { return Self.number(bytes, start) }
      timeText = first.bits
      timeStart = first.decimal(8) &* 100_000
    }
    let rest = bytes.eight(at: start &+ 8)
    guard rest.have(shape: "00000\t") else { return Self.number(bytes, start) }
    return (timeStart &+ rest.decimal(5), start &+ 14)
  }

  @inline(never)
  private static func number(_ bytes: ByteWindow, _ start: Int) -> (UInt64, Int)? {
    var value: UInt64 = 0
    var position = start
    while position < bytes.count {
      let byte = bytes[position]
      if byte == Field.tab {
        let count = position &- start
        return count > 0 && count < 20 ? (value, position &+ 1) : nil
      }
      guard byte >= 48, byte <= 57 else { return nil }
      value = value &* 10 &+ UInt64(byte &- 48)
      position &+= 1
    }
    return nil
  }
}
