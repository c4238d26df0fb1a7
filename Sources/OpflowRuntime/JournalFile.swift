package import OpflowCore
package import OpflowSystem

/// The file of the journal of a run that this process drives. What is written when, and when it is
/// synced, at once or through a `Syncer`, is the engine's to say.
///
/// After a failed write or sync the file takes nothing more. What follows a torn line would not
/// hurt, but the run must end, and after a failed sync nobody knows what the disk has (fsync(2)).
package struct JournalFile: ~Copyable {
  package let path: String
  private let file: Descriptor
  private var failure: Errno?

  /// Begins the journal of a new run. Fails when there is one.
  package static func create(_ path: String) throws(RunFolderError) -> JournalFile {
    let file = try doing("create", path) { () throws(Errno) in
      try File.open(path, [.writeOnly, .create, .exclusive, .append, .noFollow], mode: 0o600)
    }
    return JournalFile(path: path, file: file)
  }

  /// Goes on with the journal of a run whose lock this process holds: cuts off damage at its end and
  /// syncs the cut, then ends its last line where that has no line feed. Dying at any point of it
  /// leaves a journal that reads the same.
  ///
  /// - Parameter repair: what reading the journal found necessary.
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

  /// Writes whole lines, in one call unless the kernel takes less (write(2)).
  package mutating func write(_ lines: [UInt8]) throws(Errno) {
    if let failure { throw failure }
    do throws(Errno) {
      try file.writeAll(lines)
    } catch {
      failure = error
      throw error
    }
  }

  /// Makes all that was written last, and waits for it (fdatasync(2)).
  package mutating func syncNow() throws(Errno) {
    if let failure { throw failure }
    do throws(Errno) {
      try file.syncData()
    } catch {
      failure = error
      throw error
    }
  }

  /// A thread that syncs this file. It must end before this does.
  package borrowing func makeSyncer() throws(Errno) -> Syncer { try Syncer(file) }
}
