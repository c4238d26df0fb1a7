internal import OpflowBase
internal import OpflowSystem

/// Removes unchanged files of the task's earlier attempts before it starts, one at a time.
final class FileCleaning {
  private let own: OwnFiles
  private let outputs: [[UInt8]]
  private let isOfOther: ([UInt8]) -> Bool
  private var left: Int
  /// A file that was kept because it is behind a link.
  private(set) var behindLink: String?

  /// An output that is a link, and was not the task's to remove.
  var link: String? {
    outputs.first { ((try? own.project.status($0)) ?? nil)?.kind == .link }.map {
      NameCharacters.text($0)
    }
  }

  /// - Parameters:
  ///   - outputs: the paths that the task declares.
  ///   - isOfOther: whether another task may have left a file as well.
  init(_ own: OwnFiles, outputs: [[UInt8]], isOfOther: @escaping ([UInt8]) -> Bool) {
    self.own = own
    self.outputs = outputs
    self.isOfOther = isOfOther
    left = own.files.count
    own.openFolders()
  }

  deinit { own.closeFolders() }

  /// Continues until the deadline; returns whether all files are gone.
  func goOn(until deadline: Int64) throws(LookFault) -> Bool {
    while left > 0 {
      // In reverse, because folders come before their contents.
      left -= 1
      let file = own.files[left]
      do throws(Errno) {
        try remove(file)
      } catch .tooManyLinks {
        behindLink = file.name
      } catch {
        throw LookFault(
          what: "`\(file.name)`, which it left the last time, cannot be removed: \(error)")
      }
      if Clock.monotonicNanoseconds >= deadline { return left == 0 }
    }
    return true
  }

  private func remove(_ file: ProjectFile) throws(Errno) {
    guard try own.project.status(file.path) != nil, !isOfOther(file.path) else { return }
    switch file.seen.kind {
    case .other: return
    case .file, .executable, .link, .absent:
      if file.isMade, own.isAsLeft(file.path) { try own.project.remove(file.path, isFolder: false) }
    // Fails if the folder contains other files; it then stays.
    case .folder: try? own.project.remove(file.path, isFolder: true)
    }
  }
}
