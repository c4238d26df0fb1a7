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
  private var found = ByteStrings()
  /// Folders still to be looked at, as seen from the root, with their slash; and for which part of the
  /// pattern. The last one comes next.
  private var open: [(folder: [UInt8], part: Int)] = [([], 0)]
  private var seen: Set<[UInt8]> = []
  private var lookedAt = 0
  private var fault: FileNameFault?
  private let folders: FolderMemory

  /// Names that are looked at: whoever has more means something else.
  private static let mostNames = 4_000_000
  private static let slash = UInt8(ascii: "/")

  /// The names that fit, as seen from a folder and sorted by their bytes.
  ///
  /// - Parameter folders: what is known of folders already.
  package static func fitting(
    _ text: String, in folder: String, folders: FolderMemory = FolderMemory()
  ) -> Result<[String], FileNameFault> {
    all(fitting: text, in: folder, folders: folders).map { names in
      (0..<names.count).map { names.text($0) }
    }
  }

  /// The same, of which there may be millions. All are UTF-8.
  static func all(
    fitting text: String, in folder: String, folders: FolderMemory
  ) -> Result<ByteStrings, FileNameFault> {
    guard let pattern = PathPattern(text) else {
      return .failure(FileNameFault("a `[` in it is not closed"))
    }
    var search = FileNames(pattern, folder, folders)
    search.run()
    if let fault = search.fault { return .failure(fault) }
    search.found.sort()
    return .success(search.found)
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
          add(folder + Array(name.utf8), .unknown)
        } else {
          open.append((folder + Array(name.utf8) + [Self.slash], part + 1))
        }
      case .pattern(let names):
        look(into: folder, from: Array(names.beginning.utf8)) { search, name, kind in
          guard names.matches(name) else { return }
          if isLast {
            search.add(folder, name, kind)
          } else if kind == .directory || kind == .unknown {
            search.open.append((folder + Array(name) + [Self.slash], part + 1))
          }
        }
      case .anyFolders:
        guard seen.insert(Array("\(part) ".utf8) + folder).inserted else { continue }
        if isLast, !folder.isEmpty { add(folder.dropLast(), .directory) }
        look(into: folder, from: []) { search, name, kind in
          guard name.first != UInt8(ascii: "."), search.isFolderItself(folder, name, kind)
          else { return }
          search.open.append((folder + Array(name) + [Self.slash], part))
        }
        // What is in the folder itself comes before what is in those below: then hardly anything is left to
        // sort.
        if !isLast { open.append((folder, part + 1)) }
      }
    }
  }

  private func path(_ folder: [UInt8]) -> String {
    let path = root + String(decoding: folder, as: UTF8.self)
    return path.isEmpty ? "." : path
  }

  /// - Parameter beginning: of the names that count.
  private mutating func look(
    into folder: [UInt8], from beginning: [UInt8],
    _ body: (inout FileNames, UnsafeRawBufferPointer, FolderEntries.Kind) -> Void
  ) {
    let openCount = open.count
    do throws(Errno) {
      let listing = try folders.listing(of: path(folder), most: Self.mostNames)
      for place in listing.places(from: beginning) {
        lookedAt += 1
        if lookedAt > Self.mostNames { throw .tooBig }
        let before = (found.count, open.count)
        listing.names.with(place) { body(&self, $0, listing.kind(place)) }
        if (found.count, open.count) != before, !listing.names.isUTF8(place) {
          fault = FileNameFault(
            "a name in `\(path(folder))` is not UTF-8: \(listing.names.text(place))")
        }
        if fault != nil { return }
      }
    } catch {
      switch error {
      case .noSuchFile, .notADirectory: return
      case .tooBig:
        fault = FileNameFault("more than four million names would have to be looked at")
      default: fault = FileNameFault("`\(path(folder))`: \(error)")
      }
    }
    open[openCount...].reverse()
  }

  /// A link to a folder is none here.
  private func isFolderItself(
    _ folder: [UInt8], _ name: UnsafeRawBufferPointer, _ kind: FolderEntries.Kind
  ) -> Bool {
    switch kind {
    case .directory: true
    case .file, .other: false
    case .unknown: (try? Path.linkStatus(path(folder + Array(name))))?.kind == .directory
    }
  }

  private mutating func add(_ path: some Collection<UInt8>, _ kind: FolderEntries.Kind) {
    Array(path).withUnsafeBytes { add([], $0, kind) }
  }

  private mutating func add(
    _ folder: [UInt8], _ name: UnsafeRawBufferPointer, _ kind: FolderEntries.Kind
  ) {
    switch kind {
    case .file: if !pattern.fitsFolders { keep(folder, name) }
    case .directory: if pattern.fitsFolders { keep(folder, name) }
    case .other: break
    case .unknown:
      let path = path(folder + Array(name))
      do throws(Errno) {
        let status = try Path.status(path)
        add(
          folder, name,
          status.kind == .directory ? .directory : status.kind == .file ? .file : .other)
      } catch {
        if error == .noSuchFile || error == .notADirectory { return }
        fault = FileNameFault("`\(path)`: \(error)")
      }
    }
  }

  private mutating func keep(_ folder: [UInt8], _ name: UnsafeRawBufferPointer) {
    let head = pattern.isAbsolute ? [Self.slash] + folder : folder
    head.withUnsafeBytes { found.append($0, name) }
  }
}
