internal import OpflowBase
internal import OpflowPlan

/// The fields of a transition's line, read in one pass without allocation. A missing or invalid key
/// leaves the default. Numbers are bounded: the journal is untrusted.
package struct TransitionFields {
  var session = 1
  var attempt: Int32 = 0
  var worker = WorkerID.none
  var isPrefetched = false
  var allowed = false
  var changedPart: Fingerprint.Part?
  var origin: UInt64?
  var isKept = false
  var isLate = false
  var isRestored = false
  /// Other events than an attempt's end use only the reason.
  var end = OutcomeFields()
  var delayMilliseconds: Int64 = 0
  var fingerprint = FingerprintText()
  /// Escaped.
  var culprit = UnsafeRawBufferPointer(start: nil, count: 0)
  var detail = UnsafeRawBufferPointer(start: nil, count: 0)
  var left = UnsafeRawBufferPointer(start: nil, count: 0)
  var pids = UnsafeRawBufferPointer(start: nil, count: 0)
  private var values = UnsafeRawBufferPointer(start: nil, count: 0)
  var with: UInt64?

  init(_ line: JournalLine) {
    var cursor = line.cursor
    // Nearly all lines have these keys, in this order.
    if cursor.stands(at: .attempt) { attempt = cursor.attempt() }
    if cursor.stands(at: .worker) { worker = cursor.worker() }
    if cursor.stands(at: .ahead) { isPrefetched = cursor.flag(.ahead) }
    if !cursor.isAtEnd { end.read(&cursor) }
    while !cursor.isAtEnd { read(&cursor) }
    if session != 1 { session = Self.session(session, at: line.sequence) }
  }

  /// Each earlier session wrote at least one line, so SEQ bounds the session.
  static func session(_ told: Int, at sequence: UInt64) -> Int {
    Swift.max(1, Swift.min(told, Int(clamping: sequence)))
  }

  private mutating func read(_ cursor: inout FieldCursor) {
    let start = cursor.position
    if cursor.stands(at: .session) {
      session = Int(cursor.natural(.session))
    } else if cursor.stands(at: .attempt) {
      attempt = cursor.attempt()
    } else if cursor.stands(at: .worker) {
      worker = cursor.worker()
    } else if cursor.stands(at: .ahead) {
      isPrefetched = cursor.flag(.ahead)
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
    } else if cursor.stands(at: .detail) {
      detail = cursor.text(.detail)
    } else if cursor.stands(at: .left) {
      left = cursor.text(.left)
    } else if cursor.stands(at: .pids) {
      pids = cursor.text(.pids)
    } else if cursor.stands(at: .values) {
      values = cursor.text(.values)
    } else if cursor.stands(at: .with) {
      with = Hexadecimal.value(cursor.text(.with))
    } else if cursor.stands(at: .culprit) {
      culprit = cursor.text(.culprit)
    } else {
      end.read(&cursor)
      if cursor.position == start { cursor.pass() }
    }
  }
}

extension TransitionFields {
  /// nil if no task was to read the values.
  var taskValues: [TaskValue]? { values.baseAddress == nil ? nil : ValueList.values(values) }

  func skipReason(_ plan: Plan) -> SkipReason? {
    SkipReason(word: end.reason, of: plan.task(escapedName: culprit) ?? .none)
  }

  func rerunReason(_ plan: Plan) -> RerunReason? {
    RerunReason(word: end.reason, part: changedPart, of: plan.task(escapedName: culprit) ?? .none)
  }
}

extension FieldCursor {
  private static let attemptLimit: Int64 = 1_000_000_000
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

/// `WHOLE.PARTS` (JournalFormat.swift).
struct FingerprintText {
  private let text: UnsafeRawBufferPointer

  init() { text = UnsafeRawBufferPointer(start: nil, count: 0) }

  init(_ text: UnsafeRawBufferPointer) { self.text = text }

  /// The digits are checked by `value`.
  @inline(__always)
  var isSound: Bool {
    text.count > 17 && text.count <= 33
      && (text[16] == UInt8(ascii: ".") || text[16] == UInt8(ascii: "-"))
  }

  /// The last 16 bytes cover all bytes after the whole.
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

// Fast paths for the usual lines
// =============================
//
// Nearly all lines of a large journal have the same fields in the same order. These types read them
// without key lookup and without storage for every field. They return what `TransitionFields`
// returns, and fail for any other line.

struct PlainStart {
  let session: Int
  let attempt: Int32
  let worker: WorkerID
  let isPrefetched: Bool

  @inline(__always)
  init?(_ line: JournalLine) {
    let bytes = line.bytes
    guard let head = PlainTry(line), bytes.eight(at: head.end).have(shape: "w=") else { return nil }
    let place = head.end &+ 2
    guard let (number, stop) = bytes.natural(at: place), stop > place else { return nil }
    session = head.session
    attempt = head.attempt
    worker = FieldCursor.worker(number)
    isPrefetched = stop != line.end
    if isPrefetched {
      guard bytes.eight(at: stop).have(shape: "\tahead=1"), stop &+ 8 == line.end else {
        return nil
      }
    }
  }
}

/// The caller checks that the fingerprint is current.
struct PlainSuccess {
  let session: Int
  let attempt: Int32
  let code: Int32
  let wallMicroseconds: Int64
  let fingerprint: FingerprintText

