internal import OpflowCore
internal import OpflowSystem

/// The process that a lock file names. Only a lock that is held says that it still is the holder.
///
/// The file's only line is the process's number, a blank and the name of its host: a folder may be on
/// several machines, where the same number is another process.
package struct LockHolder: Sendable, Equatable {
  package let pid: Int32
  /// Nil for this machine.
  package let host: String?

  package init(pid: Int32, host: String? = nil) {
    self.pid = pid
    self.host = host
  }

  /// Nil where nobody wrote it, or its process is of this machine and is no more.
  static func read(_ path: String) -> LockHolder? {
    guard let bytes = try? content(path) else { return nil }
    let words = bytes.prefix { $0 != Field.lineFeed }
      .split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard let first = words.first, let pid: Int32 = Field.number(first), pid > 0 else { return nil }
    let host = words.count > 1 ? String(decoding: words[1], as: UTF8.self) : nil
    if let host, host != Machine.hostName { return LockHolder(pid: pid, host: host) }
    return ProcessStatus.read(pid) == nil ? nil : LockHolder(pid: pid)
  }

  /// What stands in it: as much as a line can have.
  static func content(_ path: String) throws(Errno) -> [UInt8] {
    try File.openRegular(path, .readOnly).readAll(atMost: longestBytes)
  }

  private static let longestBytes = 1_024

  /// Names this process in its lock's file. The room that the file has on a disk stays its own.
  static func write(to file: borrowing Descriptor) throws(Errno) {
    let line = Array(ownLine.utf8)
    try write(line, to: file)
    try file.truncate(to: Int64(line.count))
  }

  /// Takes that out. What cannot be written says what it said.
  static func clear(_ file: borrowing Descriptor) {
    let blanks = [UInt8](repeating: UInt8(ascii: " "), count: ownLine.utf8.count - 1)
    try? write(blanks + [Field.lineFeed], to: file)
  }

  private static func write(_ line: [UInt8], to file: borrowing Descriptor) throws(Errno) {
    try line.withUnsafeBufferPointer { bytes throws(Errno) in
      try file.writeAll(UnsafeRawBufferPointer(bytes), at: 0)
    }
  }

  private static var ownLine: String { "\(ProcessID.own) \(Machine.hostName)\n" }

  /// Whether a lock's file names something else than this process, or nobody any more; no where it cannot be read.
  static func isAnother(_ path: String) -> Bool {
    guard let bytes = try? content(path) else { return false }
    return !bytes.elementsEqual(ownLine.utf8)
  }

  /// Its number where it is one of this machine.
  package var localPID: Int32? { host == nil ? pid : nil }
}

extension LockHolder: CustomStringConvertible {
  /// `process 12`, and on which machine where that is another one.
  package var description: String {
    "process \(pid)" + (host.map { " on \(CleanText.string($0))" } ?? "")
  }
}
