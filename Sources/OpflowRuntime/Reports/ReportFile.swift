package import OpflowPlan
package import OpflowReports
package import OpflowSystem

/// A file written under a temporary name beside its path and then renamed. A pipe or device is
/// written directly. Links are followed.
package struct ReportFile: ~Copyable {
  private let file: Descriptor
  private let path: String
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

  /// Checks that the file can be created.
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

extension RunFolder {
  /// Returns the last bytes of a task's log.
  package func output(
    of task: TaskID, in plan: Plan, atMost count: Int, shown: (String) -> String
  ) -> ReportedOutput? {
    let path = log(of: task, in: plan)
    guard let file = try? File.openRegular(path, .readOnly), let size = try? file.status().sizeBytes
    else { return nil }
    let start = max(0, size - Int64(count))
    var bytes = [UInt8](repeating: 0, count: Int(size - start))
    // The log may be truncated meanwhile.
    let read = try? bytes.withUnsafeMutableBufferPointer { room throws(Errno) -> Int in
      var done = 0
      while done < room.count {
        let rest = UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(room)[done...])
        let count = try file.read(into: rest, at: start + Int64(done))
        if count == 0 { break }
        done += count
      }
      return done
    }
    bytes.removeLast(bytes.count - (read ?? 0))
    return ReportedOutput(bytes: bytes, totalBytes: size, path: shown(path))
  }
}
