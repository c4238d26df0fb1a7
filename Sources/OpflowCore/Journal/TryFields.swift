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

  @inline(__always)
  init(_ line: JournalLine) {
    var cursor = line.cursor
    if cursor.stands(at: .attempt) { attempt = cursor.attempt() }
    if cursor.stands(at: .worker) { worker = cursor.worker() }
    if cursor.stands(at: .ahead) { isAhead = cursor.flag(.ahead) }
    // That is all of a start.
    if cursor.isAtEnd { return }
    if cursor.stands(at: .exit), let code = cursor.digit(.exit) {
      status = .exit(Int32(truncatingIfNeeded: code))
    }
    if cursor.stands(at: .wall) { wallMicroseconds = cursor.natural(.wall) }
    if cursor.stands(at: .user) { cursor.passNumber(.user) }
    if cursor.stands(at: .sys) { cursor.passNumber(.sys) }
    if cursor.stands(at: .rss) { cursor.passNumber(.rss) }
    if cursor.stands(at: .out) { cursor.passNumber(.out) }
    if cursor.stands(at: .fingerprint) { fingerprint = cursor.fingerprint() }
    // And that of a success.
    if !cursor.isAtEnd { self = Self.all(of: line) }
  }

  @inline(never)
  private static func all(of line: JournalLine) -> TryFields { TryFields(TransitionFields(line)) }

  init(_ fields: TransitionFields) {
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
}
