internal import OpflowBase

/// Reads the intact lines of a journal in order and records the damage between them.
///
/// A journal survives truncation at any byte, a torn last line, blocks of zeros or noise, flipped
/// bits, a duplicated tail, and an editor that writes CR LF. A line is intact if its checksum holds
/// and its SEQ is above all before it; everything else is dropped up to the next line feed. So a
/// reader sees a subsequence of the lines written.
///
/// Reading changes nothing: `repair` is for the holder of the run's lock. A growing journal is read
/// in pieces, each by a new reader that starts at the `place` of the last one.
package struct JournalReader {
  private let bytes: ByteWindow
  /// The offset of `bytes` in the file.
  private let base: Int
  private var position = 0
  private var numbers = LineNumbers()
  private var lineStart = 0
  private var lineEnd = 0
  /// Complete after `next` has returned nil.
  package private(set) var recovery: JournalRecovery
  /// Before the newest damage.
  private var recoveryBeforeDamage = JournalRecovery()
  private var lineCountBeforeDamage = -1

  /// `bytes` must not change meanwhile. Throws if the file's first line is not an intact `open` of
  /// a known format.
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

  /// How the newest session ended; nil if the last line is not an intact `close`.
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
    let format = line.fields.first { $0.key == .format }
    guard let format, format.natural == Int64(OpenEntry.currentFormat) else {
      throw .version(found: format?.text ?? "")
    }
    return line
  }

  /// The last piece may have ended without it.
  private mutating func passLineFeed() {
    guard !recovery.endsWithLineFeed, bytes.count > 0, bytes[0] == Field.lineFeed
    else { return }
    position = 1
    recovery.passLineFeed(end: base + 1)
  }

  /// Of `next`, without line feed and carriage return.
  package var lineText: UnsafeRawBufferPointer {
    let text = bytes.part(lineStart, lineEnd)
    return text.last == Field.carriageReturn ? text.part(0, text.count - 1) : text
  }

  /// After the last line of `next`. Damage after it counts only when another line follows: until
  /// then a resume may cut it off.
  package var place: JournalPlace {
    let isDamaged = lineCountBeforeDamage == recovery.lineCount
    return JournalPlace(
      recovery: isDamaged ? recoveryBeforeDamage : recovery)
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
      recovery.apply(
        line.sequence, end: base + position, endsWithLineFeed: end < bytes.count)
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

  fileprivate init(recovery: JournalRecovery) {
    self.recovery = recovery
  }

  package var offset: Int { recovery.intactByteCount }
}
