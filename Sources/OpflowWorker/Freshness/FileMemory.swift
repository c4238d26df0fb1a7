package import OpflowCore
internal import OpflowSystem

/// What this process has read of files and folders, by what they are known again by.
package final class FileMemory {
  /// By a hash of stamps.
  private var contents: [PlanKey: PlanKey] = [:]

  /// Contents that are kept, of some 60 bytes each.
  private static let mostContents = 250_000

  /// By which contents are known here.
  package let hash: ContentHash
  let folders = FolderMemory()
  let piece = FilePiece()
  private var path: [UInt8] = []

  /// Whether a file may be looked at again, for another task.
  private let keepsContents: Bool

  package init(_ hash: ContentHash, keepsContents: Bool = true) {
    self.hash = hash
    self.keepsContents = keepsContents
  }

  /// For the tasks of a plan.
  package convenience init(_ plan: Plan) {
    let readers = plan.tasks.lazy.filter { plan.isChecked(TaskID($0)) }
    self.init(plan.contentHash, keepsContents: readers.dropFirst().first != nil)
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

  /// A path from the root with a zero behind it, until the next one is asked for.
  ///
  /// - Parameter folder: where it starts if it is relative, with its slash.
  func pathBytes(_ path: UnsafeRawBufferPointer, in folder: String) -> [UInt8] {
    self.path.removeAll(keepingCapacity: true)
    if path.first != UInt8(ascii: "/") { self.path.append(contentsOf: folder.utf8) }
    self.path.append(contentsOf: path)
    self.path.append(0)
    return self.path
  }
}
