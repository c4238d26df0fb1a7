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

  /// Up to this size, copying is cheaper than writing before the next request.
  static let mostContentBytes = 64 * 1024
  private static let executeBits: UInt32 = 0o111

  let sizeBytes: Int64
  /// Nil until a file that must be created is written.
  private var file: SharedFile?
  private var content: Content?
  private let path: String
  private let target: String
  private let mode: UInt32
  private var failure: DownloadFailure?
  private var isPlaced = false
  var stage = Stage.storing

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

  /// Starts all writes before the first wait, so that shared blocks and journal commits are written
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
      // Moves another process's file back.
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

  /// Expects the file at `path`, with the hashed length.
  private func expect(_ file: SharedFile, at path: String) throws(DownloadFailure) {
    let status: FileStatus
    let held: FileStatus
    do throws(Errno) {
      held = try file.descriptor.status()
      status = try Path.linkStatus(path)
    } catch {
      guard error == .noSuchFile else {
        throw LocalFailure.of("cannot finish \(target)", error)
      }
      throw Self.replaced("\(path) was removed", target)
    }
    if status.identity != held.identity {
      throw Self.replaced("\(path) was replaced by another file", target)
    }
    if status.sizeBytes != sizeBytes {
      throw Self.replaced("the length of \(path) was changed", target)
    }
  }

  static func replaced(_ detail: String, _ target: String) -> DownloadFailure {
    DownloadFailure(
      .replaced,
      "cannot finish \(target): \(detail); check whether another process writes there")
  }

  private func attempt(_ step: () throws(Errno) -> Void) {
    do throws(Errno) { try step() } catch { fail(error) }
  }

  private func fail(_ error: Errno) {
    failure = LocalFailure.of("cannot finish \(target)", error)
  }
}

enum LocalFailure {
  static func of(_ detail: String, _ errno: Errno) -> DownloadFailure {
    DownloadFailure(.local(errno.rawValue), "\(detail): \(errno)")
  }
}

/// Syncs finished files and puts them in place, in threads. Small files are grouped: they share
/// inode blocks, journal commits and thread switches.
final class Settler {
  /// More concurrent syncs gain nothing measurable.
  private static let threads: Int32 = 8
  private static let smallBytes: Int64 = 1024 * 1024
  private static let mostInGroup = 16
  /// The time that a group waits for further files.
  private static let patienceNanoseconds: Int64 = 5_000_000

  private let pool: ThreadPool
  private var jobs: [UInt64: [FinishedFile]] = [:]
  /// One job at a time renames, to keep the order.
  private var placing: UInt64?
  private var group: [FinishedFile] = []
  private var groupDue: Int64 = 0
  /// Files have advanced since the last `place`.
  private(set) var hasNews = false

  init() throws(Errno) { pool = try ThreadPool(threads: Self.threads) }

  var rawDescriptor: Int32 { pool.rawDescriptor }

  func begin(_ file: FinishedFile) {
    if file.sizeBytes > Self.smallBytes {
      store([file], isIdle: false)
      return
    }
    if group.isEmpty { groupDue = Clock.monotonicNanoseconds + Self.patienceNanoseconds }
    group.append(file)
    if group.count == Self.mostInGroup { endGroup(isIdle: false) }
  }

  /// A file that a thread already has remains a part.
  func retract(_ file: FinishedFile) { group.removeAll { $0 === file } }

  /// The time to call `endGroup`.
  var nextWake: Int64? { group.isEmpty ? nil : groupDue }

  /// - Parameter isIdle: True if the caller has no other work.
  func endGroup(isIdle: Bool) {
    if group.isEmpty { return }
    store(group, isIdle: isIdle)
    group.removeAll(keepingCapacity: true)
  }

  private func store(_ files: [FinishedFile], isIdle: Bool) {
    _ = perform(files, isIdle: isIdle) { FinishedFile.store(files) }
  }

  /// Stops at the first file that is not stored.
  func place(_ files: some Sequence<FinishedFile>, isIdle: Bool) {
    hasNews = false
    if placing != nil { return }
    var stored: [FinishedFile] = []
    search: for file in files {
      switch file.stage {
      case .done: continue
      case .stored: stored.append(file)
      case .storing, .placing, .failed: break search
      }
    }
    if stored.isEmpty { return }
    for file in stored { file.stage = .placing }
    let batch = stored
    placing = perform(batch, isIdle: isIdle) { FinishedFile.place(batch) }
  }

