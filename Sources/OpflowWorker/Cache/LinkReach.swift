/// Where links in results may lead: within the manifest's folder, so that what a stranger may have put into a
/// cache has no task write elsewhere.
enum LinkReach {
  /// Whether a link leads nowhere else, given that all others do not either. `..` counts at the beginning
  /// only: behind the name of another link it leads to where nobody can tell from the text.
  ///
  /// - Parameters:
  ///   - path: of the link, as seen from the manifest's folder.
  ///   - folder: the manifest's.
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
