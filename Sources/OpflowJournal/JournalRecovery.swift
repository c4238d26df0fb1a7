/// The damage found while reading a journal.
package struct JournalRecovery: Equatable, Sendable {
  /// The first hundred places, in file order.
  package private(set) var damage: [JournalDamage] = []
  package private(set) var droppedLines = 0
  package private(set) var droppedBytes = 0
  /// SEQs that are not in the file intact.
  package private(set) var missingLines: UInt64 = 0
  package private(set) var lineCount = 0
  package private(set) var lastSequence: UInt64 = 0
  /// The end of the last intact line.
  package private(set) var intactByteCount = 0
  private(set) var endsWithLineFeed = true
  private var byteCount = 0

  package static let placeLimit = 100

  package init() {}

  package var repair: JournalRepair {
    JournalRepair(
      truncateTo: intactByteCount < byteCount ? intactByteCount : nil,
      appendsLineFeed: !endsWithLineFeed)
  }

  package var isIntact: Bool { droppedLines == 0 && missingLines == 0 }

  /// By a kill, a full disk or a write in progress.
  package var isOnlyTorn: Bool {
    missingLines == 0 && damage.allSatisfy { $0.kind == .torn }
  }

  mutating func apply(_ sequence: UInt64, end: Int, endsWithLineFeed: Bool) {
    lineCount += 1
    lastSequence = sequence
    intactByteCount = end
    self.endsWithLineFeed = endsWithLineFeed
  }

  mutating func passLineFeed(end: Int) {
    intactByteCount = end
    endsWithLineFeed = true
  }

  mutating func drop(_ range: Range<Int>, _ kind: JournalDamage.Kind) {
    droppedLines += 1
    droppedBytes += range.count
    if let last = damage.last, last.kind == kind, last.offset + last.byteCount == range.lowerBound {
      damage[damage.count - 1].byteCount += range.count
      damage[damage.count - 1].lineCount += 1
    } else if damage.count < Self.placeLimit {
      damage.append(
        JournalDamage(offset: range.lowerBound, byteCount: range.count, lineCount: 1, kind: kind))
    }
  }

  mutating func note(missing sequences: Range<UInt64>, before offset: Int) {
    let count = sequences.upperBound - sequences.lowerBound
    missingLines += count
    // The damage right before this line already reports it.
    if let last = damage.last, last.offset + last.byteCount == offset { return }
    if damage.count < Self.placeLimit {
      damage.append(
        JournalDamage(
          offset: offset, byteCount: 0, lineCount: Int(count), kind: .missing(sequences)))
    }
  }

  mutating func finish(byteCount: Int) { self.byteCount = byteCount }
}

/// The repair by the holder of the run's lock, before appending.
package struct JournalRepair: Equatable, Sendable {
  /// Removes damage at the end.
  package var truncateTo: Int?
  /// The last intact line lacks it.
  package var appendsLineFeed: Bool

  package init(truncateTo: Int?, appendsLineFeed: Bool) {
    self.truncateTo = truncateTo
    self.appendsLineFeed = appendsLineFeed
  }
}

package struct JournalDamage: Equatable, Sendable {
  package enum Kind: Equatable, Sendable {
    /// Not a line, or its checksum is wrong.
    case unreadable
    /// The same at the end of the file, without a line feed.
    case torn
    /// Its SEQ is not above all before it.
    case repeated
    /// The line here is intact, but these SEQs before it are missing.
    case missing(Range<UInt64>)
  }

  package var offset: Int
  package var byteCount: Int
  /// For `missing`, of missing SEQs.
  package var lineCount: Int
  package var kind: Kind

  package init(offset: Int, byteCount: Int, lineCount: Int, kind: Kind) {
    self.offset = offset
    self.byteCount = byteCount
    self.lineCount = lineCount
    self.kind = kind
  }

  package var message: String {
    switch kind {
    case .unreadable:
      "byte \(offset): \(byteCount) bytes (\(lineCount) lines) are damaged and were passed over"
    case .torn: "byte \(offset): the last line is torn (\(byteCount) bytes)"
    case .repeated:
      "byte \(offset): \(lineCount) lines repeat earlier ones and were passed over"
    case .missing(let sequences):
      sequences.count == 1
        ? "byte \(offset): line \(sequences.lowerBound) is missing"
        : "byte \(offset): lines \(sequences.lowerBound) to \(sequences.upperBound - 1) are missing"
    }
  }
}
