internal import OpflowBase

/// Finds each task's newest record in a growing file. Ignores damaged lines.
package struct RecordIndex: Sendable {
  package struct Place: Equatable, Sendable {
    package var start: Int
    package var end: Int
    /// 0 without a success.
    package var origin: UInt64 = 0
  }

  /// A task that started since its last success, or never had one.
  package struct Attempt: Equatable, Sendable {
    /// The last attempt with a recorded end.
    package var left: Place?
    /// The `void` line of an attempt without.
    package var start: Place?
  }

  private var places: [UInt64: Place] = [:]
  private var attempts: [UInt64: Attempt] = [:]
  /// The end of the last complete line read.
  package private(set) var byteCount = 0
  /// The block that the next line may continue.
  private var open: (task: UInt64, start: Int, lines: Int)?

  package init() {}

  package subscript(task: UInt64) -> Place? { places[task] }

  package func attempt(_ task: UInt64) -> Attempt? { attempts[task] }

  /// Worth keeping, in file order.
  package var all: [Place] { kept.sorted { $0.start < $1.start } }

  private var kept: [Place] {
    places.values + attempts.values.flatMap { [$0.left, $0.start].compactMap { $0 } }
  }

  /// At this threshold, an appended byte costs copying at most half a byte.
  package var isWasteful: Bool {
    if byteCount < Self.smallBytes { return false }
    return kept.reduce(0) { $0 + $1.end - $1.start } < byteCount / 3
  }

  private static let smallBytes = 1 << 20

  /// `bytes` is the file from `byteCount` on. An unfinished last line is left.
  package mutating func read(growing bytes: UnsafeRawBufferPointer) {
    let base = byteCount
    var position = 0
    while position < bytes.count {
      let rest = bytes.part(position, bytes.count)
      let (length, checksum) = Self.lengthAndChecksum(rest)
      if position + length >= bytes.count { break }
      take(rest.part(0, length), checksum, at: base + position)
      position += length + 1
      byteCount = base + position
    }
  }

  /// Longer than any line.
  package mutating func skipDamage(_ count: Int) {
    forgetAll()
    byteCount += count
  }

  private static func lengthAndChecksum(
    _ bytes: UnsafeRawBufferPointer
  ) -> (length: Int, checksum: UInt32) {
    guard bytes.count > 9, bytes.part(0, 9).position(of: Field.lineFeed, from: 0) == 9 else {
      return (bytes.position(of: Field.lineFeed, from: 0), 0)
    }
    let line = Hash.crc32cOfLine(bytes.part(9, bytes.count))
    return (line.length + 9, line.checksum)
  }

  private mutating func take(_ line: UnsafeRawBufferPointer, _ checksum: UInt32, at start: Int) {
    guard line.count > 9, let told = Hexadecimal.value(line.part(0, 8)), told == UInt64(checksum)
    else { return takeDamage(line) }
    if let block = open, Self.isInside(line, ofTask: block.task, number: block.lines + 1) {
      open?.lines += 1
      return
    }
    guard let parsed = RecordLine(line) else { return takeDamage(line) }
    if parsed.event == .void {
      open = nil
      noteStart(parsed, Place(start: start, end: start + line.count + 1))
      return
    }
    if parsed.sequence == 1 {
      open = (parsed.task, start, 1)
    } else if let block = open, block.task == parsed.task, block.lines + 1 == parsed.sequence {
      open = (block.task, block.start, parsed.sequence)
    } else {
      open = nil
      return
    }
    guard let block = open else { return }
    var place = Place(start: block.start, end: start + line.count + 1)
    switch parsed.event {
    case .record, .failure:
      place.origin = parsed.origin ?? 0
      places[block.task] = place
      attempts[block.task] = nil
    case .left: attempts[block.task] = Attempt(left: place)
    case .void, .input, .reading, .output, .target, .found, .value: return
    }
    open = nil
  }

  private mutating func noteStart(_ line: RecordLine, _ place: Place) {
    let last = places.removeValue(forKey: line.task) ?? attempts[line.task]?.left
    var fields = line.fields
    // Without a scan the files' owners are unknown.
    attempts[line.task] =
      fields.next()?.equals("looked") == true ? Attempt(left: last, start: place) : nil
  }

  private mutating func forgetAll() {
    places.removeAll()
    attempts.removeAll()
    open = nil
  }

  private mutating func takeDamage(_ line: UnsafeRawBufferPointer) {
    // A damaged line may hide a `void`, so that records are outdated. A block cut off by a crash is
    // harmless, after its task's `void`.
    if open == nil || Self.mayHideVoid(line) { forgetAll() }
    open = nil
  }

  /// True for an `in` or `out` with this number in the task's block. Nearly all lines are; testing
  /// only this saves a fifth of the time.
  private static func isInside(
    _ line: UnsafeRawBufferPointer, ofTask task: UInt64, number: Int
  ) -> Bool {
    let digits = line.eight(at: 9).digitCount
    guard digits > 0, digits < 8, line.eight(at: 9).decimal(digits) == UInt64(number) else {
      return false
    }
    let timeStart = 9 + digits + 1
    guard timeStart < line.count, line[timeStart - 1] == Field.tab else { return false }
    let timeEnd = line.position(of: Field.tab, from: timeStart)
    guard timeEnd < line.count else { return false }
    let word = line.eight(at: timeEnd + 1)
    let taskStart: Int
    if word.begins(with: "in", Field.tab) {
      taskStart = timeEnd + 4
    } else if word.begins(with: "out", Field.tab) {
      taskStart = timeEnd + 5
    } else {
      return false
    }
    let taskEnd = taskStart + 16
    guard taskEnd < line.count, line[taskEnd] == Field.tab else { return false }
    return Hexadecimal.value(line.part(taskStart, taskEnd)) == task
  }

  /// True for more damage than a block cut off: a `void` after a lost line feed, or zeros.
  private static func mayHideVoid(_ line: UnsafeRawBufferPointer) -> Bool {
    let word = Array("\tvoid\t".utf8)
    return line.contains(0)
      || line.indices.contains { line[$0...].starts(with: word) }
  }
}
