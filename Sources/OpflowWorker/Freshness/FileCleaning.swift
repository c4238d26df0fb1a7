internal import OpflowCore
internal import OpflowSystem

/// Removes what earlier attempts of a task left and nobody changed since, a file at a time, before the task starts.
final class FileCleaning {
  private let own: OwnFiles
  private let isOfOther: (String) -> Bool
  private var left: Int
  /// A file that lies behind a link, and stays.
  private(set) var behindLink: String?

  /// - Parameter isOfOther: whether another task may have left a file as well.
  init(_ own: OwnFiles, isOfOther: @escaping (String) -> Bool) {
    self.own = own
    self.isOfOther = isOfOther
    left = own.files.count
    own.openFolders()
  }

  deinit { own.closeFolders() }

  /// - Returns: whether all are gone.
  /// - Throws: what cannot be removed.
  func goOn(until deadline: Int64) throws(LookFault) -> Bool {
    while left > 0 {
      // What is in a folder stands behind it.
      left -= 1
      let file = own.files[left]
      do throws(Errno) {
        try remove(file)
      } catch .tooManyLinks {
        behindLink = file.path
      } catch {
        throw LookFault(
          what: "`\(file.path)`, which it left the last time, cannot be removed: \(error)")
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
      if own.isAsLeft(file.path) { try own.project.remove(file.path, isFolder: false) }
    // Somebody else may have put something there.
    case .folder: try? own.project.remove(file.path, isFolder: true)
    }
  }
}
