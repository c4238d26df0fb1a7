/// Reads a journal's intact lines in order, and takes note of what is damaged between them.
///
/// A journal survives truncation at any byte, a torn last line, blocks of zeros or noise, flipped
/// bits, a duplicated tail, and an editor that wrote CR LF. Every line stands for itself: one whose
/// checksum holds and whose SEQ is above all before it is intact, whatever surrounds it; anything
/// else is dropped up to the next line feed. So a reader sees some of the lines that were written,
/// in their order, and never one that was not.
///
/// Reading changes nothing: `repair` says what the holder of the run's lock has to do to the file
/// before it appends. Reading what a repair left gives the same lines. A journal that grows is read in
/// pieces, by a reader for each, which goes on at the `place` of the one before.
package struct JournalReader {
  private let bytes: ByteWindow
  /// Where they begin in the file.
  private let base: Int
  private var position = 0
  private var numbers = LineNumbers()
  private var lineStart = 0
  private var lineEnd = 0
  /// Everything that the reader found besides lines; complete when `next` has returned nil.
  package private(set) var recovery: JournalRecovery
  /// What it was before the newest damage, and after how many lines that is.
  private var recoveryBeforeDamage = JournalRecovery()
  private var lineCountBeforeDamage = -1

  /// Reads over `bytes`, which must stay as they are while the reader and its lines are used.
  ///
  /// - Parameter place: where they begin in the file.
  /// - Throws: when the first line of the file is no intact `open` of a known format. A journal without
  ///   its first line cannot be told from another file, or from another run's journal.
  package init(
    _ bytes: UnsafeRawBufferPointer, from place: JournalPlace = JournalPlace()
  ) throws(JournalError) {
    guard let bytes = ByteWindow(bytes) else { throw .empty }
    self.bytes = bytes
    base = place.offset
    recovery = place.recovery
    if base == 0 { _ = try Self.firstLine(bytes) } else { passLineFeed() }
  }

  /// What the first line says, without a look at the rest.
  package static func open(_ bytes: UnsafeRawBufferPointer) throws(JournalError) -> OpenEntry {
    guard let bytes = ByteWindow(bytes) else { throw .empty }
    guard let open = try firstLine(bytes).open else { throw .firstLine }
    return open
  }

  /// How the run's newest drive ended, by the last line, without a look at the rest; nil where that is no
  /// intact `close`.
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

  /// The last line before these bytes was read without its line feed, which is theirs now.
  private mutating func passLineFeed() {
    guard !recovery.endsWithLineFeed, bytes.count > 0, bytes[0] == Field.lineFeed
    else { return }
    position = 1
    recovery.passLineFeed(end: base + 1)
  }

  /// The last line that `next` returned, as opflow wrote it, without its line feed.
  package var lineText: UnsafeRawBufferPointer {
    let text = bytes.part(lineStart, lineEnd)
    return text.last == Field.carriageReturn ? text.part(0, text.count - 1) : text
  }

  /// The end of the last line that `next` returned. What is damaged behind it counts once it is known
  /// what follows: a resume may cut it off, and write other lines there.
  package var place: JournalPlace {
    let isDamaged = lineCountBeforeDamage == recovery.lineCount
    return JournalPlace(
      recovery: isDamaged ? recoveryBeforeDamage : recovery)
  }

  /// The next intact line; nil at the end.
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

  /// Drops what stands from `start` up to `position`.
  @inline(never)
  private mutating func drop(_ start: Int, _ kind: JournalDamage.Kind) {
    if lineCountBeforeDamage != recovery.lineCount {
      lineCountBeforeDamage = recovery.lineCount
      recoveryBeforeDamage = recovery
    }
    recovery.drop((base + start)..<(base + position), kind)
  }
}

/// A place in a journal's file, the end of an intact line, and what was found before it.
package struct JournalPlace: Sendable {
  /// Of what stands before it.
  package fileprivate(set) var recovery = JournalRecovery()

  /// The beginning.
  package init() {}

  fileprivate init(recovery: JournalRecovery) {
    self.recovery = recovery
  }

  /// In bytes from the beginning of the file.
  package var offset: Int { recovery.intactByteCount }
}
