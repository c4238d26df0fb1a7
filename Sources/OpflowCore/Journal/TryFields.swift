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
}
