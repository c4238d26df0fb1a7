internal import OpflowBase
package import OpflowJournal
package import OpflowSystem

/// The journal's file. After a failed write or sync it accepts nothing more: after a failed sync
/// the disk's content is unknown (fsync(2)).
package struct JournalFile: ~Copyable {
  package let path: String
  private let file: Descriptor
  private var failure: Errno?

  /// Fails if the journal exists.
  package static func create(_ path: String) throws(RunFolderError) -> JournalFile {
    let file = try doing("create", path) { () throws(Errno) in
      try File.open(path, [.writeOnly, .create, .exclusive, .append, .noFollow], mode: 0o600)
    }
    return JournalFile(path: path, file: file)
  }

  /// For the holder of the run's lock: truncates a damaged end and syncs that, then ends a last
  /// line without newline. A crash at any point leaves a journal that reads the same.
  package static func reopen(
    _ path: String, repair: JournalRepair
  ) throws(RunFolderError) -> JournalFile {
    let file = try doing("open", path) { () throws(Errno) in
      try File.openRegular(path, [.writeOnly, .append])
    }
    try doing("repair", path) { () throws(Errno) in
      if let length = repair.truncateTo {
        try file.truncate(to: Int64(length))
        try file.sync()
      }
      if repair.appendsLineFeed { try file.writeAll([Field.lineFeed]) }
    }
    return JournalFile(path: path, file: file)
  }

  init(path: String, file: consuming Descriptor) {
    self.path = path
    self.file = file
  }

  /// Complete lines, in one call unless the kernel takes fewer bytes.
  package mutating func write(_ lines: [UInt8]) throws(Errno) {
    if let failure { throw failure }
    do throws(Errno) {
      try file.writeAll(lines)
    } catch {
      failure = error
      throw error
    }
  }

  package mutating func syncNow() throws(Errno) {
    if let failure { throw failure }
    do throws(Errno) {
      try file.syncData()
    } catch {
      failure = error
      throw error
    }
  }

  /// The thread must end before the file is closed.
  package borrowing func makeSyncer() throws(Errno) -> Syncer { try Syncer(file) }
}
