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
  private let folders: FolderMemory

  /// Names that are looked at: whoever has more means something else.
  private static let mostNames = 4_000_000

  /// The names that fit, as seen from a folder and sorted by their bytes.
  ///
  /// - Parameter folders: what is known of folders already.
  package static func fitting(
    _ text: String, in folder: String, folders: FolderMemory = FolderMemory()
  ) -> Result<[String], FileNameFault> {
    guard let pattern = PathPattern(text) else {
      return .failure(FileNameFault("a `[` in it is not closed"))
    }
    var search = FileNames(pattern, folder, folders)
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

  private init(_ pattern: PathPattern, _ folder: String, _ folders: FolderMemory) {
    self.pattern = pattern
    self.folders = folders
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
        look(into: folder, from: names.beginning) { search, name, kind in
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
        look(into: folder, from: "") { search, name, kind in
          guard name.utf8.first != UInt8(ascii: "."), search.isFolderItself(folder + name, kind)
          else { return }
          search.open.append((folder + name + "/", part))
        }
      }
    }
  }

  /// - Parameter beginning: of the names that count.
  private mutating func look(
    into folder: String, from beginning: String,
    _ body: (inout FileNames, String, FolderEntries.Kind) -> Void
  ) {
    let path = root + folder
    do throws(Errno) {
      let listing = try folders.listing(of: path.isEmpty ? "." : path, most: Self.mostNames)
      for entry in listing.entries(from: beginning) {
        lookedAt += 1
        if lookedAt > Self.mostNames { throw .tooBig }
        let before = (found.count, open.count)
        body(&self, entry.name, entry.kind)
        if (found.count, open.count) != before, !entry.isUTF8 {
          fault = FileNameFault("a name in `\(path)` is not UTF-8: \(entry.name)")
        }
        if fault != nil { return }
      }
    } catch {
      switch error {
      case .noSuchFile, .notADirectory: return
      case .tooBig:
        fault = FileNameFault("more than four million names would have to be looked at")
      default: fault = FileNameFault("`\(path)`: \(error)")
      }
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
