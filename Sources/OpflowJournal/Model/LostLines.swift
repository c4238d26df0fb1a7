/// Missing lines of a journal, and the results in doubt because of them.
struct LostLines: Sendable {
  private(set) var head = DriveHead()
  private var gaps: [Range<UInt64>] = []
  /// Results from before this SEQ are unproven for good, unless discarded since.
  private var provenFrom: UInt64 = 0

  /// Results from before this SEQ are unproven until further lines tell what the newest session
  /// discards.
  @inline(__always)
  var trustedFrom: UInt64 {
    head.isIncomplete ? Swift.max(provenFrom, head.sequence) : provenFrom
  }

  var last: Range<UInt64>? { gaps.last }

  mutating func lose(_ sequences: Range<UInt64>) {
    gaps.append(sequences)
    head.lose(sequences.upperBound - sequences.lowerBound)
  }

  /// - Parameters:
  ///   - expected: the number of tasks' `resume` lines that follow.
  ///   - isNext: no session is missing before it.
  mutating func beginDrive(at sequence: UInt64, expected: Int, isNext: Bool) {
    provenFrom = trustedFrom
    if !isNext { distrust(before: sequence) }
    head = DriveHead(sequence: sequence, expected: expected)
  }

  /// The line is of a session whose first line is lost.
  ///
  /// - Parameter isAlone: only that line is lost so far.
  mutating func enterDrive(at sequence: UInt64, isAlone: Bool) {
    provenFrom = trustedFrom
    if isAlone {
      head = DriveHead(sequence: sequence - 1, expected: .max)
    } else {
      distrust(before: sequence)
      head = DriveHead()
    }
  }

  private mutating func distrust(before sequence: UInt64) {
    provenFrom = Swift.max(provenFrom, sequence)
  }

  mutating func hearOfGone(_ event: TransitionKind, isLate: Bool) {
    if event == .resume, !isLate { head.seen += 1 }
  }

  /// - Parameter settled: SEQ of the line that ended the task; 0 if it has not ended.
  mutating func hear(_ event: TransitionKind, isLate: Bool, settled: UInt64) {
    // Only a `resume` line reopens a task; an unseen one is lost.
    let wasTakenOut =
      event == .resume
      ? !isLate
      : event != .fresh && settled >= Swift.max(1, provenFrom) && settled < head.sequence
    if wasTakenOut { head.seen += 1 }
  }

  /// A lower bound for the SEQ of a lost start: the first missing one after the task's known lines;
  /// 0 if none.
  func start(after record: TaskRecord) -> UInt64 {
    let known = Swift.max(record.startSequence, record.settleSequence)
    var low = 0
    var high = gaps.count
    while low < high {
      let middle = (low + high) / 2
      if gaps[middle].lowerBound > known { high = middle } else { low = middle + 1 }
    }
    return low < gaps.count ? gaps[low].lowerBound : 0
  }
}
