package import OpflowCore
internal import OpflowSystem

/// A folder of results, by their keys, which several programs may use at once.
///
/// An entry is one file, which gets its name when it is whole and is never changed afterwards: it is there or it
/// is not, and who reads it goes on reading when it is removed. Nothing in it is believed without its hash, so
/// that nothing has to be synced. How much there is stands in a file of its own, under a lock; that number may be
/// wrong after a crash, and is found out anew before anything goes.
package struct ResultCache {
  private let folder: String
  package let isWritable: Bool
  private let limitBytes: Int64

  package init(_ setting: CacheSetting, state: String) {
    switch setting {
    case .own(let limit): (folder, isWritable, limitBytes) = (state + "/cache", true, limit)
    case .shared(let path, let mayWrite, let limit):
      (folder, isWritable, limitBytes) = (path, mayWrite, limit)
    }
  }

  /// Of one format: an opflow of another one finds nothing here, and harms nothing.
  private var root: String { "\(folder)/\(CacheEntry.version)" }

  private func path(_ key: SHA256.Digest) -> String {
    let digits = key.description
    return "\(root)/\(digits.prefix(2))/\(digits.dropFirst(2))"
  }

  // MARK: - Reading

  /// The entry of that key, open; nil where there is none.
  func open(_ key: SHA256.Digest) throws(Errno) -> Descriptor? {
    do throws(Errno) {
      return try File.open(path(key), [.readOnly, .noFollow, .nonblocking])
    } catch {
      if error == .noSuchFile || error == .notADirectory { return nil }
      throw error
    }
  }

  /// It was of use: of the entries, those leave first that were not for longest.
  func noteUse(_ entry: borrowing Descriptor) {
    if isWritable { try? entry.setModified(nanoseconds: Clock.wallMilliseconds * 1_000_000) }
  }

  // MARK: - Writing

  /// A file that may become an entry.
  struct Draft: ~Copyable {
    let file: Descriptor
    let path: String
  }

  private var drafts: String { "\(root)/new" }

  func begin() throws(Errno) -> Draft {
    try Path.makeDirectories(drafts, mode: 0o777)
    removeOldDrafts()
    let name = Hexadecimal.text(UInt64.random(in: 0 ... .max))
    let path = "\(drafts)/\(name)"
    return Draft(
      file: try File.open(path, [.readWrite, .create, .exclusive, .noFollow], mode: 0o666),
      path: path)
  }

  /// What killed programs left: none takes a day for one result.
  private func removeOldDrafts() {
    guard let names = try? Path.names(in: drafts) else { return }
    let old = (Clock.wallMilliseconds - 86_400_000) * 1_000_000
    for name in names {
      let path = "\(drafts)/\(name)"
      if let status = try? Path.linkStatus(path), status.modifiedNanoseconds < old {
        try? Path.remove(path)
      }
    }
  }

  /// Whether something so large may be kept at all.
  func hasRoom(for bytes: Int64) -> Bool { bytes <= limitBytes }

  func drop(_ draft: consuming Draft) { try? Path.remove(draft.path) }

  /// Makes an entry of it. What was of that key before was damaged, or is the same.
  func keep(_ draft: consuming Draft, as key: SHA256.Digest) throws(Errno) {
    let path = path(key)
    let bytes = try draft.file.status().sizeBytes
    do throws(Errno) {
      try Path.makeDirectories(Path.parent(of: path), mode: 0o777)
      let earlier = (try? Path.linkStatus(path))?.sizeBytes ?? 0
      try Path.rename(draft.path, to: path)
      try count(bytes - earlier)
    } catch {
      try? Path.remove(draft.path)
      throw error
    }
  }

  // MARK: - Its size

  /// Of what was emptied, so that the next entries need no look at all others.
  private static let emptiedPercent: Int64 = 90

  /// Adds to how much there is, and makes room where that is too much.
  private func count(_ added: Int64) throws(Errno) {
    let lock = try FileLock.lock("\(root)/size", .exclusive)
    let text = try lock.file.readAll(atMost: 40)
    let digits = text.prefix { $0 != Field.lineFeed }
    var total =
      Field.number(digits, as: Int64.self)?.addingReportingOverflow(added).partialValue ?? .max
    if total < 0 || total > limitBytes { total = try makeRoom() }
    try lock.file.truncate(to: 0)
    try lock.file.seek(to: 0)
    try lock.file.writeAll("\(total)\n")
  }

  /// - Returns: how much is left.
  private func makeRoom() throws(Errno) -> Int64 {
    var entries: [(path: String, bytes: Int64, used: Int64)] = []
    for shelf in try Path.names(in: root) where shelf.utf8.count == 2 {
      for name in (try? Path.names(in: "\(root)/\(shelf)")) ?? [] {
        let path = "\(root)/\(shelf)/\(name)"
        guard let status = try? Path.linkStatus(path) else { continue }
        entries.append((path, status.sizeBytes, status.modifiedNanoseconds))
      }
    }
    var total = entries.reduce(Int64(0)) { $0.addingReportingOverflow($1.bytes).partialValue }
    if total <= limitBytes { return total }
    entries.sort { $0.used < $1.used }
    for entry in entries {
      if total <= limitBytes / 100 * Self.emptiedPercent { break }
      try Path.removeIfThere(entry.path)
      total -= entry.bytes
    }
    return total
  }
}
