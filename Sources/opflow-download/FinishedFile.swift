internal import OpflowCore
internal import OpflowDownload
internal import OpflowSystem

/// A file that is whole and verified, on its way to its place: it is written to its end, synced,
/// renamed, and then its folder is synced, so that what stands there is right whatever happens to the
/// machine.
///
/// What is renamed is the file whose bytes were hashed, or nothing: its descriptor is open from the
/// first byte on, and the name must lead to the same file before the rename and after it. Whoever puts
/// another file in its place makes the download fail.
///
/// SAFETY: `stage` is for the settler's thread alone. All else that changes belongs to who does the
/// file's next step, which nobody begins before the step before it is known to be done.
final class FinishedFile: @unchecked Sendable {
  /// What becomes of it.
  enum Stage {
    /// It is being written and synced.
    case storing
    /// It may be renamed when its turn comes.
    case stored
    /// It is being renamed.
    case placing
    case done
    case failed(DownloadFailure)
  }

  /// All of a small file of which nothing was written yet.
  struct Content {
    let bytes: [UInt8]
    /// What may still be there of an earlier part, and must not be once these bytes are.
    let recordPath: String
  }

  /// So much is better copied than written before the next request is sent.
  static let mostContentBytes = 64 * 1024
  private static let executeBits: UInt32 = 0o111

  let sizeBytes: Int64
  /// Nil until the content of a file that is still to be made is written.
  private var file: SharedFile?
  private var content: Content?
  private let path: String
  private let target: String
  private let mode: UInt32
  private var failure: DownloadFailure?
  private var isPlaced = false
  var stage = Stage.storing

  /// - Parameters:
  ///   - file: nil where it is still to be made.
  ///   - path: where it is now.
  ///   - content: what is to be written first; nil when all is.
  ///   - mode: the permission bits that it is to have.
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

  /// Says what became of it, once a step was done.
  func noteStep() {
    if let failure {
      stage = .failed(failure)
    } else {
      stage = isPlaced ? .done : .stored
    }
  }

  // MARK: - Steps

  /// Writes and syncs files. All that is to be written is under way before the first file is waited for:
  /// their blocks go out together, and what files share, such as a block of inodes or a commit of the
  /// file system's journal, is written once.
  static func store(_ files: [FinishedFile]) {
    for file in files { file.write() }
    if files.count > 1 {
      for file in files where file.failure == nil { file.file?.descriptor.beginWriting() }
    }
    for file in files where file.failure == nil { file.sync() }
  }

  /// Renames files that are stored, in their order and none past one that cannot be, and syncs their
  /// folders.
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
    // Not to be executed under a name that nobody asked for.
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
      // What came in between goes back to where it came from: nothing is better than that.
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

  /// Throws when another file than that has come to `path`, or the file has another length than what
  /// was hashed.
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

/// Failures of system calls, as a download tells them.
enum LocalFailure {
  static func of(_ what: String, _ errno: Errno) -> DownloadFailure {
    DownloadFailure(.local(errno.rawValue), "\(what): \(errno)")
  }
}
