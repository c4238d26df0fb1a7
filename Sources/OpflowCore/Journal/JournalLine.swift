/// A line of the journal, read where it lies: valid as long as the bytes that it was made over.
///
/// Names and texts are escaped bytes, since the journal may speak of tasks that the plan no longer
/// has, and a fold over a million lines makes no strings.
package struct JournalLine {
  package let sequence: UInt64
  /// Since the epoch.
  package let milliseconds: Int64
  package let event: JournalEvent
  /// Where the line stands. Behind it stands a line feed, a carriage return or nothing: a byte of no
  /// key and of no number, so that both are read without a look at where the line ends.
  let bytes: ByteWindow
  private let taskStart: Int
  private let taskEnd: Int
  let end: Int

  /// Beyond every number that a run can reach, so that counting on from a line never overflows.
  static let sequenceLimit: UInt64 = 1 << 62

  /// Reads a line, which is given without its line feed; nil when its checksum does not hold or it
  /// has another shape.
  package init?(_ line: UnsafeRawBufferPointer) {
    guard let bytes = ByteWindow(line), Self.hasChecksum(bytes, 0),
      Self.holds(bytes, 0, Hash.crc32c(bytes.part(9, bytes.count)))
    else { return nil }
    var numbers = LineNumbers()
    self.init(intact: bytes, from: 9, to: bytes.count, &numbers)
  }

  /// Reads the line that begins at `start`; nil as above. Sets `end` to where its line feed is, or to
  /// the end of the bytes. An editor may have put a carriage return at its end, where opflow never
  /// writes one.
  @inline(__always)
  init?(
    in bytes: ByteWindow, at start: Int, end: inout Int, _ numbers: inout LineNumbers
  ) {
    let body = start &+ 9
    guard Self.hasChecksum(bytes, start) else {
      end = bytes.position(of: Field.lineFeed, from: start, to: bytes.count)
      return nil
    }
    let rest = Hash.crc32cOfLine(bytes.part(body, bytes.count))
    end = body &+ rest.length
    var stop = end
    var checksum = rest.checksum
    // The tab stands before the body, so there is a byte to look at.
    if bytes[end &- 1] == Field.carriageReturn {
      stop = end &- 1
      checksum = Hash.crc32c(bytes.part(body, stop))
    }
    guard Self.holds(bytes, start, checksum) else {
      // What stands for the checksum may have a line feed in it.
      end = bytes.position(of: Field.lineFeed, from: start, to: end)
      return nil
    }
    self.init(intact: bytes, from: body, to: stop, &numbers)
  }

  /// Whether there is room for a checksum at `start`, and a tab behind it.
  @inline(__always)
  private static func hasChecksum(_ bytes: ByteWindow, _ start: Int) -> Bool {
    start &+ 9 <= bytes.count && bytes[start &+ 8] == Field.tab
  }

  @inline(__always)
  private static func holds(_ bytes: ByteWindow, _ start: Int, _ checksum: UInt32) -> Bool {
    bytes.eight(at: start).bits == EightBytes.hexadecimal(of: checksum).bits
  }

  /// Takes apart what the checksum covers.
  @inline(__always)
  private init?(
    intact bytes: ByteWindow, from start: Int, to end: Int, _ numbers: inout LineNumbers
  ) {
    guard let (sequence, timeStart) = numbers.readSequence(bytes, start),
      sequence < Self.sequenceLimit,
      let (milliseconds, wordStart) = numbers.readTime(bytes, timeStart),
      milliseconds < Self.sequenceLimit
    else { return nil }
    self.sequence = sequence
    self.milliseconds = Int64(bitPattern: milliseconds)
    self.bytes = bytes
    self.end = end
    // Nearly all lines are one of these two.
    let word = bytes.eight(at: wordStart)
    if word.begins(with: TransitionKind.success.word, Field.tab) {
      taskStart = wordStart &+ 8
      event = .transition(.success)
    } else if word.begins(with: TransitionKind.start.word, Field.tab) {
      taskStart = wordStart &+ 6
      event = .transition(.start)
    } else {
      let wordEnd = bytes.position(of: Field.tab, from: wordStart, to: end)
      guard wordEnd < end else { return nil }
      taskStart = wordEnd &+ 1
      // An empty name is that of the run.
      let ofRun = taskStart == end || bytes[taskStart] == Field.tab
      event = JournalEvent(word: bytes.part(wordStart, wordEnd), ofRun: ofRun)
    }
    taskEnd = bytes.position(of: Field.tab, from: taskStart, to: end)
  }

  /// Escaped, as it stands; empty where the line speaks of the run.
  package var task: UnsafeRawBufferPointer { bytes.part(taskStart, taskEnd) }

  /// The last eight bytes of the task, or all where it has less, and what stands before it.
  @inline(__always)
  var ending: TaskEnding {
    // There are more than eight bytes before a task.
    TaskEnding(bytes.eight(at: taskEnd &- 8), length: min(taskEnd &- taskStart, 8))
  }

  /// Whether the task's name is another than `task`, which stands for it.
  @inline(__always)
  func hasEscapedTask(_ ending: TaskEnding) -> Bool {
    ending.hasBackslash
      || taskEnd &- taskStart > 8
        && bytes.position(of: Field.backslash, from: taskStart, to: taskEnd) < taskEnd
  }

  /// Where the keys and values begin, with the tabs between them.
  @inline(__always)
  var fieldsStart: Int { min(taskEnd &+ 1, end) }

  @inline(__always)
  var cursor: FieldCursor { FieldCursor(bytes, from: fieldsStart, to: end) }

  /// What stands behind the task, in the order of the line.
  package var fields: LineFields { LineFields(bytes.part(fieldsStart, end)) }
}
