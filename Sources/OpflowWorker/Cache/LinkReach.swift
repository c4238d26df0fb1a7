/// Restricts links in results to the manifest's folder, so that a manipulated cache cannot make a
/// task write elsewhere.
enum LinkReach {
  /// Whether the link `path`, relative to the manifest's `folder`, stays in that folder, if all
  /// other links do. `..` is allowed only at the beginning of the target: after a name that may be
  /// a link, its meaning is unknown.
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
