/// Follows the symbolic links of paths, as far as there are any by now.
final class LinkResolver {
  /// What a symbolic link names; nil for a path that is none.
  private let readLink: (String) -> String?
  /// By folder; mostly many files are in one.
  private var folders: [String: String] = [:]

  /// As many as Linux follows (path_resolution(7)); then the rest is taken as it stands.
  private static let mostLinks = 40

  init(readLink: @escaping (String) -> String?) { self.readLink = readLink }

  /// The folder that an absolute path leads to.
  func folder(_ path: String) -> String {
    if let known = folders[path] { return known }
    let found = resolved(path)
    folders[path] = found
    return found
  }

  /// What a path in a folder without links leads to; nil where it is no link.
  func destination(of path: String) -> String? {
    readLink(path) == nil ? nil : resolved(path)
  }

  private func resolved(_ path: String) -> String {
    var rest = Self.parts(of: path)
    var found: [Substring] = []
    var links = 0
    while let part = rest.popLast() {
      if part == ".." {
        _ = found.popLast()
        continue
      }
      found.append(part)
      guard links < Self.mostLinks, let target = readLink(Self.joined(found)) else { continue }
      links += 1
      found.removeLast()
      if target.hasPrefix("/") { found.removeAll() }
      rest += Self.parts(of: target)
    }
    return Self.joined(found)
  }

  /// The last one first.
  private static func parts(of path: String) -> [Substring] {
    path.split(separator: "/").filter { $0 != "." }.reversed()
  }

  private static func joined(_ parts: [Substring]) -> String { "/" + parts.joined(separator: "/") }
}
