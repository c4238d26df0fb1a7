package import OpflowCore
internal import OpflowSystem

/// Puts a copy of a journal without its damage in the journal's place.
///
/// Reading the copy gives what reading the damaged one gave: intact lines stay as they are, with the
/// gaps in their numbers, by which a reader knows that something is lost.
package enum JournalCleanCopy {
  /// The caller holds the run's lock. Dying at any point leaves the old journal in its place, or the
  /// copy and the old one beside it.
  ///
  /// - Returns: where the old one is now; nil when nothing was damaged, and nothing was done.
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

  /// Gives the journal a second name: one that nothing has yet, or that a repair which was killed gave
  /// it.
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
