internal import OpflowCore

/// Finds entries that cover another path or pattern with any files: a parent folder, or a pattern
/// that matches all of it. Whether two patterns merely overlap depends on the files.
struct CoverTable {
  private let table: FileTable
  private var ways: WayTable
  private let scratch = TextStore()

  init(_ table: FileTable) {
    self.table = table
    ways = WayTable(table)
  }

  /// Finds the entries that cover `path`, except an equal one. `path` must be absolute and
  /// normalized.
  ///
  /// - Parameter left: The remaining budget, in bytes compared.
  mutating func forEach(
    over path: Text, isPattern: Bool, left: inout Int, _ body: (Int) -> Void
  ) {
    guard isPattern else { return ways.forEach(of: path, left: &left, body) }
    let special = path.firstIndex(where: PathPattern.isEscaped) ?? path.count
    // No name behind it starts with a dot, which `*` does not match.
    let open = lastHidden(path)
    let name = path.part(((path.lastIndex(of: UInt8(ascii: "/")) ?? -1) + 1)..<path.count)
    var end = path.part(0..<special).lastIndex(of: UInt8(ascii: "/"))
    var isNearest = true
    while let folder = end, folder > 0, left > 0 {
      left -= path.count
      let above = path.part(0..<folder)
      if let number = table.paths.index(of: above), !table.isPattern[number] { body(number) }
      if folder >= open {
        find(above, "/**", Text(start: nil, count: 0), path, body)
        find(above, "/**/*", Text(start: nil, count: 0), path, body)
        find(above, "/**/", name, path, body)
        if isNearest, folder + 1 + name.count == path.count {
          find(above, "/*", Text(start: nil, count: 0), path, body)
        }
      }
      isNearest = false
      end = above.lastIndex(of: UInt8(ascii: "/"))
    }
  }

  /// Returns the start of the last name with a leading dot; 0 if there is none.
  private func lastHidden(_ path: Text) -> Int {
    var last = 0
    for place in path.indices.dropFirst()
    where path[place] == UInt8(ascii: ".") && path[place - 1] == UInt8(ascii: "/") {
      last = place
    }
    return last
  }

  private func find(
    _ folder: Text, _ middle: StaticString, _ name: Text, _ path: Text, _ body: (Int) -> Void
  ) {
    scratch.removeAll()
    scratch.append(folder)
    middle.withUTF8Buffer { scratch.append(Text($0)) }
    scratch.append(name)
    let wanted = scratch.finish()
    if !wanted.isSame(as: path), let number = table.paths.index(of: wanted),
      table.isPattern[number]
    {
      body(number)
    }
  }
}