  /// Returns nil if the step ran here, because there is no thread or no other work.
  private func perform(
    _ files: [FinishedFile], isIdle: Bool, _ step: @escaping @Sendable () -> Void
  ) -> UInt64? {
    if !isIdle || !jobs.isEmpty, let ticket = try? pool.submit(step) {
      jobs[ticket] = files
      return ticket
    }
    step()
    note(files)
    return nil
  }

  private func note(_ files: [FinishedFile]) {
    hasNews = true
    for file in files { file.noteStep() }
  }

  func takeResults() throws(Errno) {
    try pool.takeDone { ticket in
      if placing == ticket { placing = nil }
      if let files = jobs.removeValue(forKey: ticket) { note(files) }
    }
  }
}

/// Only regular files, and links at the target, are ever replaced or removed, so that even root
/// cannot lose a device.
enum Place {
  /// Throws if `path` is neither a file nor a link to one.
  static func refuseOther(_ path: String) throws(DownloadFailure) {
    let text = "cannot create the file \(path)"
    var kind: FileStatus.Kind
    do throws(Errno) {
      kind = try Path.linkStatus(path).kind
    } catch {
      if error == .noSuchFile { return }
      throw LocalFailure.of(text, error)
    }
    let isLink = kind == .link
    if isLink, leadsThroughProcesses(path) {
      throw DownloadFailure(
        .local(Errno.exists.rawValue),
        "\(text): it is a symbolic link into /proc, which differs between processes")
    }
    if isLink {
      do throws(Errno) {
        kind = try Path.status(path).kind
      } catch {
        // The link is dangling.
        if error == .noSuchFile || error == .tooManyLinks { return }
        throw LocalFailure.of("\(text): it is a symbolic link that opflow cannot follow", error)
      }
    }
    if kind == .file { return }
    let detail = isLink ? "a symbolic link to \(name(kind))" : name(kind)
    let number: Errno = kind == .directory ? .isADirectory : .exists
    throw DownloadFailure(.local(number.rawValue), "\(text): it is \(detail)")
  }

  /// A link into /proc, like /dev/stdout, means another file for each process.
  private static func leadsThroughProcesses(_ path: String) -> Bool {
    guard let processes = try? Path.linkStatus("/proc/self").identity.device else { return false }
    var path = path
    for _ in 0..<mostLinks {
      guard let status = try? Path.linkStatus(path), status.kind == .link else { return false }
      if status.identity.device == processes { return true }
      guard let target = try? Path.linkTarget(path) else { return false }
      path = target.hasPrefix("/") ? target : Path.parent(of: path) + "/" + target
    }
    return false
  }

  /// The kernel's limit (path_resolution(7)).
  private static let mostLinks = 40

  static func clear(_ path: String) throws(DownloadFailure) {
    guard try isThere(path) else { return }
    do throws(Errno) {
      try Path.removeIfThere(path)
    } catch {
      throw LocalFailure.of("cannot remove \(path)", error)
    }
  }

  /// Throws if `path`, one of a download's own names, is not a download's.
  static func isThere(_ path: String) throws(DownloadFailure) -> Bool {
    let kind: FileStatus.Kind
    do throws(Errno) {
      kind = try Path.linkStatus(path).kind
    } catch {
      if error == .noSuchFile { return false }
      throw LocalFailure.of("cannot check \(path)", error)
    }
    if kind == .file || kind == .link { return true }
    throw DownloadFailure(
      .local(Errno.exists.rawValue), "cannot replace \(path): it is \(name(kind))")
  }

  static func remove(_ path: String, ifIs identity: FileIdentity) {
    if (try? Path.linkStatus(path))?.identity == identity { try? Path.remove(path) }
  }

  static func name(_ kind: FileStatus.Kind) -> String {
    switch kind {
    case .file: "a file"
    case .directory: "a folder"
    case .link: "a symbolic link"
    case .device: "a device"
    case .fifo: "a FIFO"
    case .socket: "a socket"
    case .other: "a special file"
    }
  }
}
