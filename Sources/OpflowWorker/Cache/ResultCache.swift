internal import OpflowBase
internal import OpflowSystem

/// A folder of cached results, which several programs may use at once.
///
/// - An entry is one file, renamed to its key when complete and never changed, so readers always
///   see all of it. Reads check hashes, so nothing is synced.
/// - The total size is in a locked file. It may be wrong after a crash and is recounted before an
///   eviction.
/// - Others may write to the folder: links are not followed, and only regular files count.
package struct ResultCache {
  private let folder: String
  private let isOwn: Bool
  package let isWritable: Bool
  private let limitBytes: Int64
  private let uncounted = Uncounted()

  package init(_ setting: CacheSetting, state: String) {
    switch setting {
    case .own(let limit):
      (folder, isOwn, isWritable, limitBytes) = (state + "/cache", true, true, limit)
    case .shared(let path, let mayWrite, let limit):
      (folder, isOwn, isWritable, limitBytes) = (path, false, mayWrite, limit)
    }
  }

  /// A folder that the user named may be a link.
  private func store() throws(Errno) -> FolderBeneath {
    try FolderBeneath(folder, followsLink: !isOwn)
  }

  /// Keeps different versions of opflow apart.
  private static let root = "\(CacheEntry.version)"
  private static let drafts = root + "/new"
  private static let size = root + "/size"

  private static func path(_ key: SHA256.Digest) -> String {
    let digits = key.description
    return "\(root)/\(digits.prefix(2))/\(digits.dropFirst(2))"
  }

  func place(of key: SHA256.Digest) -> String { folder + "/" + Self.path(key) }

  /// `path` is relative to the cache folder; nil for the folder itself.
  func unwritten(_ error: Errno, _ path: String? = nil) -> CacheFault {
    CacheFault(
      detail: "cannot write a result to \(folder)\(path.map { "/" + $0 } ?? ""): \(error)")
  }

  // MARK: - Reading

  func open(_ key: SHA256.Digest) throws(Errno) -> Descriptor? {
    do throws(Errno) {
      let store = try store()
      guard let file = try Self.readable(Self.path(key), in: store), try file.status().kind == .file
      else { return nil }
      return file
    } catch {
      switch error {
      // A link is not an entry.
      case .noSuchFile, .notADirectory, .tooManyLinks: return nil
      default: throw error
      }
    }
  }

  /// nil if only the owner can read the entry.
  private static func readable(
    _ path: String, in store: borrowing FolderBeneath
  ) throws(Errno) -> Descriptor? {
    do throws(Errno) {
      return try store.open(path, [.readOnly, .noFollow, .nonblocking])
    } catch .accessDenied {
      return nil
    }
  }

  /// Eviction removes the least recently used entries first.
  func noteUse(_ entry: borrowing Descriptor) {
    if isWritable { try? entry.setModified(nanoseconds: Clock.wallMilliseconds * 1_000_000) }
  }

  // MARK: - Writing

  /// A new file that may become an entry.
  struct Draft: ~Copyable {
    let file: Descriptor
    fileprivate let store: FolderBeneath
    fileprivate let path: String
  }

  func begin() throws(Errno) -> Draft {
    try Path.makeDirectories(folder, mode: 0o777)
    let store = try store()
    try store.makeFolders(Array(Self.drafts.utf8))
    Self.removeOldDrafts(in: store)
    let path = "\(Self.drafts)/\(Hexadecimal.text(UInt64.random(in: 0 ... .max)))"
    let file = try store.open(path, [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
    return Draft(file: file, store: store, path: path)
  }

  /// Removes drafts of crashed programs: no result takes a day to write.
  private static func removeOldDrafts(in store: borrowing FolderBeneath) {
    let old = (Clock.wallMilliseconds - 86_400_000) * 1_000_000
    for (path, status) in files(of: drafts, in: store) where status.modifiedNanoseconds < old {
      try? store.remove(path, isFolder: false)
    }
  }

  private static func files(
    of folder: String, in store: borrowing FolderBeneath
  ) -> [(path: String, status: FileStatus)] {
    guard let names = try? store.names(folder) else { return [] }
    var files: [(String, FileStatus)] = []
    for name in names {
      let path = "\(folder)/\(name)"
      if let status = (try? store.status(path)) ?? nil, status.kind == .file {
        files.append((path, status))
      }
    }
    return files
  }

  func hasRoom(for bytes: Int64) -> Bool { bytes <= limitBytes }

  func drop(_ draft: consuming Draft) { try? draft.store.remove(draft.path, isFolder: false) }

  /// Replaces a damaged or equal entry. The umask limits `mode`.
  func keep(
    _ draft: consuming Draft, as key: SHA256.Digest, mode: UInt32 = 0o666
  ) throws(CacheFault) {
    let path = Self.path(key)
    let added: Int64
    do throws(Errno) {
      let bytes = try draft.file.status().sizeBytes
      try draft.file.setMode(mode & 0o666 & ~File.creationMask | 0o600)
      try draft.store.makeFolders(Array(Path.parent(of: path).utf8))
      added = try bytes - (draft.store.status(path)?.sizeBytes ?? 0)
      try draft.store.move(draft.path, to: path)
    } catch {
      drop(draft)
      throw unwritten(error, path)
    }
    do throws(Errno) {
      try count(added, in: draft.store)
    } catch {
      throw CacheFault(
        detail: "cannot write its size to \(folder)/\(Self.size): \(error)")
    }
  }

  // MARK: - Its size

  /// Bytes added while another process held the lock on the size.
  private final class Uncounted {
    var bytes: Int64 = 0
    var hasWaited = false
  }

  /// The part of the limit left by an eviction, so that the next entries do not trigger another
  /// scan.
  private static let emptiedPercent: Int64 = 90
  /// Waited only once per session: a stopped opflow, or any user who can read the file, may hold
  /// the lock forever.
  private static let lockPatience: Int64 = 200_000_000
  private static let lockPauseMilliseconds: Int32 = 20
  /// The part of the limit after which the entries are recounted.
  private static let uncountedPercent: Int64 = 10

  /// Evicts if the limit is exceeded; waits with that while another process holds the lock.
  private func count(_ added: Int64, in store: borrowing FolderBeneath) throws(Errno) {
    uncounted.bytes += added
    let file = try store.open(
      Self.size, [.readWrite, .create, .noFollow, .nonblocking], mode: 0o666)
    let status = try file.status()
    // A file with a second hard link may belong to someone elsewhere.
    guard status.kind == .file, status.linkCount == 1 else { throw .notSupported }
    guard try lock(file) else {
      if uncounted.bytes > limitBytes / 100 * Self.uncountedPercent { try forgetSize(in: store) }
      return
    }
    let text = try file.readAll(atMost: 40)
    let digits = text.prefix { $0 != Field.lineFeed }
    var total =
      Field.number(digits, as: Int64.self)?.addingReportingOverflow(uncounted.bytes).partialValue
      ?? .max
    if total < 0 || total > limitBytes { total = try makeRoom(in: store) }
    try file.truncate(to: 0)
    try file.seek(to: 0)
    try file.writeAll("\(total)\n")
    uncounted.bytes = 0
  }

  private func lock(_ file: borrowing Descriptor) throws(Errno) -> Bool {
    let patience = uncounted.hasWaited ? 0 : Self.lockPatience
    let deadline = Clock.monotonicNanoseconds + patience
    while try !file.tryLock() {
      uncounted.hasWaited = true
      if Clock.monotonicNanoseconds >= deadline { return false }
      Clock.sleep(milliseconds: Self.lockPauseMilliseconds)
    }
    return true
  }

  /// The next writer then recounts all entries.
  private func forgetSize(in store: borrowing FolderBeneath) throws(Errno) {
    try store.remove(Self.size, isFolder: false)
    uncounted.bytes = 0
  }

  /// Call it when no more results will be added.
  func leave() {
    guard uncounted.bytes != 0, let store = try? store() else { return }
    // The recorded size is too small, as after a crash.
    try? forgetSize(in: store)
  }

  /// Returns the remaining size.
  private func makeRoom(in store: borrowing FolderBeneath) throws(Errno) -> Int64 {
    var entries: [(path: String, bytes: Int64, used: Int64)] = []
    for shelf in try store.names(Self.root) where shelf.utf8.count == 2 {
      for (path, status) in Self.files(of: "\(Self.root)/\(shelf)", in: store) {
        entries.append((path, status.sizeBytes, status.modifiedNanoseconds))
      }
    }
    var total = entries.reduce(Int64(0)) { $0.addingReportingOverflow($1.bytes).partialValue }
    if total <= limitBytes { return total }
    entries.sort { $0.used < $1.used }
    for entry in entries {
      if total <= limitBytes / 100 * Self.emptiedPercent { break }
      try store.remove(entry.path, isFolder: false)
      total -= entry.bytes
    }
    return total
  }
}

struct CacheFault: Error, Equatable {
  let detail: String
  /// The cause is in the project, so other results may still work.
  var isOfProject = false
}
