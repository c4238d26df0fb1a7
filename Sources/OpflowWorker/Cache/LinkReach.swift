/// Restricts links in results to the manifest's folder, so that a manipulated cache cannot make a
/// task write elsewhere.
enum LinkReach {
  /// Whether a link stays within the folder, provided that all other links do. `..` is allowed only
  /// at the beginning: after a name that may be a link, its meaning cannot be told from the text.
  ///
  /// - Parameters:
  ///   - path: the link's path, relative to the manifest's folder.
  ///   - folder: the manifest's folder.
  static func isWithin(_ target: String, at path: String, folder: String) -> Bool {
    var depth = path.utf8.count { $0 == UInt8(ascii: "/") }
    var rest = target[...]
    if target.utf8.first == UInt8(ascii: "/") {
      guard target == folder || target.hasPrefix(folder + "/") else { return false }
      rest = target.dropFirst(folder.count)
      depth = 0
    }
    var isBehindName = false
    for name in rest.split(separator: "/") where name != "." {
      if name == ".." {
        if isBehindName || depth == 0 { return false }
        depth -= 1
      } else {
        isBehindName = true
      }
    }
    return true
  }
}
