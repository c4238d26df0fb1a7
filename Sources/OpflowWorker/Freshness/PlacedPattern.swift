internal import OpflowPlan

/// A pattern with its base folder. `.` and `..` are resolved, since found names do not contain
/// them.
struct PlacedPattern {
  /// Split into names, from the root.
  let folder: [[UInt8]]
  let pattern: PathPattern

  /// Fails if a `[` is not closed.
  init?(_ text: String, in folder: String) {
    var home = DeclaringTask.names("", in: text.utf8.first == UInt8(ascii: "/") ? "/" : folder)
    var rest: [Substring.UTF8View] = []
    for name in text.utf8.split(separator: UInt8(ascii: "/")) {
      if name.elementsEqual(".".utf8) { continue }
      if !name.elementsEqual("..".utf8) {
        rest.append(name)
      } else if rest.popLast() == nil {
        _ = home.popLast()
      }
    }
    let end = text.utf8.last == UInt8(ascii: "/") ? "/" : ""
    guard let pattern = PathPattern(rest.map { String(Substring($0)) }.joined(separator: "/") + end)
    else { return nil }
    self.folder = home
    self.pattern = pattern
  }

  func matches(_ names: [[UInt8]]) -> Bool {
    names.count > folder.count && names.starts(with: folder)
      && pattern.matches(names[folder.count...])
  }

  /// The path matches or, for a pattern of folders, lies in a folder that matches.
  func covers(_ names: [[UInt8]]) -> Bool {
    if !pattern.fitsFolders { return matches(names) }
    return names.indices.contains { matches(Array(names[...$0])) }
  }
}
