internal import OpflowBase
internal import OpflowPlan

/// The fields of a transition's line, read in one pass without allocation. A missing or invalid key
/// leaves the default. Numbers are bounded: the journal is untrusted.
package struct TransitionFields {
  /// At most the number of lines so far.
  var drive = 1
  var attempt: Int32 = 0
  var worker = WorkerID.none
  var isAhead = false
  var allowed = false
  var changedPart: Fingerprint.Part?
  var origin: UInt64?
  var isKept = false
  var isLate = false
  var isRestored = false
  /// Of an attempt; of other events the reason's word.
  var end = OutcomeFields()
  var delayMilliseconds: Int64 = 0
  var fingerprint = FingerprintText()
  /// Escaped.
  var culprit = UnsafeRawBufferPointer(start: nil, count: 0)
  var what = UnsafeRawBufferPointer(start: nil, count: 0)
  var left = UnsafeRawBufferPointer(start: nil, count: 0)
  var pids = UnsafeRawBufferPointer(start: nil, count: 0)

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

  /// Each earlier session wrote at least one line.
  static func drive(_ told: Int, at sequence: UInt64) -> Int {
    Swift.max(1, Swift.min(told, Int(clamping: sequence)))
  }

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
    } else if cursor.stands(at: .pids) {
      pids = cursor.text(.pids)
    } else if cursor.stands(at: .culprit) {
      culprit = cursor.text(.culprit)
    } else {
      end.read(&cursor)
      if cursor.position == start { cursor.pass() }
    }
  }
}

extension TransitionFields {
  func skipReason(_ plan: Plan) -> SkipReason? {
    SkipReason(word: end.reason, of: plan.task(escapedName: culprit) ?? .none)
  }

  func rerunReason(_ plan: Plan) -> RerunReason? {
    RerunReason(word: end.reason, part: changedPart, of: plan.task(escapedName: culprit) ?? .none)
  }
}

extension FieldCursor {
  private static let attemptLimit: Int64 = 1_000_000_000
  /// Far above the workers of a session.
  private static let workerLimit: Int64 = 1 << 16

  @inline(__always)
  mutating func attempt() -> Int32 {
    let value = digit(.attempt) ?? natural(.attempt)
    return value < Self.attemptLimit ? Int32(truncatingIfNeeded: value) : 0
  }

  @inline(__always)
  mutating func worker() -> WorkerID {
    Self.worker(digit(.worker) ?? natural(.worker))
  }

  @inline(__always)
  static func worker(_ number: Int64) -> WorkerID {
    number < workerLimit ? WorkerID(Int32(truncatingIfNeeded: number)) : .none
  }

  @_transparent
  mutating func flag(_ key: Key) -> Bool {
    if let value = digit(key) { return value == 1 }
    pass()
    return false
  }

  @inline(__always)
  mutating func fingerprint() -> FingerprintText {
    let text = FingerprintText(longText(.fingerprint))
    return text.isSound ? text : FingerprintText()
  }
}

/// `WHOLE.PARTS`: 16 and up to 16 hexadecimal digits. Older versions wrote a dash for the dot, and
/// hashed folders by absolute path (`FingerprintStyle`).
struct FingerprintText {
  private let text: UnsafeRawBufferPointer

  init() { text = UnsafeRawBufferPointer(start: nil, count: 0) }

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  /// Length and separator; the digits are checked by `value`.
  @inline(__always)
  var isSound: Bool {
    text.count > 17 && text.count <= 33
      && (text[16] == UInt8(ascii: ".") || text[16] == UInt8(ascii: "-"))
  }

  /// The last sixteen bytes cover everything after the whole.
  @inline(__always)
  var hasTabBehindWhole: Bool {
    text.eight(at: text.count &- 16).position(of: Field.tab) < 8
      || text.eight(at: text.count &- 8).position(of: Field.tab) < 8
  }

  @inline(__always)
  var isAbsolute: Bool { text.count > 17 && text[16] == UInt8(ascii: "-") }

  /// Encoding `whole` is faster than decoding the text.
  @inline(__always)
  func hasWhole(_ whole: UInt64) -> Bool {
    text.count > 17
      && text.eight(at: 0).bits
        == EightBytes.hexadecimal(of: UInt32(truncatingIfNeeded: whole >> 32)).bits
      && text.eight(at: 8).bits
        == EightBytes.hexadecimal(of: UInt32(truncatingIfNeeded: whole)).bits
  }

  /// Zeros if invalid.
  var value: Fingerprint {
    guard isSound, let bytes = ByteWindow(text), let whole = bytes.hexadecimal(0, digitCount: 16),
      let parts = bytes.hexadecimal(17, digitCount: text.count - 17)
    else { return Fingerprint(whole: 0, parts: 0) }
    return Fingerprint(whole: whole, parts: parts)
  }
}
