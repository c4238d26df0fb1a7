internal import OpflowCore

/// Paths that are no inputs of a task, with all that lies in them, to be asked of each that it names.
struct LeftOutPaths {
  private let folder: String
  private var paths: [String] = []
  /// Those below the folder, as seen from it.
  private var near: [String] = []
  /// One is the folder, or holds it.
  private var holdsFolder = false
  private let names = Names()

  /// The paths by their names from the root, once somebody asks for them.
  private final class Names { var ofPaths: [[String]] = [] }

  private var patterns: [PlacedPattern] = []

  /// - Parameter folder: where relative paths and patterns start.
  init(_ folder: String) { self.folder = folder }

  mutating func add(_ item: FileLook.Item) {
    switch item {
    case .glob(let text):
      if let pattern = PlacedPattern(text, in: folder) { patterns.append(pattern) }
    case .path(let path):
      paths.append(path)
      let start = folder + "/"
      if Self.isPlain(path), path.utf8.last != UInt8(ascii: "/") {
        near.append(path)
      } else if path.hasPrefix(start), Self.isPlain(path[start.endIndex...]) {
        near.append(String(path[start.endIndex...]))
      } else {
        addOdd(path)
      }
    }
  }

  private mutating func addOdd(_ path: String) {
    let names = DeclaringTask.names(path, in: folder)
    let home = DeclaringTask.names("", in: folder)
    if home.starts(with: names) {
      holdsFolder = true
    } else if names.starts(with: home) {
      near.append(names.dropFirst(home.count).joined(separator: "/"))
    }
  }

  /// As the names of a path from the root begin that is left out.
  private var beginnings: [[String]] {
    // All were added before anybody asks.
    if names.ofPaths.count < paths.count {
      names.ofPaths = paths.map { DeclaringTask.names($0, in: folder) }
    }
    return names.ofPaths
  }

  func contains(_ path: String) -> Bool {
    if Self.isPlain(path) {
      // As nearly all are: nothing has to be taken apart.
      if holdsFolder || near.contains(where: { Self.holds($0, path) }) { return true }
    } else {
      let names = DeclaringTask.names(path, in: folder)
      if beginnings.contains(where: { names.starts(with: $0) }) { return true }
    }
    if patterns.isEmpty { return false }
    let names = DeclaringTask.names(path, in: folder)
    return patterns.contains { $0.covers(names) }
  }

  /// Whether it is that path, or lies in it.
  private static func holds(_ outer: String, _ path: String) -> Bool {
    guard path.hasPrefix(outer) else { return false }
    let rest = path.utf8.dropFirst(outer.utf8.count).first
    return rest == nil || rest == UInt8(ascii: "/")
  }

  /// Whether it is relative and has one way to be written.
  private static func isPlain(_ path: some StringProtocol) -> Bool {
    var start = true
    for byte in path.utf8 {
      // A name that begins with a dot may be `.` or `..`, and an empty one is none.
      if start, byte == UInt8(ascii: "/") || byte == UInt8(ascii: ".") { return false }
      start = byte == UInt8(ascii: "/")
    }
    return true
  }
}
