internal import OpflowCore

/// Finds the parent folders of a file, and the patterns that match it.
struct WayTable {
  private var folders = TextTable()
  /// For each folder, the entries about its contents.
  private var own: [[Int32]] = []
  /// For each folder, the nearest one with entries; -1 for none, nil if unknown.
  private var nearest: [Int32?] = []
  /// For each entry, its pattern; nil for a path.
  private var patterns: [Pattern?] = []

  private struct Pattern {
    let pattern: PathPattern
    let text: Text
    /// The literal suffix of all matches.
    let end: Text

    init?(_ text: Text) {
      guard let pattern = PathPattern(text.string) else { return nil }
      self.pattern = pattern
      self.text = text
      let special = text.lastIndex { PathPattern.isEscaped($0) || $0 == UInt8(ascii: "]") }
      end = text.part(((special ?? -1) + 1)..<text.count)
    }
  }

  /// The limit on folders. Beyond it, nothing is found.
  private static let mostFolders = 1_000_000

  init(_ table: FileTable) {
    for (number, path) in table.paths.texts.enumerated() {
      var folder = path
      patterns.append(table.isPattern[number] ? Pattern(path) : nil)
      if table.isPattern[number] {
        if patterns[number] == nil { continue }
        folder = Self.parent(
          of: path.part(0..<(path.firstIndex(where: PathPattern.isEscaped) ?? 0)))
      }
      own[self.number(of: folder)].append(Int32(truncatingIfNeeded: number))
    }
  }

  /// - Parameter left: The remaining budget, in bytes compared.
  mutating func forEach(of path: Text, left: inout Int, _ body: (Int) -> Void) {
    var names: [[UInt8]]?
    var folder = nearest(to: Self.parent(of: path))
    while folder >= 0 {
      let text = folders.texts[folder]
      for number in own[folder] {
        if left <= 0 { return }
        left -= 1
        if let pattern = patterns[Int(number)] {
          guard pattern.end.count <= path.count,
            path.part((path.count - pattern.end.count)..<path.count).isSame(as: pattern.end)
          else { continue }
          left -= path.count * pattern.text.count
          let parts = names ?? Self.names(of: path)
          names = parts
          if !pattern.pattern.matches(parts) { continue }
        }
        body(Int(number))
      }
      if text.isEmpty { return }
      folder = nearest(to: Self.parent(of: text))
    }
  }

  private mutating func nearest(to folder: Text) -> Int {
    var passed: [Int] = []
    var found: Int32?
    var next = folder
    while found == nil {
      if folders.count >= Self.mostFolders { return -1 }
      let number = number(of: next)
      found =
        nearest[number] ?? (own[number].isEmpty ? nil : Int32(truncatingIfNeeded: number))
        ?? (next.isEmpty ? -1 : nil)
      passed.append(number)
      next = Self.parent(of: next)
    }
    for number in passed { nearest[number] = found }
    return Int(found ?? -1)
  }

  private mutating func number(of folder: Text) -> Int {
    let (number, isNew) = folders.insert(folder)
    if isNew {
      own.append([])
      nearest.append(nil)
    }
    return number
  }

  /// Returns the part before the last slash; empty in the root.
  private static func parent(of path: Text) -> Text {
    path.part(0..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0))
  }

  private static func names(of path: Text) -> [[UInt8]] {
    path.split(separator: UInt8(ascii: "/")).map { Array($0) }
  }
}
