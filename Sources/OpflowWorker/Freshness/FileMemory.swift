package import OpflowCore
package import OpflowSystem

/// What this process has read of files and folders, by what they are known again by.
package final class FileMemory {
  /// By a hash of stamps.
  private var contents: [PlanKey: PlanKey] = [:]

  /// Contents that are kept, of some 60 bytes each.
  private static let mostContents = 250_000

  /// By which contents are known here.
  package let hash: ContentHash
  let folders: FolderMemory
  let links = LinkWalk()
  let network: NetworkFiles
  let piece = FilePiece()
  private var folder = HeldFolder()
  private var keepsAccessTimes = true

  /// Whether a file may be looked at again, for another task.
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

  /// Until `letFoldersGo` files are looked at from folders that are kept open: to be done for a moment only.
  func holdFolders() { folder.hold() }

  func letFoldersGo() {
    folder.letGo()
    links.forget()
  }

  /// Before links are followed: what is known of them is of this moment.
  func prepareLinks() { if !folder.isHeld { links.forget() } }

  /// What stands there itself.
  ///
  /// - Parameter start: the folder where it starts if it is relative.
  func linkStatus(
    _ path: UnsafeRawBufferPointer, from start: String
  ) -> Result<FileStatus, Errno> {
    folder.linkStatus(path, from: start)
  }

  /// Begins to read a file for its hash, and waits for nobody.
  ///
  /// - Parameters:
  ///   - isTarget: it is what a link there leads to; else a link there is not followed.
  ///   - start: the folder where the path starts if it is relative.
  ///   - expected: of the file that was found there; nil where that is known once it is open: a network's file system
  ///     looks then how it is.
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

  /// To look whether a file is another one is no use of it that its time of access should tell, and to write
  /// down that time takes as long as to hash a small file. Of a file of another user it cannot be helped.
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
