internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// The files that a scan leaves out.
struct LeftOut {
  /// Tests a path as written.
  let path: (UnsafeRawBufferPointer) -> Bool
  /// Tests an entry of a pattern or folder, reached without links.
  let listed: (UnsafeRawBufferPointer) -> Bool
  /// Tests the real path of a link's target; no status if it is missing.
  let target: ([UInt8], FileStatus?) -> Bool

  static var nothing: LeftOut {
    LeftOut(path: { _ in false }, listed: { _ in false }, target: { _, _ in false })
  }
}

/// Paths, with everything in them, that are not inputs of a task.
struct LeftOutPaths {
  private let folder: String
  private var paths: [String] = []
  /// Paths below `folder`, relative to it.
  private var near: [[UInt8]] = []
  /// A path is `folder` or contains it.
  private var holdsFolder = false
  private let names = Names()

  /// Computed on first use, when all paths were added.
  private final class Names {
    /// Names from the root.
    var ofPaths: Set<[[UInt8]]>?
    /// Sorted by bytes.
    var near: [[UInt8]]?
    /// The identities of existing paths and matches.
    var identities: Set<FileIdentity>?
    /// By real path.
    var targetFolders: [[UInt8]: Bool] = [:]
    /// Successive links usually lead to one folder.
    var lastTargetFolder: (real: [UInt8], isLeftOut: Bool)?
    /// The same paths with links resolved.
    var unlinked: LeftOutPaths??
  }

  private var patterns: [PlacedPattern] = []
  private var globs: [String] = []

  private static let slash = UInt8(ascii: "/")

  init(_ folder: String) { self.folder = folder }

  mutating func add(_ item: FileScan.Item) {
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

  /// Names from the root.
  private var beginnings: Set<[[UInt8]]> {
    if let known = names.ofPaths { return known }
    let beginnings = Set(paths.map { DeclaringTask.names($0, in: folder) })
    names.ofPaths = beginnings
    return beginnings
  }

  func contains(_ path: UnsafeRawBufferPointer) -> Bool {
    let isPlain = Self.isPlain(path)
    // Nearly all paths are plain.
    if isPlain, holdsFolder || isNear(path) { return true }
    if isPlain, patterns.isEmpty { return false }
    let names = DeclaringTask.names(Array(path), in: folder)
    if !isPlain {
      let beginnings = beginnings
      for count in 0...names.count where beginnings.contains(Array(names[..<count])) { return true }
    }
    return patterns.contains { $0.covers(names) }
  }

  /// `path` is without links, from a pattern or folder; matches paths declared through links too.
  func containsListed(_ path: UnsafeRawBufferPointer) -> Bool {
    contains(path) || unlinked?.contains(path) == true
  }

  private var unlinked: LeftOutPaths? {
    if let known = names.unlinked { return known }
    let links = LinkWalk()
    let items = (paths.map(FileScan.Item.path) + globs.map(FileScan.Item.glob)).compactMap {
      $0.unlinked(links, in: folder)
    }
    var unlinked = LeftOutPaths(folder)
    for item in items { unlinked.add(item) }
    names.unlinked = .some(items.isEmpty ? nil : unlinked)
    return items.isEmpty ? nil : unlinked
  }

  /// Searches for each parent, because both inputs and outputs may be many.
  private func isNear(_ path: UnsafeRawBufferPointer) -> Bool {
    let sorted = names.near ?? near.sorted { $0.lexicographicallyPrecedes($1) }
    names.near = sorted
    for end in path.indices where path[end] == Self.slash {
      if Self.contains(sorted, path.part(0, end)) { return true }
    }
    return Self.contains(sorted, path)
  }

  private static func contains(_ sorted: [[UInt8]], _ path: UnsafeRawBufferPointer) -> Bool {
    var rest = sorted[...]
    while !rest.isEmpty {
      let middle = rest.startIndex + rest.count / 2
      switch rest[middle].withUnsafeBytes({ ByteOrder($0, path) }) {
      case .same: return true
      case .before: rest = rest[(middle + 1)...]
      case .behind: rest = rest[..<middle]
      }
    }
    return false
  }

  // MARK: - Behind links

  /// Compares identities, since several paths may lead to a link's target. `real` has no links;
  /// `status` is nil if it is missing.
  func containsTarget(_ real: [UInt8], _ status: FileStatus?) -> Bool {
    guard let status else { return real.withUnsafeBytes { contains($0) } }
    if identities.contains(status.identity) { return true }
    guard let cut = real.lastIndex(of: Self.slash), cut > 0 else { return false }
    if let last = names.lastTargetFolder, last.real.count == cut, real.starts(with: last.real) {
      return last.isLeftOut
    }
    let folder = Array(real[..<cut])
    let isLeftOut = containsFolder(folder)
    names.lastTargetFolder = (folder, isLeftOut)
    return isLeftOut
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

  /// A relative path that can be written in only one way.
  private static func isPlain(_ path: some Sequence<UInt8>) -> Bool {
    var start = true
    for byte in path {
      // Such names may be `.` or `..`; empty names do not count.
      if start, byte == slash || byte == UInt8(ascii: ".") { return false }
      start = byte == slash
    }
    return true
  }
}

extension FileScan.Item {
  /// nil if no link is on the way to the item's folder.
  fileprivate func unlinked(_ links: LinkWalk, in folder: String) -> FileScan.Item? {
    let outer = surroundingFolder
    let (path, start) = (Array(outer.utf8), Array(folder.utf8))
    guard outer != ".", outer != "/", links.hasLinks(toFolder: path, from: start),
      let real = String(validating: LinkWalk.found(at: path, from: start).real, as: UTF8.self)
    else { return nil }
    switch self {
    case .path(let path): return .path("\(real)/\(Path.name(path))")
    case .glob(let pattern):
      let slash = UInt8(ascii: "/")
      // The folder has as many names as precede the first pattern.
      let count = outer.utf8.count { $0 == slash } + 1
      let names = pattern.split(separator: "/", omittingEmptySubsequences: false).dropFirst(count)
      return .glob("\(PathPattern.text(ofName: real))/\(names.joined(separator: "/"))")
    }
  }
}
