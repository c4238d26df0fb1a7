internal import OpflowCore
internal import OpflowSystem

/// The paths that a scan leaves out.
struct LeftOut {
  /// By path as written.
  let path: (UnsafeRawBufferPointer) -> Bool
  /// By a link's target: its absolute path without links and its status, nil if missing.
  let target: ([UInt8], FileStatus?) -> Bool

  static var nothing: LeftOut { LeftOut(path: { _ in false }, target: { _, _ in false }) }
}

/// Paths that are not inputs of a task, including everything in them.
struct LeftOutPaths {
  private let folder: String
  private var paths: [String] = []
  /// Those below `folder`, relative to it.
  private var near: [[UInt8]] = []
  /// One of them is `folder` or contains it.
  private var holdsFolder = false
  private let names = Names()

  /// Caches, filled on first use.
  private final class Names {
    var ofPaths: [[[UInt8]]] = []
    /// The identities of the paths and of the files that match the patterns.
    var identities: Set<FileIdentity>?
    /// Whether a folder of link targets, by its real path, is left out.
    var targetFolders: [[UInt8]: Bool] = [:]
  }

  private var patterns: [PlacedPattern] = []
  private var globs: [String] = []

  private static let slash = UInt8(ascii: "/")

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

  private var beginnings: [[[UInt8]]] {
    // All paths are added before the first use.
    if names.ofPaths.count < paths.count {
      names.ofPaths = paths.map { DeclaringTask.names($0, in: folder) }
    }
    return names.ofPaths
  }

  func contains(_ path: UnsafeRawBufferPointer) -> Bool {
    let isPlain = Self.isPlain(path)
    // The usual case, without splitting the path.
    if isPlain, holdsFolder || near.contains(where: { Self.holds($0, path) }) { return true }
    if isPlain, patterns.isEmpty { return false }
    let names = DeclaringTask.names(Array(path), in: folder)
    if !isPlain, beginnings.contains(where: { names.starts(with: $0) }) { return true }
    return patterns.contains { $0.covers(names) }
  }

  // MARK: - Behind links

  /// Whether a link's target is left out or lies in something that is. Compares identities, since
  /// several paths may lead to it. `real` has no links; `status` is nil if it is missing.
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

  private static func holds(_ outer: [UInt8], _ path: UnsafeRawBufferPointer) -> Bool {
    guard path.count >= outer.count, path.count == outer.count || path[outer.count] == slash else {
      return false
    }
    return outer.withUnsafeBytes { ByteOrder($0, path.part(0, outer.count)) == .same }
  }

  /// Whether a path is relative and has only one spelling.
  private static func isPlain(_ path: some Sequence<UInt8>) -> Bool {
    var start = true
    for byte in path {
      // Names that begin with a dot may be `.` or `..`; empty names do not count.
      if start, byte == slash || byte == UInt8(ascii: ".") { return false }
      start = byte == slash
    }
    return true
  }
}
