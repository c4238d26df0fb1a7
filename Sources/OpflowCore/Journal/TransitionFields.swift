/// What the keys of a transition's line say that a fold over a journal asks for, read in one pass and
/// without allocation.
///
/// A key that is missing, or whose value is none, leaves what stands here. The journal is untrusted
/// input: numbers are bounded so that a reader may count on from them.
struct TransitionFields {
  /// Of the run; 1 where the line has none.
  var drive = 1
  var attempt: Int32 = 0
  /// `none` where it is not told.
  var worker = WorkerID.none
  var isAhead = false
  var status: ExitStatus = .unknown
  var allowed = false
  var changedPart: Fingerprint.Part?
  var wallMicroseconds: Int64 = 0
  var fingerprint = FingerprintText()
  /// The word of the reason; empty for none. The event tells of what.
  var reason = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Escaped; empty for none.
  var culprit = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Escaped.
  var what = UnsafeRawBufferPointer(start: nil, count: 0)
  /// Escaped.
  var left = UnsafeRawBufferPointer(start: nil, count: 0)

  static let attemptLimit: Int64 = 1_000_000_000
  /// Far more workers than a drive has. A larger number is of no known opflow.
  static let workerLimit: Int64 = 1 << 16

  /// Nothing said.
  @inline(__always)
  init() {}

  init(_ line: JournalLine) { read(line) }

  /// Takes in what a line says; before it nothing was. Apart from `init`, so that a reader of many lines
  /// has no copies.
  @inline(__always)
  mutating func read(_ line: JournalLine) {
    var cursor = FieldCursor(line)
    if cursor.begins(with: "n=") { readAttempt(&cursor) }
    if cursor.begins(with: "w=") { readWorker(&cursor) }
    // That is all of a start, but of one ahead.
    if !cursor.isAtEnd { readEnd(&cursor) }
    while !cursor.isAtEnd { cursor = readOther(cursor) }
  }

  /// The fields of a success, in the order in which an encoder writes them, as far as they stand so.
  @inline(__always)
  private mutating func readEnd(_ cursor: inout FieldCursor) {
    if cursor.begins(with: "ahead=1") { isAhead = true }
    if cursor.begins(with: "exit=0\t") {
      status = .exit(0)
      cursor.skip(7)
    }
    if cursor.begins(with: "wall=") { wallMicroseconds = cursor.natural(behind: 5) }
    if cursor.begins(with: "user=") { cursor.pass(behind: 5) }
    if cursor.begins(with: "sys=") { cursor.pass(behind: 4) }
    if cursor.begins(with: "rss=") { cursor.pass(behind: 4) }
    if cursor.begins(with: "out=") { cursor.pass(behind: 4) }
    if cursor.begins(with: "fp=") { readFingerprint(&cursor) }
  }

  @inline(__always)
  private mutating func readAttempt(_ cursor: inout FieldCursor) {
    let value = cursor.digit(behind: 2) ?? cursor.natural(behind: 2)
    attempt = value < Self.attemptLimit ? Int32(truncatingIfNeeded: value) : 0
  }

  @inline(__always)
  private mutating func readWorker(_ cursor: inout FieldCursor) {
    let value = cursor.digit(behind: 2) ?? cursor.natural(behind: 2)
    if value < Self.workerLimit { worker = WorkerID(Int32(truncatingIfNeeded: value)) }
  }

  @inline(__always)
  private mutating func readFingerprint(_ cursor: inout FieldCursor) {
    let text = FingerprintText(cursor.longText(behind: 3))
    if text.isSound { fingerprint = text }
  }

  /// Any field, at any place.
  @inline(never)
  private mutating func readOther(_ start: FieldCursor) -> FieldCursor {
    var cursor = start
    let key = cursor.eight
    if key.begins(with: "n=") {
      readAttempt(&cursor)
    } else if key.begins(with: "d=") {
      drive = Swift.max(1, Int(cursor.natural(behind: 2)))
    } else if key.begins(with: "w=") {
      readWorker(&cursor)
    } else if key.begins(with: "ahead=") {
      isAhead = cursor.text(behind: 6).equals("1")
    } else if key.begins(with: "exit=") {
      if let code = cursor.small(behind: 5) { status = .exit(code) }
    } else if key.begins(with: "signal=") {
      if let signal = cursor.small(behind: 7) { status = .signal(signal) }
    } else if key.begins(with: "reason=") {
      reason = cursor.text(behind: 7)
    } else if key.begins(with: "wall=") {
      wallMicroseconds = cursor.natural(behind: 5)
    } else if key.begins(with: "allowed=") {
      allowed = cursor.text(behind: 8).equals("1")
    } else if key.begins(with: "fp=") {
      readFingerprint(&cursor)
    } else if key.begins(with: "part=") {
      changedPart = Fingerprint.Part(word: cursor.text(behind: 5))
    } else if key.begins(with: "what=") {
      what = cursor.text(behind: 5)
    } else if key.begins(with: "left=") {
      left = cursor.text(behind: 5)
    } else if key.begins(with: "of=") {
      culprit = cursor.text(behind: 3)
    } else {
      // Another key, or none.
      cursor.pass(behind: 0)
    }
    return cursor
  }
}

extension TransitionFields {
  /// Why a try ended; nil where it is not told, or is none that this opflow knows.
  @inline(__always)
  var endReason: EndReason? { reason.isEmpty ? nil : EndReason(word: reason) }

  /// The same of a `skip`.
  func skipReason(_ plan: Plan) -> SkipReason? {
    SkipReason(word: reason, of: plan.task(escapedName: culprit) ?? .none)
  }

  /// The same of a `resume`.
  func rerunReason(_ plan: Plan) -> RerunReason? {
    RerunReason(word: reason, part: changedPart, of: plan.task(escapedName: culprit) ?? .none)
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
