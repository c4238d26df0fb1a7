internal import OpflowBase
package import OpflowJournal
internal import OpflowSystem

/// A copy that reads the same as the damaged journal: intact lines are unchanged, and gaps in their
/// numbers still show that lines are lost.
package enum JournalCleanCopy {
  /// The caller holds the run's lock. A crash leaves the old journal in place, or the copy with the
  /// old one beside it. nil if nothing was damaged.
  package static func replace(
    _ folder: RunFolder
  ) throws(RunFolderError) -> (old: String, recovery: JournalRecovery)? {
    let (bytes, recovery) = try folder.withJournal { bytes throws(JournalError) in
      try intactLines(of: bytes)
    }
    let repair = recovery.repair
    if recovery.droppedLines == 0, repair.truncateTo == nil, !repair.appendsLineFeed { return nil }
    let old = try keepOld(folder.journal)
    try doing("write", folder.journal) { () throws(Errno) in
      try bytes.withUnsafeBufferPointer { all throws(Errno) in
        try File.replace(folder.journal, with: UnsafeRawBufferPointer(all))
      }
    }
    return (old, recovery)
  }

  private static func intactLines(
    of bytes: UnsafeRawBufferPointer
  ) throws(JournalError) -> ([UInt8], JournalRecovery) {
    var reader = try JournalReader(bytes)
    var lines: [UInt8] = []
    lines.reserveCapacity(bytes.count)
    while reader.next() != nil {
      lines.append(contentsOf: reader.lineText)
      lines.append(Field.lineFeed)
    }
    return (lines, reader.recovery)
  }

  /// Links the journal to a new name, or finds the link that a killed repair has made.
  private static func keepOld(_ journal: String) throws(RunFolderError) -> String {
    var number = 1
    while true {
      let name = number == 1 ? "\(journal).damaged" : "\(journal).damaged-\(number)"
      let isTaken = try doing("keep the old journal as", name) { () throws(Errno) -> Bool in
        do throws(Errno) {
          try Path.link(journal, to: name)
          return false
        } catch .exists {
          return try Path.linkStatus(name).identity != Path.linkStatus(journal).identity
        }
      }
      if !isTaken { return name }
      number += 1
    }
  }
}
