package import OpflowSystem

/// A manifest's path as the user gave it. Redirected links, files replaced by links, and renamed
/// folders may make it lead to another manifest or nowhere.
package struct ManifestPlace: Sendable {
  /// Absolute, with links unresolved.
  private let path: String
  private let realPath: String

  package enum Finding: Sendable, Equatable {
    /// The same file path as at the start.
    case same
    case other(String)
    case nothing
  }

  /// nil if nothing is there.
  package init?(_ path: String) {
    guard let folder = try? Path.workingDirectory(), let realPath = try? Path.real(path) else {
      return nil
    }
    self.path = path.hasPrefix("/") ? path : "\(folder)/\(path)"
    self.realPath = realPath
  }

  package func look() -> Finding {
    guard let found = try? Path.real(path) else { return .nothing }
    return found == realPath ? .same : .other(found)
  }

  package var status: FileStatus? { try? Path.status(path) }

  /// The folders on the path that contain a link, and the folder where a component is missing.
  var folders: [String] {
    var folders: [String] = []
    var current = "/"
    var left = Self.names(path)
    var links = 0
    while let name = left.popLast() {
      if name == "." { continue }
      if name == ".." {
        current = Path.parent(of: current)
        continue
      }
      let next = current == "/" ? "/\(name)" : "\(current)/\(name)"
      guard let status = try? Path.linkStatus(next) else { return folders + [current] }
      guard status.kind == .link, let target = try? Path.linkTarget(next) else {
        current = next
        continue
      }
      folders.append(current)
      links += 1
      // The kernel's limit (path_resolution(7)).
      if links > 40 { return folders }
      if target.hasPrefix("/") { current = "/" }
      left += Self.names(target)
    }
    return folders
  }

  private static func names(_ path: String) -> [String] {
    path.split(separator: "/").reversed().map(String.init)
  }
}
