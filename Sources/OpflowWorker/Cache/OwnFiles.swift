internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// The files that a task's earlier attempts left under its outputs and that still exist. Only these
/// may be replaced or removed without losing other people's work. Does not follow links.
final class OwnFiles {
  let project: FolderBeneath
  /// Folders come before their contents.
  let files: [ProjectFile]
  private let places: [[UInt8]: Int]
  private let strangersOfLost: Set<[UInt8]>?
  private let hash: ContentHash
  /// The task's read-only folders, while writable, with their modes.
  private var opened: [[UInt8]: UInt32] = [:]
  private var chunk = [UInt8](repeating: 0, count: 256 << 10)

  /// `strangersOfLost` is as in `LeftFiles`; `hash` is the hash in `files`.
  init(
    _ folder: String, _ files: [ProjectFile], strangersOfLost: Set<[UInt8]>? = nil,
    hash: ContentHash = .strong
  ) throws(Errno) {
    project = try FolderBeneath(folder)
    self.files = files
    self.strangersOfLost = strangersOfLost
    self.hash = hash
    places = Dictionary(
      files.indices.map { (files[$0].path, $0) }, uniquingKeysWith: { first, _ in first })
  }

  func isAsLeft(_ path: [UInt8]) -> Bool {
    guard let place = places[path], let status = (try? project.status(path)) ?? nil else {
      return false
    }
    let seen = files[place].seen
    let kind = seen.kind == .absent ? .link : seen.kind
    guard SeenFile.Kind(status) == kind else { return false }
    if let stamp = seen.stamp, stamp == FileStamp(status) { return true }
    return content(of: path, seen.kind, hash) == seen.content
  }

  /// True if the task would overwrite the changed file: it wrote that file the last time, or may
  /// have done so in an attempt whose end opflow did not see.
  func wouldOverwrite(_ path: [UInt8], _ status: FileStatus) -> Bool {
    guard let place = places[path] else {
      guard let strangersOfLost, !strangersOfLost.contains(path) else { return false }
      return status.kind == .file || status.kind == .link
    }
    let file = files[place]
    switch file.seen.kind {
    case .file, .executable: return status.kind == .file && !file.keepsEdits
    case .link, .absent: return status.kind == .link && !file.keepsEdits
    case .folder, .other: return false
    }
  }

  /// Makes the task's read-only folders writable, to replace files in them.
  func openFolders() {
    for file in files where file.seen.kind == .folder {
      guard let status = (try? project.status(file.path)) ?? nil, status.kind == .directory,
        status.mode & 0o300 != 0o300
      else { continue }
      // Replacing the file reports the failure.
      try? project.setMode(ofFolder: file.path, status.mode | 0o700)
      opened[file.path] = status.mode
    }
  }

  /// Restores the modes of opened folders and sets the `new` modes, which take precedence.
  func closeFolders(_ new: [[UInt8]: UInt32] = [:]) {
    // Inner folders first.
    for (path, mode) in opened.merging(new, uniquingKeysWith: { $1 })
      .sorted(by: { $1.key.lexicographicallyPrecedes($0.key) })
    {
      try? project.setMode(ofFolder: path, mode)
    }
    opened.removeAll()
  }

  func hasFolder(_ path: [UInt8]) -> Bool {
    places[path].map { files[$0].seen.kind == .folder } ?? false
  }

  /// nil for a folder or an unreadable file.
  func content(of path: [UInt8], _ kind: SeenFile.Kind, _ hash: ContentHash) -> PlanKey? {
    switch kind {
    case .folder, .other: return nil
    case .link, .absent:
      guard let target = try? project.linkTarget(path) else { return nil }
      return hash.of(target)
    case .file, .executable:
      do throws(Errno) {
        guard let hasher = ContentHasher(hash) else { return nil }
        let open = try project.open(path, [.readOnly, .nonblocking])
        guard try open.status().kind == .file else { return nil }
        while true {
          let got = try chunk.withUnsafeMutableBufferPointer { room throws(Errno) in
            try open.read(into: UnsafeMutableRawBufferPointer(room))
          }
          if got == 0 { return hasher.content }
          chunk.withUnsafeBytes { hasher.add(UnsafeRawBufferPointer(rebasing: $0[..<got])) }
        }
      } catch {
        return nil
      }
    }
  }
}

/// A file, folder or link that a task left, as recorded for the cache.
struct ProjectFile {
  /// Relative to the manifest's folder.
  let path: [UInt8]
  let seen: SeenFile
  /// A restore must not overwrite the user's edits: the task's last attempt did not write the file,
  /// or it existed before the first attempt and is also an input.
  var keepsEdits = false
  /// False for a file from before the task's first attempt, which may not be removed.
  var isMade = true
  var name: String { NameCharacters.text(path) }
}
