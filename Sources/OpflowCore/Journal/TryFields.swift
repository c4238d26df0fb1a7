/// What a fold of a whole journal asks of each transition's line. Few, for nearly all lines of a large one tell of a
/// start or a success, and to make room for all that a line may say takes longer than to read those.
struct TryFields {
  /// As in `TransitionFields`.
  var drive = 1
  var attempt: Int32 = 0
  var worker = WorkerID.none
  var isAhead = false
  var allowed = false
  var isLate = false
  var isRestored = false
  var endReason: EndReason?
  var status = ExitStatus.unknown
  var wallMicroseconds: Int64 = 0
  var fingerprint = FingerprintText()
  var origin: UInt64?

  /// Of any line.
  init(_ line: JournalLine) {
    let fields = TransitionFields(line)
    drive = fields.drive
    attempt = fields.attempt
    worker = fields.worker
    isAhead = fields.isAhead
    allowed = fields.allowed
    isLate = fields.isLate
    isRestored = fields.isRestored
    endReason = fields.end.endReason
    status = fields.end.status
    wallMicroseconds = fields.end.usage.wallMicroseconds
    fingerprint = fields.fingerprint
    origin = fields.origin
  }

  // MARK: - Lines as nearly all are

  /// Of a start that says no more than which try it is, of which worker; nil for another one.
  @inline(__always)
  init?(plainStart line: JournalLine) {
    guard var place = readTry(line) else { return nil }
    let bytes = line.bytes
    guard bytes.eight(at: place).have(shape: "w=") else { return nil }
    place &+= 2
    guard let (number, stop) = bytes.natural(at: place), stop > place else { return nil }
    worker = FieldCursor.worker(number)
    if stop == line.end { return }
    isAhead = true
    guard bytes.eight(at: stop).have(shape: "\tahead=1"), stop &+ 8 == line.end else { return nil }
  }

  /// Of a success that says no more than how it ended, what it used and as what it was defined; nil for another one.
  @inline(__always)
  init?(plainSuccess line: JournalLine) {
    guard var place = readTry(line) else { return nil }
    let (bytes, end) = (line.bytes, line.end)
    let exit = bytes.eight(at: place)
    guard exit.have(shape: "exit=0\t") else { return nil }
    status = .exit(Int32(exit[5] & 15))
    place &+= 7
    guard bytes.eight(at: place).have(shape: "wall=") else { return nil }
    place &+= 5
    guard let (wall, stop) = bytes.natural(at: place), stop > place, stop < end,
      bytes[stop] == Field.tab
    else { return nil }
    wallMicroseconds = wall
    place = stop &+ 1
    Self.pass("user=", &place, bytes, end)
    Self.pass("sys=", &place, bytes, end)
    Self.pass("rss=", &place, bytes, end)
    Self.pass("out=", &place, bytes, end)
    guard place < end, bytes.eight(at: place).have(shape: "fp=") else { return nil }
    place &+= 3
    fingerprint = FingerprintText(bytes.part(place, end))
    // Its last field, if there is no tab in it.
    guard fingerprint.isSound, bytes.eight(at: place).position(of: Field.tab) == 8,
      bytes.eight(at: place &+ 8).position(of: Field.tab) == 8,
      bytes.position(of: Field.tab, from: place &+ 17, to: end) == end
    else { return nil }
  }

  /// Which try it is; the place behind that, or nil where it is not the first that the line says.
  @inline(__always)
  private mutating func readTry(_ line: JournalLine) -> Int? {
    var place = line.fieldsStart
    let first = line.bytes.eight(at: place)
    var number = first
    if first.have(shape: "d=0\t") {
      drive = Int(first[2] & 15)
      place &+= 4
      number = line.bytes.eight(at: place)
    }
    guard number.have(shape: "n=0\t") else { return nil }
    attempt = Int32(number[2] & 15)
    return place &+ 4
  }

  /// Goes on behind a field that begins so, if it is one.
  @_transparent
  private static func pass(
    _ shape: StaticString, _ place: inout Int, _ bytes: ByteWindow, _ end: Int
  ) {
    if place < end, bytes.eight(at: place).have(shape: shape) {
      place = bytes.position(of: Field.tab, from: place &+ shape.utf8CodeUnitCount, to: end) &+ 1
    }
  }
}
