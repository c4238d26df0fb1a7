internal import OpflowCore
internal import OpflowSystem

/// What a look comes across and leaves out.
struct LeftOut {
  /// By a path as it is written.
  let path: (UnsafeRawBufferPointer) -> Bool
  /// What a link leads to, by its path from the root without links; nil for what is not there.
  let target: ([UInt8], FileStatus?) -> Bool

  static var nothing: LeftOut { LeftOut(path: { _ in false }, target: { _, _ in false }) }
}

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
  private final class Names {
    var ofPaths: [[[UInt8]]] = []
    /// What is there of the paths and patterns, once somebody asks for a target.
    var identities: Set<FileIdentity>?
    /// Folders of targets, without links.
    var targetFolders: [[UInt8]: Bool] = [:]
  }

  private var patterns: [PlacedPattern] = []
  private var globs: [String] = []

  private static let slash = UInt8(ascii: "/")

  /// - Parameter folder: where relative paths and patterns start.
  init(_ folder: String) { self.folder = folder }

  mutating func add(_ item: FileLook.Item) {
    switch item {
    case .glob(let text):
      if let pattern = PlacedPattern(text, in: folder) { patterns.append(pattern) }
      globs.append(text)
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
    let names = DeclaringTask.names(Array(path), in: folder)
    if !isPlain, beginnings.contains(where: { names.starts(with: $0) }) { return true }
    return patterns.contains { $0.covers(names) }
  }

  // MARK: - Behind links

  /// Whether a link leads to one, or into one: whichever way, so by what is there and not by its path.
  ///
  /// - Parameters:
  ///   - real: from the root and without links.
  ///   - status: nil for what is not there.
  func containsTarget(_ real: [UInt8], _ status: FileStatus?) -> Bool {
    guard let status else { return real.withUnsafeBytes { contains($0) } }
    if identities.contains(status.identity) { return true }
    guard let cut = real.lastIndex(of: Self.slash), cut > 0 else { return false }
    return containsFolder(Array(real[..<cut]))
  }

  private func containsFolder(_ real: [UInt8]) -> Bool {
    if let known = names.targetFolders[real] { return known }
    let status = try? Path.linkStatus(ofBytes: real + [0], from: File.workingFolder)
    let isLeftOut = status.map { containsTarget(real, $0) } ?? false
    names.targetFolders[real] = isLeftOut
    return isLeftOut
  }

  private var identities: Set<FileIdentity> {
    if let known = names.identities { return known }
    var paths = self.paths.map { Array($0.utf8) }
    for glob in globs {
      guard let names = try? FileNames.fitting(glob, in: folder, keepsLinks: true).get() else {
        continue
      }
      paths += (0..<names.count).map { names[$0] }
    }
    let found = paths.compactMap {
      let path = DeclaringTask.absolute($0, in: folder) + [0]
      return try? Path.linkStatus(ofBytes: path, from: File.workingFolder).identity
    }
    names.identities = Set(found)
    return Set(found)
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
