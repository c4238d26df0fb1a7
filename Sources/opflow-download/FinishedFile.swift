internal import OpflowDownload
internal import OpflowSystem

/// A complete, verified file that is written, synced and renamed; then its folder is synced, so
/// that a machine crash cannot damage it.
///
/// Only the file whose bytes were hashed is renamed: its descriptor stays open, and the name must
/// refer to it before and after. If another process replaces it, the download fails.
///
/// SAFETY: only the settler's owner uses `stage`. The rest belongs to the thread of the current
/// step; a step starts only after the one before is known to be done.
final class FinishedFile: @unchecked Sendable {
  enum Stage {
    case storing
    /// Ready to be renamed in its turn.
    case stored
    case placing
    case done
    case failed(DownloadFailure)
  }

  /// A small file that was not written yet.
  struct Content {
    let bytes: [UInt8]
    /// The record of an earlier part, removed before these bytes are written.
    let recordPath: String
  }

  /// Up to this, copying is cheaper than writing before the next request.
  static let mostContentBytes = 64 * 1024
  private static let executeBits: UInt32 = 0o111

  let sizeBytes: Int64
  /// nil until a file that must be created is written.
  private var file: SharedFile?
  private var content: Content?
  private let path: String
  private let target: String
  private let mode: UInt32
  private var failure: DownloadFailure?
  private var isPlaced = false
  var stage = Stage.storing

  /// `content` is written first.
  init(
    _ file: SharedFile?, path: String, sizeBytes: Int64, content: Content? = nil, target: String,
    mode: UInt32
  ) {
    self.file = file
    self.path = path
    self.sizeBytes = sizeBytes
    self.content = content
    self.target = target
    self.mode = mode
  }

  func noteStep() {
    if let failure {
      stage = .failed(failure)
    } else {
      stage = isPlaced ? .done : .stored
    }
  }

  // MARK: - Steps

  /// All writes start before the first wait, so that shared blocks and journal commits are written
  /// once.
  static func store(_ files: [FinishedFile]) {
    for file in files { file.write() }
    if files.count > 1 {
      for file in files where file.failure == nil { file.file?.descriptor.beginWriting() }
    }
    for file in files where file.failure == nil { file.sync() }
  }

  /// Stops at the first failure, to keep the order.
  static func place(_ files: [FinishedFile]) {
    var folders: [String: [FinishedFile]] = [:]
    for file in files {
      file.rename()
      if file.failure != nil { break }
      file.isPlaced = true
      folders[Path.parent(of: file.target), default: []].append(file)
    }
    for (folder, files) in folders {
      do throws(Errno) {
        try Path.syncFolder(folder)
      } catch {
        for file in files { file.fail(error) }
      }
    }
  }

  private func write() {
    do throws(DownloadFailure) {
      if let content {
        self.content = nil
        try write(content)
      }
    } catch {
      failure = error
      return
    }
    // Not executable under its temporary name.
    attempt { () throws(Errno) in try file?.descriptor.setMode(mode & ~Self.executeBits) }
  }

  private func write(_ content: Content) throws(DownloadFailure) {
    let file: SharedFile
    var sizeBytes: Int64 = 0
    if let open = self.file {
      file = open
    } else {
      (file, sizeBytes) = try SharedFile.part(path, of: target)
      self.file = file
    }
    try Place.clear(content.recordPath)
    do throws(Errno) {
      if sizeBytes > 0 { try file.descriptor.truncate(to: 0) }
      try content.bytes.withUnsafeBufferPointer { bytes throws(Errno) in
        try file.descriptor.writeAll(UnsafeRawBufferPointer(bytes), at: 0)
      }
    } catch {
      throw LocalFailure.of("cannot write \(path)", error)
    }
  }

  private func sync() {
    attempt { () throws(Errno) in try file?.descriptor.sync() }
  }

  private func rename() {
    guard let file else { return }
    do throws(DownloadFailure) {
      try Place.refuseOther(target)
      try expect(file, at: path)
    } catch {
      failure = error
      return
    }
    attempt { () throws(Errno) in try Path.rename(path, to: target) }
    if failure != nil { return }
    do throws(DownloadFailure) {
      try expect(file, at: target)
    } catch {
      // Moves a foreign file back.
      try? Path.rename(target, to: path)
      failure = error
      return
    }
    if mode & Self.executeBits == 0 { return }
    attempt { () throws(Errno) in
      try file.descriptor.setMode(mode)
      try file.descriptor.sync()
    }
  }

  /// Checks that `path` is the file, with the hashed length.
  private func expect(_ file: SharedFile, at path: String) throws(DownloadFailure) {
    let status: FileStatus
    let held: FileStatus
    do throws(Errno) {
      held = try file.descriptor.status()
      status = try Path.linkStatus(path)
    } catch {
      guard error == .noSuchFile else {
        throw LocalFailure.of("cannot put \(target) in place", error)
      }
      throw Self.replaced("\(path) is gone", target)
    }
    if status.identity != held.identity {
      throw Self.replaced("\(path) is another file by now", target)
    }
    if status.sizeBytes != sizeBytes {
      throw Self.replaced("\(path) has another length by now", target)
    }
  }

  static func replaced(_ what: String, _ target: String) -> DownloadFailure {
    DownloadFailure(
      .replaced, "cannot put \(target) in place: \(what); does anything else write there?")
  }

  private func attempt(_ step: () throws(Errno) -> Void) {
    do throws(Errno) { try step() } catch { fail(error) }
  }

  private func fail(_ error: Errno) {
    failure = LocalFailure.of("cannot put \(target) in place", error)
  }
}

enum LocalFailure {
  static func of(_ what: String, _ errno: Errno) -> DownloadFailure {
    DownloadFailure(.local(errno.rawValue), "\(what): \(errno)")
  }
}
