/// What the keys of a transition's line say, read in one pass and without allocation.
///
/// A key that is missing, or whose value is none, leaves what stands here. The journal is untrusted
/// input: numbers are bounded so that a reader may count on from them.
struct TransitionFields {
  /// Of the run; 1 where the line has none.
  var drive = 1
  var attempt: Int32 = 0
  var outcome = Outcome(status: .unknown)
  var allowed = false
  var delayMilliseconds: Int64 = 0
  var fingerprint = Fingerprint(whole: 0, parts: 0)
  /// Escaped; empty for none.
  var culprit = UnsafeRawBufferPointer(start: nil, count: 0)
  var changedPart: Fingerprint.Part?
  /// Escaped.
  var what = UnsafeRawBufferPointer(start: nil, count: 0)

  static let attemptLimit: Int64 = 1_000_000_000

  @inline(__always)
  init(_ line: JournalLine) {
    for field in line.fields { read(field) }
  }

  @inline(__always)
  private mutating func read(_ field: JournalField) {
    let key = field.key
    switch key.count {
    case 1:
      if key.equals("n") {
        let value = field.natural
        attempt = value < Self.attemptLimit ? Int32(value) : 0
      } else if key.equals("d") {
        drive = Swift.max(1, Int(field.natural))
      }
    case 2:
      if key.equals("fp") {
        if let value = field.fingerprint { fingerprint = value }
      } else if key.equals("of") {
        culprit = field.value
      }
    case 3:
      if key.equals("sys") {
        outcome.usage.systemMicroseconds = field.natural
      } else if key.equals("rss") {
        outcome.usage.peakKibibytes = field.natural
      } else if key.equals("out") {
        outcome.usage.outputBytes = field.natural
      }
    case 4:
      if key.equals("exit") {
        if let code = field.small { outcome.status = .exit(code) }
      } else if key.equals("wall") {
        outcome.usage.wallMicroseconds = field.natural
      } else if key.equals("user") {
        outcome.usage.userMicroseconds = field.natural
      } else if key.equals("part") {
        changedPart = Fingerprint.Part(word: field.value)
      } else if key.equals("what") {
        what = field.value
      }
    case 5:
      if key.equals("errno") {
        outcome.errorNumber = field.small ?? 0
      } else if key.equals("delay") {
        delayMilliseconds = field.natural
      }
    case 6:
      if key.equals("reason") {
        outcome.reason = Reason(text: field.value) ?? .none
      } else if key.equals("signal"), let signal = field.small {
        outcome.status = .signal(signal)
      }
    case 7: if key.equals("allowed") { allowed = field.value.equals("1") }
    default: break
    }
  }
}

extension JournalField {
  /// A number that is not negative; 0 for anything else, and for one of more than 18 digits.
  @inline(__always)
  var natural: Int64 {
    guard value.count <= 18 else { return 0 }
    var number: Int64 = 0
    for byte in value {
      guard byte >= 48, byte <= 57 else { return 0 }
      number = number &* 10 &+ Int64(byte &- 48)
    }
    return number
  }

  var small: Int32? { Field.number(value) }

  /// `WHOLE-PARTS`
  @inline(__always)
  var fingerprint: Fingerprint? {
    guard value.count > 17, value.count <= 33, value[16] == UInt8(ascii: "-"),
      let whole = value.hexadecimal(0, 16), let parts = value.hexadecimal(17, value.count)
    else { return nil }
    return Fingerprint(whole: whole, parts: parts)
  }
}
