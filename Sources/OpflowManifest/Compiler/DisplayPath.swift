/// Paths as a person sees them.
enum DisplayPath {
  /// A path as a person sees it, who wrote it in a file of that folder.
  static func path(_ path: Text, in displayFolder: () -> String) -> String {
    if path.first == UInt8(ascii: "/") { return path.string }
    let path = path.hasPrefix("./") ? path.part(2..<path.count) : path
    return displayFolder() + path.string
  }

  /// What relative paths in a file are shown behind: its folder as it is shown itself, unless it is
  /// reached through a link.
  ///
  /// - Parameters:
  ///   - name: the file's path as it is shown.
  ///   - path: by which it was looked for.
  static func folder(
    _ name: String, path: String, realPath: String
  ) -> () -> String {
    let folder = parent(of: realPath)
    if parent(of: path) != folder { return { folder == "/" ? "/" : folder + "/" } }
    guard let slash = name.lastIndex(of: "/") else { return { "" } }
    return { String(name[...slash]) }
  }

  static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.utf8.startIndex
    else { return "/" }
    return String(path[..<slash])
  }
}