  @inline(__always)
  init?(_ line: JournalLine) {
    let (bytes, end) = (line.bytes, line.end)
    guard let head = PlainTry(line) else { return nil }
    let exit = bytes.eight(at: head.end)
    guard exit.have(shape: "exit=0\t"), bytes.eight(at: head.end &+ 7).have(shape: "wall=") else {
      return nil
    }
    var place = head.end &+ 12
    guard let (wall, stop) = bytes.natural(at: place), stop > place, stop < end,
      bytes[stop] == Field.tab
    else { return nil }
    place = stop &+ 1
    Self.pass("user=", &place, bytes)
    Self.pass("sys=", &place, bytes)
    Self.pass("rss=", &place, bytes)
    Self.pass("out=", &place, bytes)
    guard bytes.eight(at: place).have(shape: "fp=") else { return nil }
    place &+= 3
    // Must be the last field; the caller compares its whole.
    fingerprint = FingerprintText(bytes.part(place, end))
    guard fingerprint.isSound, !fingerprint.isAbsolute, !fingerprint.hasTabBehindWhole else {
      return nil
    }
    session = head.session
    attempt = head.attempt
    code = Int32(exit[5] & 15)
    wallMicroseconds = wall
  }

  /// Skips an optional field of less than eight digits.
  @_transparent
  private static func pass(_ shape: StaticString, _ place: inout Int, _ bytes: ByteWindow) {
    guard bytes.eight(at: place).have(shape: shape) else { return }
    let start = place &+ shape.utf8CodeUnitCount
    let digits = bytes.eight(at: start)
    let count = digits.digitCount
    if count < 8, digits[count] == Field.tab { place = start &+ count &+ 1 }
  }
}

private struct PlainTry {
  var session = 1
  let attempt: Int32
  let end: Int

  @inline(__always)
  init?(_ line: JournalLine) {
    var place = line.fieldsStart
    var number = line.bytes.eight(at: place)
    if number.have(shape: "d=0\t") {
      session = Int(number[2] & 15)
      place &+= 4
      number = line.bytes.eight(at: place)
    }
    guard number.have(shape: "n=0\t") else { return nil }
    attempt = Int32(number[2] & 15)
    end = place &+ 4
  }
}

/// The end of a task's name in a line, where names differ most.
struct TaskEnding {
  private let eight: EightBytes
  private let length: Int

  init() { (eight, length) = (EightBytes(0), 0) }

  @inline(__always)
  init(_ eight: EightBytes, length: Int) {
    self.eight = eight
    self.length = length
  }

  @inline(__always)
  var bits: UInt64 { length == 0 ? 0 : eight.bits &>> UInt64((8 &- length) &* 8) }

  /// Bytes before the name cannot match: they are digits, tabs and the event's word.
  @inline(__always)
  var hasBackslash: Bool { eight.position(of: Field.backslash) < 8 }

  /// Up to eight digits at the end of the name; 0 without digits.
  @inline(__always)
  var number: Int32 { Int32(truncatingIfNeeded: eight.decimalAtEnd) }
}

/// Finds tasks by name in the order of a journal.
///
/// Lines of a task are close together, and tasks mostly start in plan order. So the lookup tries
/// the recent task of the name and the task after the last one before the plan's table, which
/// exceeds the CPU cache for a large plan. Numbered names such as `object-17` and `object-21` are
/// mostly as far apart as their numbers.
struct NameGuesses {
  private var recent = InlineArray<256, Int32>(repeating: 0)
  private var next: Int32 = 0
  private var ending = TaskEnding()

  @inline(__always)
  mutating func task(of line: JournalLine, plan: Plan) -> TaskID? {
    let ending = line.ending
    // An escaped name may equal another task's name.
    if line.hasEscapedTask(ending) { return plan.task(escapedName: line.task) }
    let name = line.task
    let slot = Int(truncatingIfNeeded: (ending.bits &* 0x9E37_79B9_7F4A_7C15) >> 56)
    // A starting task is usually new, an ending one recent.
    if line.event != .transition(.start), holds(recent[slot], name, plan: plan) {
      return TaskID(recent[slot])
    }
    var guess = next
    if !holds(guess, name, plan: plan) {
      // Cannot overflow: the numbers are below 100,000,000, and `next` is an index of the plan.
      let other = next &+ (ending.number &- self.ending.number) &- 1
      if holds(other, name, plan: plan) {
        guess = other
      } else {
        guard let task = plan.task(named: name) else { return nil }
        guess = task.rawValue
      }
    }
    recent[slot] = guess
    next = guess + 1
    self.ending = ending
    return TaskID(guess)
  }

  @inline(__always)
  private func holds(_ guess: Int32, _ name: UnsafeRawBufferPointer, plan: Plan) -> Bool {
    guard plan.tasks.contains(Int(guess)) else { return false }
    let ref = plan.name[Int(guess)]
    return Int(ref.length) == name.count && plan.text(ref).equals(name)
  }
}
