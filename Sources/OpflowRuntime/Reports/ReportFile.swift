package import OpflowSystem

/// A file that somebody asked to have made, written so that its name shows all of it or what was there
/// before: beside its place, and renamed in the end.
///
/// What is no ordinary file, as a pipe or a device, is written to as it is; a link is followed.
package struct ReportFile: ~Copyable {
  private let file: Descriptor
  private let path: String
  /// Nil for what is written to as it is.
  private let temporary: String?

  /// Makes the folders above it that are missing.
  package init(_ path: String) throws(Errno) {
    // The file that a link leads to is replaced, not the link.
    let real = (try? Path.real(path)) ?? path
    let isOrdinary = (try? Path.status(real)).map { $0.kind == .file } ?? true
    let temporary = isOrdinary ? "\(real).\(ProcessID.own).new" : nil
    file = try Self.open(real, temporary)
    self.path = real
    self.temporary = temporary
  }

  /// Whether it can be made, with the folders above it that are missing.
  package static func expect(_ path: String) throws(Errno) {
    // Nobody may have to read a pipe for that.
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

  /// Puts it in its place.
  package consuming func finish() throws(Errno) {
    guard let temporary else { return }
    do throws(Errno) {
      try Path.rename(temporary, to: path)
    } catch {
      discard()
      throw error
    }
  }

  /// Leaves nothing of it.
  private borrowing func discard() {
    if let temporary { try? Path.removeIfThere(temporary) }
  }
}
