enum DisplayPath {
  static func path(_ path: Text, in displayFolder: () -> String) -> String {
    if path.first == UInt8(ascii: "/") { return path.string }
    let path = path.hasPrefix("./") ? path.part(2..<path.count) : path
    return displayFolder() + path.string
  }

  /// Returns the folder shown before a file's relative paths: its real one if it is reached through
  /// a symbolic link.
  ///
  /// - Parameters:
  ///   - name: The file's path as shown.
  ///   - path: The path that was opened.
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
