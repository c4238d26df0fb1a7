enum PathText {
  /// Removes `.`, `..` and empty parts. `folder` must be normalized. Links are not resolved:
  /// `a/../b` becomes `b`.
  static func absolute(_ path: ByteView, from folder: ByteView, store: TextStore) -> ByteView {
    if isNormal(path) {
      store.append(folder)
      if folder.count > 1 { store.append("/") }
      store.append(path)
      return store.finish()
    }
    var parts: [ByteView] = []
    if path.first != UInt8(ascii: "/") { appendParts(of: folder, to: &parts) }
    appendParts(of: path, to: &parts)
    if parts.isEmpty { return store.copy("/") }
    for part in parts {
      store.append("/")
      store.append(part)
    }
    return store.finish()
  }

  /// `.` if they are equal; `path` if it is outside. Both must be normalized.
  static func relative(_ path: ByteView, to folder: ByteView) -> ByteView {
    if path.isSame(as: folder) || path.elementsEqual(folder) { return ByteView(".") }
    let count = folder.count > 1 ? folder.count + 1 : 1
    guard path.count > count, path[count - 1] == UInt8(ascii: "/"),
      path[..<(count - 1)].elementsEqual(folder[..<(count - 1)])
    else { return path }
    return ByteView(rebasing: path[count...])
  }

  /// False for some normalized paths too, such as hidden files.
  private static func isNormal(_ path: ByteView) -> Bool {
    var previous = UInt8(ascii: "/")
    for byte in path {
      if previous == UInt8(ascii: "/"), byte == UInt8(ascii: ".") || byte == UInt8(ascii: "/") {
        return false
      }
      previous = byte
    }
    return previous != UInt8(ascii: "/")
  }

  private static func appendParts(of path: ByteView, to parts: inout [ByteView]) {
    // `split` would instantiate generic types at run time.
    var start = 0
    while start < path.count {
      let end = path[start...].firstIndex(of: UInt8(ascii: "/")) ?? path.count
      let part = ByteView(rebasing: path[start..<end])
      start = end + 1
      if part.isEmpty || part == "." { continue }
      if part == ".." {
        _ = parts.popLast()
      } else {
        parts.append(part)
      }
    }
  }
}
