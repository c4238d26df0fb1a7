package import OpflowSystem

/// The place of a manifest, as a person named it. Links on the way to it may be aimed elsewhere, a file
/// may take the name of one, and a folder may have another name for a while: what is found there is then
/// another manifest, or none.
package struct ManifestPlace: Sendable {
  /// Absolute, with the links that are in it.
  private let path: String
  /// Where it led at first.
  private let realPath: String

  package enum Finding: Sendable, Equatable {
    /// What was there at first, by its place; of its contents that says nothing.
    case same
    /// The real path of what is there now.
    case other(String)
    case nothing
  }

  /// Nil where nothing is.
  ///
  /// - Parameter path: seen from the working directory.
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

  /// Of what is there now; nil for nothing.
  package var status: FileStatus? { try? Path.status(path) }

  /// The folders in which a link may be aimed elsewhere, and that in which something is missing.
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
      // path_resolution(7)
      if links > 40 { return folders }
      if target.hasPrefix("/") { current = "/" }
      left += Self.names(target)
    }
    return folders
  }

  /// The names of a path, the last one first.
  private static func names(_ path: String) -> [String] {
    path.split(separator: "/").reversed().map(String.init)
  }
}
