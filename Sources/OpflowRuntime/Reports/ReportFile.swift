package import OpflowSystem

/// A file written under a temporary name beside its path, then renamed. A path that is not a
/// regular file, such as a pipe or device, is written directly; links are followed.
package struct ReportFile: ~Copyable {
  private let file: Descriptor
  private let path: String
  /// nil for direct writing.
  private let temporary: String?

  /// Creates missing parent folders.
  package init(_ path: String) throws(Errno) {
    // Replaces the target of a link, not the link.
    let real = (try? Path.real(path)) ?? path
    let isOrdinary = (try? Path.status(real)).map { $0.kind == .file } ?? true
    let temporary = isOrdinary ? "\(real).\(ProcessID.own).new" : nil
    file = try Self.open(real, temporary)
    self.path = real
    self.temporary = temporary
  }

  /// Whether the file can be created. Creates missing parent folders.
  package static func expect(_ path: String) throws(Errno) {
    // Opening a pipe would wait for a reader.
    if let status = try? Path.status(path), status.kind != .file, status.kind != .directory {
      return
    }
    let file = try ReportFile(path)
    file.discard()
  }

  private static func open(_ path: String, _ temporary: String?) throws(Errno) -> Descriptor {
    guard let temporary else { return try File.open(path, .writeOnly) }
    _ = try Path.makeDirectories(Path.parent(of: path), mode: 0o777)
    try Path.removeIfThere(temporary)
    return try File.open(temporary, [.writeOnly, .create, .exclusive, .noFollow], mode: 0o666)
  }

  package func write(_ bytes: [UInt8]) throws(Errno) {
    do throws(Errno) {
      try file.writeAll(bytes)
    } catch {
      discard()
      throw error
    }
  }

  package consuming func finish() throws(Errno) {
    guard let temporary else { return }
    do throws(Errno) {
      try Path.rename(temporary, to: path)
    } catch {
      discard()
      throw error
    }
  }

  private borrowing func discard() {
    if let temporary { try? Path.removeIfThere(temporary) }
  }
}
