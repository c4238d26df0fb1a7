internal import OpflowPlan

/// Resolves the symbolic links that exist now.
final class LinkResolver {
  private let readLink: (String) -> String?
  /// A cache, since many files share a folder.
  private var folders: [String: String] = [:]

  /// The newest folder of `unlinked`, and its real path; nil without links.
  private var last: (folder: ByteView, real: String?)?
  private let store = TextStore()

  private var warningsLeft = 1000

  /// Linux follows no more (path_resolution(7)).
  private static let mostLinks = 40
  private static let mostBytes = 4096

  init(readLink: @escaping (String) -> String?) { self.readLink = readLink }

  /// Reads each folder on the way once.
  func folder(_ path: String) -> String {
    if let known = folders[path] { return known }
    guard let slash = path.lastIndex(of: "/"), path.utf8.count < Self.mostBytes else { return path }
    let above = slash == path.startIndex ? "/" : folder(String(path[..<slash]))
    let found: String
    switch path[slash...].dropFirst() {
    case "", ".": found = above
    case "..":
      let end = above.lastIndex(of: "/") ?? above.startIndex
      found = end == above.startIndex ? "/" : String(above[..<end])
    default:
      let own = above == "/" ? String(path[slash...]) : above + path[slash...]
      found = destination(of: own) ?? own
    }
    folders[path] = found
    return found
  }

  /// As in the kernel, `..` after a link leaves the folder that the link leads to.
  func absolute(_ path: ByteView, from folder: ByteView, isPattern: Bool, store: TextStore)
    -> ByteView
  {
    guard let slash = Self.lastSlash(path, isPattern: isPattern),
      Self.leavesFolder(path.part(0..<slash))
    else { return PathText.absolute(path, from: folder, store: store) }
    let start = path.first == UInt8(ascii: "/") ? "" : folder.string + "/"
    let real = self.folder(start + path.part(0..<slash).string)
    let whole = Self.moved(path, from: slash, to: real, isPattern: isPattern, store: store)
    return PathText.absolute(whole, from: folder, store: store)
  }

  /// The end of a path's folder, as far as the path is literal.
  private static func lastSlash(_ path: ByteView, isPattern: Bool) -> Int? {
    let special = isPattern ? path.firstIndex(where: PathPattern.isEscaped) : nil
    return path.part(0..<(special ?? path.count)).lastIndex(of: UInt8(ascii: "/"))
  }

  private static func moved(
    _ path: ByteView, from slash: Int, to folder: String, isPattern: Bool, store: TextStore
  ) -> ByteView {
    let rest = path.part(slash..<path.count).string
    if folder == "/" { return store.copy(rest) }
    return store.copy((isPattern ? PathPattern.text(ofName: folder) : folder) + rest)
  }

  private static func leavesFolder(_ path: ByteView) -> Bool {
    let dot = UInt8(ascii: ".")
    guard path.contains(dot) else { return false }
    return path.split(separator: UInt8(ascii: "/")).contains { $0.elementsEqual([dot, dot]) }
  }

  /// Resolves the folder of a path, or of a pattern's literal beginning.
  func unlinked(_ path: ByteView, isPattern: Bool, store: TextStore) -> ByteView {
    guard let slash = Self.lastSlash(path, isPattern: isPattern), slash > 0 else { return path }
    let folder = path.part(0..<slash)
    if last?.folder.isSame(as: folder) != true {
      let (text, real) = (folder.string, self.folder(folder.string))
      self.store.removeAll()
      last = (self.store.copy(folder), real == text ? nil : real)
    }
    guard let real = last?.real else { return path }
    return Self.moved(path, from: slash, to: real, isPattern: isPattern, store: store)
  }

  func destination(of path: String) -> String? {
    readLink(path) == nil ? nil : resolved(path)
  }

  /// Returns a link's destination for a warning, which is not worth reading many links.
  func destination(ofOneOfFew path: ByteView) -> String? {
    if warningsLeft == 0 { return nil }
    warningsLeft -= 1
    return destination(of: path.string)
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

  private static func parts(of path: String) -> [Substring] {
    path.split(separator: "/").filter { $0 != "." }.reversed()
  }

  private static func joined(_ parts: [Substring]) -> String { "/" + parts.joined(separator: "/") }
}
