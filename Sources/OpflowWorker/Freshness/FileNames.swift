package import OpflowCore
internal import OpflowSystem

/// Finds the files that a pattern fits.
///
/// `**` enters no folder that is a link or whose name begins with a dot, so it always comes to an end.
/// What cannot be looked into is told: a file that is left out unseen is a task that is not there.
package struct FileNames {
  private let pattern: PathPattern
  /// With its slash.
  private let root: String
  private var found: [String] = []
  /// Folders still to be looked at, as seen from the root, with their slash; and for which part of the
  /// pattern.
  private var open: [(folder: String, part: Int)] = [("", 0)]
  private var seen: Set<[UInt8]> = []
  private var lookedAt = 0
  private var fault: FileNameFault?

  /// Names that are looked at: a folder of more is no list of tasks.
  private static let mostNames = 1_000_000

  /// The names that fit, as seen from a folder and sorted by their bytes.
  package static func fitting(
    _ text: String, in folder: String
  ) -> Result<[String], FileNameFault> {
    guard let pattern = PathPattern(text) else {
      return .failure(FileNameFault("a `[` in it is not closed"))
    }
    var search = FileNames(pattern, folder)
    search.run()
    if let fault = search.fault { return .failure(fault) }
    var names = search.found
    names.sort { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    var last: String?
    names.removeAll { name in
      defer { last = name }
      return last.map { $0.utf8.elementsEqual(name.utf8) } ?? false
    }
    return .success(names)
  }

  private init(_ pattern: PathPattern, _ folder: String) {
    self.pattern = pattern
    root = pattern.isAbsolute ? "/" : folder.hasSuffix("/") ? folder : folder + "/"
  }

  private mutating func run() {
    while let (folder, part) = open.popLast(), fault == nil {
      if part == pattern.parts.count { continue }
      let isLast = part == pattern.parts.count - 1
      switch pattern.parts[part] {
      case .literal(let name):
        if isLast {
          add(folder + name, .unknown)
        } else {
          open.append((folder + name + "/", part + 1))
        }
      case .pattern(let names):
        look(into: folder) { search, name, kind in
          guard names.matches(name) else { return }
          if isLast {
            search.add(folder + name, kind)
          } else if kind == .directory || kind == .unknown {
            search.open.append((folder + name + "/", part + 1))
          }
        }
      case .anyFolders:
        guard seen.insert(Array("\(part) \(folder)".utf8)).inserted else { continue }
        if isLast {
          if !folder.isEmpty { add(String(folder.dropLast()), .directory) }
        } else {
          open.append((folder, part + 1))
        }
        look(into: folder) { search, name, kind in
          guard !name.hasPrefix("."), search.isFolderItself(folder + name, kind) else { return }
          search.open.append((folder + name + "/", part))
        }
      }
    }
  }

  private mutating func look(
    into folder: String, _ body: (inout FileNames, String, FolderEntries.Kind) -> Void
  ) {
    let path = root + folder
    do throws(Errno) {
      try FolderEntries.forEach(in: path.isEmpty ? "." : path) { bytes, kind in
        lookedAt += 1
        if lookedAt >= Self.mostNames {
          fault = FileNameFault("more than a million names would have to be looked at")
          return false
        }
        let name = String(decoding: bytes, as: UTF8.self)
        let before = (found.count, open.count)
        body(&self, name, kind)
        if (found.count, open.count) != before, !name.utf8.elementsEqual(bytes) {
          fault = FileNameFault("a name in `\(path)` is not UTF-8: \(name)")
        }
        return fault == nil
      }
    } catch {
      if error == .noSuchFile || error == .notADirectory { return }
      fault = FileNameFault("`\(path)`: \(error)")
    }
  }

  /// A link to a folder is none here.
  private func isFolderItself(_ path: String, _ kind: FolderEntries.Kind) -> Bool {
    switch kind {
    case .directory: true
    case .file, .other: false
    case .unknown: (try? Path.linkStatus(root + path))?.kind == .directory
    }
  }

  private mutating func add(_ path: String, _ kind: FolderEntries.Kind) {
    let path = pattern.isAbsolute ? "/" + path : path
    switch kind {
    case .file: if !pattern.fitsFolders { found.append(path) }
    case .directory: if pattern.fitsFolders { found.append(path) }
    case .other: break
    case .unknown:
      do throws(Errno) {
        let status = try Path.status(pattern.isAbsolute ? path : root + path)
        add(
          pattern.isAbsolute ? String(path.dropFirst()) : path,
          status.kind == .directory ? .directory : status.kind == .file ? .file : .other)
      } catch {
        if error == .noSuchFile || error == .notADirectory { return }
        fault = FileNameFault("`\(path)`: \(error)")
      }
    }
  }
}
