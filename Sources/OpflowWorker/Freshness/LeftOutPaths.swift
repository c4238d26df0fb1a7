internal import OpflowCore

/// Paths that are no inputs of a task, with all that lies in them, to be asked of each that it names.
struct LeftOutPaths {
  private let folder: String
  private var paths: [String] = []
  /// Those below the folder, as seen from it.
  private var near: [[UInt8]] = []
  /// One is the folder, or holds it.
  private var holdsFolder = false
  private let names = Names()

  /// The paths by their names from the root, once somebody asks for them.
  private final class Names { var ofPaths: [[[UInt8]]] = [] }

  private var patterns: [PlacedPattern] = []

  private static let slash = UInt8(ascii: "/")

  /// - Parameter folder: where relative paths and patterns start.
  init(_ folder: String) { self.folder = folder }

  mutating func add(_ item: FileLook.Item) {
    switch item {
    case .glob(let text):
      if let pattern = PlacedPattern(text, in: folder) { patterns.append(pattern) }
    case .path(let path):
      paths.append(path)
      let bytes = Array(path.utf8)
      let start = Array(folder.utf8) + [Self.slash]
      if Self.isPlain(bytes), bytes.last != Self.slash {
        near.append(bytes)
      } else if bytes.starts(with: start), Self.isPlain(bytes[start.count...]) {
        near.append(Array(bytes[start.count...]))
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
      near.append(Array(names.dropFirst(home.count).joined(separator: [Self.slash])))
    }
  }

  /// As the names of a path from the root begin that is left out.
  private var beginnings: [[[UInt8]]] {
    // All were added before anybody asks.
    if names.ofPaths.count < paths.count {
      names.ofPaths = paths.map { DeclaringTask.names($0, in: folder) }
    }
    return names.ofPaths
  }

  func contains(_ path: UnsafeRawBufferPointer) -> Bool {
    let isPlain = Self.isPlain(path)
    // As nearly all are: nothing has to be taken apart.
    if isPlain, holdsFolder || near.contains(where: { Self.holds($0, path) }) { return true }
    if isPlain, patterns.isEmpty { return false }
    let names = DeclaringTask.names(String(decoding: path, as: UTF8.self), in: folder)
    if !isPlain, beginnings.contains(where: { names.starts(with: $0) }) { return true }
    return patterns.contains { $0.covers(names) }
  }

  /// Whether it is that path, or lies in it.
  private static func holds(_ outer: [UInt8], _ path: UnsafeRawBufferPointer) -> Bool {
    guard path.count >= outer.count, path.count == outer.count || path[outer.count] == slash else {
      return false
    }
    return outer.withUnsafeBytes { ByteOrder($0, path.part(0, outer.count)) == .same }
  }

  /// Whether it is relative and has one way to be written.
  private static func isPlain(_ path: some Sequence<UInt8>) -> Bool {
    var start = true
    for byte in path {
      // A name that begins with a dot may be `.` or `..`, and an empty one is none.
      if start, byte == slash || byte == UInt8(ascii: ".") { return false }
      start = byte == slash
    }
    return true
  }
}
