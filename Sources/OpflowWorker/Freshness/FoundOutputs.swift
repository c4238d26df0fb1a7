internal import OpflowCore
internal import OpflowSystem

/// What lay where a task leaves its outputs before it started, by stamps alone: what is still the same when it
/// has ended was not made by it, and may be somebody's own.
struct FoundOutputs {
  private let folder: String
  /// By path, as the task's folder sees it.
  private var stamps: [[UInt8]: FileStamp] = [:]
  /// Something could not be looked at.
  private var isUnknown = false
  /// What its last success left and nobody else did.
  private let own: [[UInt8]: SeenFile]

  /// Of one folder.
  private static let mostEntries = 4_000_000

  /// - Parameter earlier: what is known of the last success.
  init(_ declaring: DeclaringTask, _ folders: FolderMemory, earlier: SuccessRecord?) {
    folder = declaring.folder
    own = Dictionary(
      (earlier?.madeOutputs ?? []).map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    for output in declaring.outputs {
      switch output {
      case .path(let path): add(path, folders)
      case .glob(let pattern):
        switch FileNames.fitting(pattern, in: folder, folders: folders) {
        case .success(let names): for name in names { add(name, folders) }
        case .failure: isUnknown = true
        }
      }
    }
  }

  private func absolute(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : folder + "/" + path
  }

  /// A folder with all that is in it.
  private mutating func add(_ path: String, _ folders: FolderMemory) {
    var open = [path]
    while let path = open.popLast() {
      do throws(Errno) {
        let status = try Path.linkStatus(absolute(path))
        stamps[Array(path.utf8)] = FileStamp(status)
        guard status.kind == .directory else { continue }
        let inside = path.utf8.last == UInt8(ascii: "/") ? path : path + "/"
        let listing = try folders.listing(of: absolute(path), most: Self.mostEntries)
        open += (0..<listing.count).map { inside + listing.names.text($0) }
      } catch {
        if error != .noSuchFile && error != .notADirectory { isUnknown = true }
      }
    }
  }

  /// The paths of those outputs that the task did not make.
  ///
  /// - Parameter outputs: what was seen when it had ended.
  func unchanged(_ outputs: SeenFiles) -> [[UInt8]] {
    outputs.lazy.filter { !isMade($0) }.map(\.path)
  }

  private func isMade(_ output: SeenFile) -> Bool {
    if let own = own[output.path], own.isSame(as: output) { return true }
    if isUnknown { return false }
    guard let before = stamps[output.path] else { return true }
    let path = String(decoding: output.path, as: UTF8.self)
    // Its stamp may not be told in what was seen, where it is too young to be trusted.
    guard let status = try? Path.linkStatus(absolute(path)) else { return true }
    let now = FileStamp(status)
    // A folder changes with what others put into it.
    if output.kind == .folder { return now.inode != before.inode || now.device != before.device }
    return now != before
  }
}
