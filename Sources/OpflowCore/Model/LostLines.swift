/// Which lines of a journal are missing, and which of its results are in doubt for that.
struct LostLines: Sendable {
  /// Of the newest drive.
  private(set) var head = DriveHead()
  /// By their SEQs, in their order.
  private var gaps: [Range<UInt64>] = []
  /// What ended on a line before this one, and was not taken back since, is unproven for ever.
  private var provenFrom: UInt64 = 0

  /// What ended on a line before this one, and was not taken back since, is unproven as things are:
  /// lines to come may tell what the newest drive took back.
  @inline(__always)
  var trustedFrom: UInt64 {
    head.isIncomplete ? Swift.max(provenFrom, head.sequence) : provenFrom
  }

  /// Those that are missing before the newest line of all that was lost.
  var last: Range<UInt64>? { gaps.last }

  mutating func lose(_ sequences: Range<UInt64>) {
    gaps.append(sequences)
    head.lose(sequences.upperBound - sequences.lowerBound)
  }

  /// A drive begins with the line with that SEQ.
  ///
  /// - Parameters:
  ///   - expected: how many `resume` lines of tasks are to follow it.
  ///   - isNext: the drive before it is the one before that in the journal as well.
  mutating func beginDrive(at sequence: UInt64, expected: Int, isNext: Bool) {
    provenFrom = trustedFrom
    if !isNext { distrust(before: sequence) }
    head = DriveHead(sequence: sequence, expected: expected)
  }

  /// The line with that SEQ is of a drive whose first line is lost.
  ///
  /// - Parameter isAlone: only that line is, so far.
  mutating func enterDrive(at sequence: UInt64, isAlone: Bool) {
    provenFrom = trustedFrom
    if isAlone {
      // How many were to follow it is lost with it.
      head = DriveHead(sequence: sequence - 1, expected: .max)
    } else {
      distrust(before: sequence)
      head = DriveHead()
    }
  }

  private mutating func distrust(before sequence: UInt64) {
    provenFrom = Swift.max(provenFrom, sequence)
  }

  /// A line tells what became of a task that the plan does not have.
  mutating func hearOfGone(_ event: TransitionKind, isLate: Bool) {
    if event == .resume, !isLate { head.seen += 1 }
  }

  /// A line tells what became of a task.
  ///
  /// - Parameter settled: SEQ of the line that put it into the end that it was in; 0 where it was in none.
  mutating func hear(_ event: TransitionKind, isLate: Bool, settled: UInt64) {
    // Only a `resume` line takes a task out of its end: where none was seen, it is lost.
    let wasTakenOut =
      event == .resume
      ? !isLate
      : event != .fresh && settled >= Swift.max(1, provenFrom) && settled < head.sequence
    if wasTakenOut { head.seen += 1 }
  }

  /// A lower bound for the SEQ of a start that is lost: the first missing one behind all that is
  /// known of the task; 0 where none is missing.
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
