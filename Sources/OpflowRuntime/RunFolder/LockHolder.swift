internal import OpflowBase
internal import OpflowSystem

/// The process that a lock file names; it holds the lock only if the lock is taken. The file's line
/// is the process ID, a space and the host name, since machines may share a folder.
package struct LockHolder: Sendable, Equatable {
  package let pid: Int32
  /// nil for this machine.
  package let host: String?

  package init(pid: Int32, host: String? = nil) {
    self.pid = pid
    self.host = host
  }

  /// nil if none is named, or its process is of this machine and has ended.
  static func read(_ path: String) -> LockHolder? {
    guard let bytes = try? content(path) else { return nil }
    let words = bytes.prefix { $0 != Field.lineFeed }
      .split(separator: UInt8(ascii: " "), maxSplits: 1)
    guard let first = words.first, let pid: Int32 = Field.number(first), pid > 0 else { return nil }
    let host = words.count > 1 ? String(decoding: words[1], as: UTF8.self) : nil
    if let host, host != Machine.hostName { return LockHolder(pid: pid, host: host) }
    return ProcessStatus.read(pid) == nil ? nil : LockHolder(pid: pid)
  }

  static func content(_ path: String) throws(Errno) -> [UInt8] {
    try File.openRegular(path, .readOnly).readAll(atMost: longestBytes)
  }

  private static let longestBytes = 1_024

  /// The file stays allocated, for `clear`.
  static func write(to file: borrowing Descriptor) throws(Errno) {
    let line = Array(ownLine.utf8)
    try write(line, to: file)
    try file.truncate(to: Int64(line.count))
  }

  /// Overwrites the name with spaces; an error keeps it.
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

  /// False if the file cannot be read.
  static func isAnother(_ path: String) -> Bool {
    guard let bytes = try? content(path) else { return false }
    return !bytes.elementsEqual(ownLine.utf8)
  }

  /// nil for another machine.
  package var localPID: Int32? { host == nil ? pid : nil }
}

extension LockHolder: CustomStringConvertible {
  package var description: String {
    "process \(pid)" + (host.map { " on \(CleanText.string($0))" } ?? "")
  }
}
