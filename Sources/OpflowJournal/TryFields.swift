internal import OpflowPlan

/// What a replay needs of each transition. Clearing storage for all fields takes longer than
/// reading the usual line.
struct TryFields {
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
  var pids = UnsafeRawBufferPointer(start: nil, count: 0)

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
    pids = fields.pids
  }
}
