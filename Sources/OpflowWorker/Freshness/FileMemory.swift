internal import OpflowBase
package import OpflowPlan
package import OpflowSystem

/// The hashes of files and listings of folders that this process has read.
package final class FileMemory {
  /// By a hash of the stamp.
  private var contents: [PlanKey: PlanKey] = [:]

  /// Of about 60 bytes each.
  private static let mostContents = 250_000

  package let hash: ContentHash
  let folders: FolderMemory
  let links = LinkWalk()
  let network: NetworkFiles
  let piece = FilePiece()
  private var folder = HeldFolder()
  private var keepsAccessTimes = true

  /// Several tasks may read one file.
  private let keepsContents: Bool

  package init(
    _ hash: ContentHash, keepsContents: Bool = true, network: NetworkFiles = NetworkFiles()
  ) {
    self.network = network
    folders = FolderMemory(network: network)
    self.hash = hash
    self.keepsContents = keepsContents
  }

  /// For the tasks of a plan.
  package convenience init(_ plan: Plan, network: NetworkFiles = NetworkFiles()) {
    let readers = plan.tasks.lazy.filter { plan.isChecked(TaskID($0)) }
    self.init(
      plan.contentHash, keepsContents: readers.dropFirst().first != nil, network: network)
  }

  subscript(stamp: FileStamp) -> PlanKey? {
    get { contents.isEmpty ? nil : contents[Self.key(stamp)] }
    set {
      if !keepsContents { return }
      if contents.count >= Self.mostContents { contents.removeAll() }
      contents[Self.key(stamp)] = newValue
    }
  }

  private static func key(_ stamp: FileStamp) -> PlanKey {
    withUnsafeBytes(
      of: (stamp.device, stamp.inode, stamp.sizeBytes, stamp.modified, stamp.changed)
    ) { Hash.planKey($0) }
  }

  /// Keeps folders open for faster lookups until `letFoldersGo`; only for a short time.
  func holdFolders() { folder.hold() }

  func letFoldersGo() {
    folder.letGo()
    links.forget()
  }

  /// What is known of links is valid only while folders are held.
  func prepareLinks() { if !folder.isHeld { links.forget() } }

  /// Relative to `start`; does not follow links.
  func linkStatus(
    _ path: UnsafeRawBufferPointer, from start: String
  ) -> Result<FileStatus, Errno> {
    folder.linkStatus(path, from: start)
  }

  /// Does not block on the open. `isTarget`: follow a link at the path, which is otherwise an
  /// error. `expected` is the file's stamp; nil to take it after opening, which refreshes network
  /// file systems.
  func reading(
    _ path: UnsafeRawBufferPointer, from start: String, isTarget: Bool, expected: FileStamp?,
    into seen: SeenFile
  ) -> Result<FileHashing, Errno> {
    do throws(Errno) {
      let file = try open(path, from: start, isTarget ? [] : .noFollow)
      let expected = if let expected { expected } else { FileStamp(try file.status()) }
      return .success(try FileHashing(file, expected: expected, into: seen, hash, piece))
    } catch {
      return .failure(error)
    }
  }

  /// Without updating the access time: a check should not count as use, and the update takes as
  /// long as hashing a small file. Files of other users do not allow this.
  private func open(
    _ path: UnsafeRawBufferPointer, from start: String, _ flags: File.Flags
  ) throws(Errno) -> Descriptor {
    let flags = flags.union([.readOnly, .nonblocking])
    if keepsAccessTimes {
      do throws(Errno) {
        return try folder.open(path, from: start, flags.union(.noAccessTime))
      } catch .notPermitted {
        keepsAccessTimes = false
      }
    }
    return try folder.open(path, from: start, flags)
  }
}
