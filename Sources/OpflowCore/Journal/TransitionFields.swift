/// What the keys of a transition's line say, read in one pass and without allocation.
///
/// A key that is missing, or whose value is none, leaves what stands here. The journal is untrusted
/// input: numbers are bounded so that a reader may count on from them.
struct TransitionFields {
  /// Of the run, never above the number of lines up to here; 1 where the line has none.
  var drive = 1
  var attempt: Int32 = 0
  /// `none` where it is not told.
  var worker = WorkerID.none
  var isAhead = false
  var allowed = false
  var changedPart: Fingerprint.Part?
  /// Of a `fresh`; nil where it is not told.
  var origin: UInt64?
  var isKept = false
  var isLate = false
  var isRestored = false
  /// The end of a try; of other events its reason's word.
  var end = OutcomeFields()
  var delayMilliseconds: Int64 = 0
  var fingerprint = FingerprintText()
  /// Escaped; empty for none.
  var culprit = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Escaped.
  var what = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Escaped.
  var left = UnsafeRawBufferPointer(start: nil, count: 0)

  init(_ line: JournalLine) {
    var cursor = line.cursor
    // Nearly all lines have these, in this order.
    if cursor.stands(at: .attempt) { attempt = cursor.attempt() }
    if cursor.stands(at: .worker) { worker = cursor.worker() }
    if cursor.stands(at: .ahead) { isAhead = cursor.flag(.ahead) }
    if !cursor.isAtEnd { end.read(&cursor) }
    while !cursor.isAtEnd { read(&cursor) }
    if drive != 1 { drive = Self.drive(drive, at: line.sequence) }
  }

  /// The number of a drive as the line with that SEQ may tell it: each drive before it has written a line at
  /// least, so that no more of them than lines can have been.
  static func drive(_ told: Int, at sequence: UInt64) -> Int {
    Swift.max(1, Swift.min(told, Int(clamping: sequence)))
  }

  /// Any field, at any place.
  private mutating func read(_ cursor: inout FieldCursor) {
    let start = cursor.position
    if cursor.stands(at: .drive) {
      drive = Int(cursor.natural(.drive))
    } else if cursor.stands(at: .attempt) {
      attempt = cursor.attempt()
    } else if cursor.stands(at: .worker) {
      worker = cursor.worker()
    } else if cursor.stands(at: .ahead) {
      isAhead = cursor.flag(.ahead)
    } else if cursor.stands(at: .delay) {
      delayMilliseconds = cursor.natural(.delay)
    } else if cursor.stands(at: .allowed) {
      allowed = cursor.flag(.allowed)
    } else if cursor.stands(at: .fingerprint) {
      fingerprint = cursor.fingerprint()
    } else if cursor.stands(at: .part) {
      changedPart = Fingerprint.Part(word: cursor.text(.part))
    } else if cursor.stands(at: .origin) {
      origin = Hexadecimal.value(cursor.text(.origin))
    } else if cursor.stands(at: .kept) {
      isKept = cursor.flag(.kept)
    } else if cursor.stands(at: .late) {
      isLate = cursor.flag(.late)
    } else if cursor.stands(at: .restored) {
      isRestored = cursor.flag(.restored)
    } else if cursor.stands(at: .what) {
      what = cursor.text(.what)
    } else if cursor.stands(at: .left) {
      left = cursor.text(.left)
    } else if cursor.stands(at: .culprit) {
      culprit = cursor.text(.culprit)
    } else {
      end.read(&cursor)
      // Another key, or none.
      if cursor.position == start { cursor.pass() }
    }
  }
}

extension TransitionFields {
  /// Why a task was skipped, of a `skip`; nil where it is not told, or is none that this opflow knows.
  func skipReason(_ plan: Plan) -> SkipReason? {
    SkipReason(word: end.reason, of: plan.task(escapedName: culprit) ?? .none)
  }

  /// Why it runs again, of a `resume`.
  func rerunReason(_ plan: Plan) -> RerunReason? {
    RerunReason(word: end.reason, part: changedPart, of: plan.task(escapedName: culprit) ?? .none)
  }
}

/// Values of a transition, bounded.
extension FieldCursor {
  private static let attemptLimit: Int64 = 1_000_000_000
  /// Far more workers than a drive has. A larger number is of no known opflow.
  private static let workerLimit: Int64 = 1 << 16

  @inline(__always)
  mutating func attempt() -> Int32 {
    let value = digit(.attempt) ?? natural(.attempt)
    return value < Self.attemptLimit ? Int32(truncatingIfNeeded: value) : 0
  }

  /// `none` for what is none.
  @inline(__always)
  mutating func worker() -> WorkerID {
    Self.worker(digit(.worker) ?? natural(.worker))
  }

  /// By a number that is not negative.
  @inline(__always)
  static func worker(_ number: Int64) -> WorkerID {
    number < workerLimit ? WorkerID(Int32(truncatingIfNeeded: number)) : .none
  }

  /// Whether the value is `1`.
  @_transparent
  mutating func flag(_ key: Key) -> Bool {
    if let value = digit(key) { return value == 1 }
    pass()
    return false
  }

  /// Of no length for what is none.
  @inline(__always)
  mutating func fingerprint() -> FingerprintText {
    let text = FingerprintText(longText(.fingerprint))
    return text.isSound ? text : FingerprintText()
  }
}

/// A fingerprint as a line has it: `WHOLE.PARTS`, 16 hexadecimal digits and one to sixteen. An older
/// opflow wrote a dash, and took folders by their absolute paths (`FingerprintStyle`).
struct FingerprintText {
  private let text: UnsafeRawBufferPointer

  /// None.
  init() { text = UnsafeRawBufferPointer(start: nil, count: 0) }

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  /// Whether it has the length of one, and the dot or dash. What else it is shows when it is read.
  @inline(__always)
  var isSound: Bool {
    text.count > 17 && text.count <= 33
      && (text[16] == UInt8(ascii: ".") || text[16] == UInt8(ascii: "-"))
  }

  /// Of one that is sound: whether a tab stands in its last sixteen bytes, which is all behind its whole, and more.
  @inline(__always)
  var hasTabBehindWhole: Bool {
    text.eight(at: text.count &- 16).position(of: Field.tab) < 8
      || text.eight(at: text.count &- 8).position(of: Field.tab) < 8
  }

  @inline(__always)
  var isAbsolute: Bool { text.count > 17 && text[16] == UInt8(ascii: "-") }

  /// Whether that is its whole. Told by the text, of which it takes less to write what it should be than
  /// to read what it is.
  @inline(__always)
  func hasWhole(_ whole: UInt64) -> Bool {
    text.count > 17
      && text.eight(at: 0).bits
        == EightBytes.hexadecimal(of: UInt32(truncatingIfNeeded: whole >> 32)).bits
      && text.eight(at: 8).bits
        == EightBytes.hexadecimal(of: UInt32(truncatingIfNeeded: whole)).bits
  }

  /// Zeros where it is none.
  var value: Fingerprint {
    guard isSound, let bytes = ByteWindow(text), let whole = bytes.hexadecimal(0, digitCount: 16),
      let parts = bytes.hexadecimal(17, digitCount: text.count - 17)
    else { return Fingerprint(whole: 0, parts: 0) }
    return Fingerprint(whole: whole, parts: parts)
  }
}
