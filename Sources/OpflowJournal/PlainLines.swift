internal import OpflowBase
internal import OpflowPlan

// Fast paths for the usual lines
// =============================
//
// Nearly all lines of a large journal have a fixed set of fields in a fixed order. These types read
// them without key lookup or storage for every possible field. They give what `TryFields` gives,
// and fail for any other line.

/// No more than attempt, worker and prefetch flag.
struct PlainStart {
  let drive: Int
  let attempt: Int32
  let worker: WorkerID
  let isAhead: Bool

  @inline(__always)
  init?(_ line: JournalLine) {
    let bytes = line.bytes
    guard let head = PlainTry(line), bytes.eight(at: head.end).have(shape: "w=") else { return nil }
    let place = head.end &+ 2
    guard let (number, stop) = bytes.natural(at: place), stop > place else { return nil }
    drive = head.drive
    attempt = head.attempt
    worker = FieldCursor.worker(number)
    isAhead = stop != line.end
    if isAhead {
      guard bytes.eight(at: stop).have(shape: "\tahead=1"), stop &+ 8 == line.end else {
        return nil
      }
    }
  }
}

/// No more than exit code, usage and fingerprint. The caller checks that the fingerprint is
/// current.
struct PlainSuccess {
  let drive: Int
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
    drive = head.drive
    attempt = head.attempt
    code = Int32(exit[5] & 15)
    wallMicroseconds = wall
  }

  /// Less than eight digits, if any.
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
  var drive = 1
  let attempt: Int32
  let end: Int

  @inline(__always)
  init?(_ line: JournalLine) {
    var place = line.fieldsStart
    var number = line.bytes.eight(at: place)
    if number.have(shape: "d=0\t") {
      drive = Int(number[2] & 15)
      place &+= 4
      number = line.bytes.eight(at: place)
    }
    guard number.have(shape: "n=0\t") else { return nil }
    attempt = Int32(number[2] & 15)
    end = place &+ 4
  }
}
