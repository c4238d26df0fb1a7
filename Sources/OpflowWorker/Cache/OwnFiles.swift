internal import OpflowCore
internal import OpflowSystem

/// The files under a task's outputs that earlier attempts of it left, as far as they are still there: what may be
/// replaced or removed without the loss of anything that is somebody else's. Nothing is reached through a link.
final class OwnFiles {
  let project: FolderBeneath
  /// What is in a folder stands behind it.
  let files: [ProjectFile]
  private let places: [String: Int]
  private let strangersOfLost: Set<String>?
  private let hash: ContentHash
  /// Folders that nobody may write to, with their modes, while they may be written to.
  private var opened: [String: UInt32] = [:]
  private var chunk = [UInt8](repeating: 0, count: 256 << 10)

  /// - Parameters:
  ///   - folder: the manifest's.
  ///   - strangersOfLost: as in `LeftFiles`.
  ///   - hash: by which contents of the files are known.
  init(
    _ folder: String, _ files: [ProjectFile], strangersOfLost: Set<String>? = nil,
    hash: ContentHash = .strong
  ) throws(Errno) {
    project = try FolderBeneath(folder)
    self.files = files
    self.strangersOfLost = strangersOfLost
    self.hash = hash
    places = Dictionary(
      files.indices.map { (files[$0].path, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Whether a file or link is there that the task made, as it left it.
  func isAsLeft(_ path: String) -> Bool {
    guard let place = places[path], let status = (try? project.status(path)) ?? nil else {
      return false
    }
    let seen = files[place].seen
    let kind = seen.kind == .absent ? .link : seen.kind
    guard SeenFile.Kind(status) == kind else { return false }
    if let stamp = seen.stamp, stamp == FileStamp(status) { return true }
    return content(of: path, seen.kind, hash) == seen.content
  }

  /// Whether the task would overwrite what is there, though somebody changed it: it wrote that file itself the last
  /// time, or may have done so in an attempt of which nobody saw the end.
  func wouldOverwrite(_ path: String, _ status: FileStatus) -> Bool {
    guard let place = places[path] else {
      guard let strangersOfLost, !strangersOfLost.contains(path) else { return false }
      return status.kind == .file || status.kind == .link
    }
    let file = files[place]
    switch file.seen.kind {
    case .file, .executable: return status.kind == .file && !file.isUntouched
    case .link, .absent: return status.kind == .link && !file.isUntouched
    case .folder, .other: return false
    }
  }

  /// Lets files in folders that the task left without write permission be replaced and removed.
  func openFolders() {
    for file in files where file.seen.kind == .folder {
      guard let status = (try? project.status(file.path)) ?? nil, status.kind == .directory,
        status.mode & 0o300 != 0o300
      else { continue }
      // Where that fails it is told with what cannot be put there.
      try? project.setMode(ofFolder: file.path, status.mode | 0o700)
      opened[file.path] = status.mode
    }
  }

  /// Gives these folders their modes again.
  ///
  /// - Parameter new: modes of these and of others.
  func closeFolders(_ new: [String: UInt32] = [:]) {
    // Those within others first.
    for (path, mode) in opened.merging(new, uniquingKeysWith: { $1 }).sorted(by: { $0.key > $1.key }
    ) {
      try? project.setMode(ofFolder: path, mode)
    }
    opened.removeAll()
  }

  /// Whether the task made a folder there.
  func hasFolder(_ path: String) -> Bool {
    places[path].map { files[$0].seen.kind == .folder } ?? false
  }

  /// Nil for what has none, or cannot be read.
  func content(of path: String, _ kind: SeenFile.Kind, _ hash: ContentHash) -> PlanKey? {
    switch kind {
    case .folder, .other: return nil
    case .link, .absent:
      guard let target = try? project.linkTarget(path) else { return nil }
      return hash.of(target.utf8)
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
