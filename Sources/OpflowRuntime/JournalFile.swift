package import OpflowCore
package import OpflowSystem

/// The journal of a run that this process drives: lines are collected, written in one piece, synced.
///
/// Nothing here knows time. The loop says when to write, before it does what follows from the lines,
/// and when to sync: at once, or through a `Syncer` with `writtenBytes` as the number.
///
/// After a failed write or sync the file takes nothing more. What follows a torn line would not
/// hurt, but the run must end, and after a failed sync nobody knows what the disk has (fsync(2)).
package struct JournalFile: ~Copyable {
  package let path: String
  private let file: Descriptor
  private var encoder: JournalEncoder
  private var failure: Errno?
  /// Since the file was opened.
  package private(set) var writtenBytes: UInt64 = 0

  /// Begins the journal of a new run. Fails when there is one.
  package static func create(_ path: String) throws(RunFolderError) -> JournalFile {
    let file = try doing("create", path) { () throws(Errno) in
      try File.open(path, [.writeOnly, .create, .exclusive, .append, .noFollow], mode: 0o600)
    }
    return JournalFile(path: path, file: file, encoder: JournalEncoder())
  }

  /// Goes on with the journal of a run whose lock this process holds: cuts off damage at its end and
  /// syncs the cut, then ends its last line where that has no line feed. Dying at any point of it
  /// leaves a journal that reads the same.
  ///
  /// - Parameters:
  ///   - repair: what reading the journal found necessary.
  ///   - encoder: goes on behind the last line that was read.
  package static func reopen(
    _ path: String, repair: JournalRepair, encoder: JournalEncoder
  ) throws(RunFolderError) -> JournalFile {
    let file = try doing("open", path) { () throws(Errno) in
      try File.open(path, [.writeOnly, .append, .noFollow])
    }
    try doing("repair", path) { () throws(Errno) in
      if let length = repair.truncateTo {
        try file.truncate(to: Int64(length))
        try file.sync()
      }
      if repair.appendsLineFeed { try file.writeAll([Field.lineFeed]) }
    }
    return JournalFile(path: path, file: file, encoder: encoder)
  }

  private init(path: String, file: consuming Descriptor, encoder: JournalEncoder) {
    self.path = path
    self.file = file
    self.encoder = encoder
  }

  /// Adds a line to what the next `flush` writes.
  package mutating func append(_ entry: JournalEntry, at milliseconds: Int64, plan: Plan) {
    encoder.append(entry, at: milliseconds, plan: plan)
  }

  package mutating func append(_ transition: Transition, at milliseconds: Int64, plan: Plan) {
    encoder.append(transition, at: milliseconds, plan: plan)
  }

  /// Whether lines wait to be written.
  package var hasUnwritten: Bool { !encoder.isEmpty }

  /// Writes all lines, in one call unless the kernel takes less (write(2)).
  package mutating func flush() throws(Errno) {
    if encoder.isEmpty { return }
    if let failure { throw failure }
    do throws(Errno) {
      try file.writeAll(encoder.bytes)
    } catch {
      failure = error
      throw error
    }
    writtenBytes += UInt64(encoder.bytes.count)
    encoder.removeAll()
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
