/// Resolves the symbolic links that exist now.
final class LinkResolver {
  /// Returns a symbolic link's target; nil for other paths.
  private let readLink: (String) -> String?
  /// A cache, since many files share a folder.
  private var folders: [String: String] = [:]

  /// The limit of Linux (path_resolution(7)). Further links are not followed.
  private static let mostLinks = 40

  init(readLink: @escaping (String) -> String?) { self.readLink = readLink }

  /// Returns the real path of a folder.
  func folder(_ path: String) -> String {
    if let known = folders[path] { return known }
    let found = resolved(path)
    folders[path] = found
    return found
  }

  /// Returns the destination of a link; nil if the path is not one.
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

  /// The parts in reverse order.
  private static func parts(of path: String) -> [Substring] {
    path.split(separator: "/").filter { $0 != "." }.reversed()
  }

  private static func joined(_ parts: [Substring]) -> String { "/" + parts.joined(separator: "/") }
}
