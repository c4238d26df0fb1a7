internal import OpflowCore

/// Finds what of a table lies on the way to a file: folders that it is in, and patterns that it fits.
struct WayTable {
  private var folders = TextTable()
  /// By folder, the numbers of paths and patterns that are about what is in it.
  private var own: [[Int32]] = []
  /// By folder, the nearest one that has some: itself, or one around it; -1 for none.
  private var nearest: [Int32?] = []
  /// By number; nil for a path.
  private var patterns: [Pattern?] = []

  private struct Pattern {
    let pattern: PathPattern
    /// As it stands.
    let text: Text
    /// What all that fits ends with.
    let end: Text

    init?(_ text: Text) {
      guard let pattern = PathPattern(text.string) else { return nil }
      self.pattern = pattern
      self.text = text
      let special = text.lastIndex { PathPattern.isEscaped($0) || $0 == UInt8(ascii: "]") }
      end = text.part(((special ?? -1) + 1)..<text.count)
    }
  }

  /// Folders that are looked at: beyond that, nothing more is found.
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

  /// Calls `body` with the number of each folder that a file is in, and of each pattern that it fits.
  ///
  /// - Parameter left: what may still be done, in bytes that are compared.
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

  /// The part before the last slash; of what is in the root, nothing.
  private static func parent(of path: Text) -> Text {
    path.part(0..<(path.lastIndex(of: UInt8(ascii: "/")) ?? 0))
  }

  private static func names(of path: Text) -> [[UInt8]] {
    path.split(separator: UInt8(ascii: "/")).map { Array($0) }
  }
}
