package import OpflowCore
internal import OpflowSystem

/// Something cannot be looked at; for people.
package struct LookFault: Error, Equatable {
  package let what: String
  /// Of an input that is missing.
  private(set) var path: String?

  init(what: String) { self.what = what }

  init(missing path: String) {
    self.path = path
    what = "the input `\(path)` is missing"
  }
}

/// Looks at files, a little at a time: what they are, and what is in them, by memory where that holds.
package final class FileLook {
  /// With its slash.
  private let folder: String
  private let memory: [SeenFile]
  private var remembered = 0
  private var places: [Place] = []
  private var next = 0
  private var hashing: FileHashing?
  /// Shared between looks of one process: two tasks may read one file.
  private let hashes: FileMemory

  /// Something to look at.
  private struct Place {
    let path: String
    /// Where it had to be asked for to find it: the place of that in `statuses`.
    let status: Int32?
  }

  private var statuses: [FileStatus] = []

  /// What was seen, sorted by the paths.
  package private(set) var files: [SeenFile] = []
  /// Paths that were named and are not there, and patterns that nothing fits.
  package private(set) var missing: [String] = []
  package private(set) var unmatched: [String] = []
  /// Of each of the files, however young it is, where that was asked for.
  package private(set) var stamps: [FileStamp]?
  /// Whether anything had to be read.
  package private(set) var hasRead = false

  /// A path or a pattern.
  package enum Item: Hashable {
    case path(String)
    case glob(String)

    /// The folder that what it names lies in, as far as that is one for all.
    var surroundingFolder: String {
      switch self {
      case .path(let path): return Path.parent(of: path)
      case .glob(let pattern):
        let parts = pattern.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        let literal = parts.prefix { !$0.utf8.contains(where: PathPattern.isSpecial) }
        let isOfRoot = literal.count == 1 && literal.first == ""
        return isOfRoot ? "/" : literal.isEmpty ? "." : literal.joined(separator: "/")
      }
    }
  }

  /// - Parameters:
  ///   - folder: where relative paths start.
  ///   - leavesOut: whether a path does not count, as it is written here.
  ///   - memory: what was seen before, sorted by the paths.
  package init(
    _ items: [Item], in folder: String, memory: [SeenFile], hashes: FileMemory,
    leavesOut: (String) -> Bool
  ) throws(LookFault) {
    self.folder = folder + "/"
    self.memory = memory
    self.hashes = hashes
    for item in items {
      switch item {
      case .glob(let pattern): try find(pattern, leavesOut)
      case .path(let path): try add(path, leavesOut)
      }
    }
    sort()
  }

  /// By the bytes of the paths, each once.
  private func sort() {
    var last = 0
    while last + 1 < places.count,
      places[last].path.comparing(bytesOf: places[last + 1].path) == .before
    { last += 1 }
    if last + 1 >= places.count { return }
    places.sort { $0.path.comparing(bytesOf: $1.path) == .before }
    last = 0
    for place in places.dropFirst() where places[last].path != place.path {
      last += 1
      places[last] = place
    }
    places.removeSubrange((last + 1)...)
  }

  private func find(_ pattern: String, _ leavesOut: (String) -> Bool) throws(LookFault) {
    switch FileNames.fitting(pattern, in: folder, folders: hashes.folders) {
    case .failure(let fault): throw LookFault(what: "`\(pattern)`: \(fault.text)")
    case .success(let names):
      let fitsFolders = pattern.utf8.last == UInt8(ascii: "/")
      var isMatched = false
      for name in names where !leavesOut(name) {
        isMatched = true
        if fitsFolders {
          try add(name, leavesOut)
        } else {
          places.append(Place(path: name, status: nil))
        }
      }
      if !isMatched { unmatched.append(pattern) }
    }
  }

  /// A folder is all that is in it.
  private func add(_ path: String, _ leavesOut: (String) -> Bool) throws(LookFault) {
    var open: [(path: String, kind: FolderEntries.Kind)] = [(path, .unknown)]
    while let (path, kind) = open.popLast() {
      if leavesOut(path) { continue }
      do throws(Errno) {
        guard kind != .file else {
          places.append(Place(path: path, status: nil))
          continue
        }
        let status = try Path.linkStatus(absolute(path))
        places.append(Place(path: path, status: Int32(statuses.count)))
        statuses.append(status)
        guard status.kind == .directory else { continue }
        let inside = path.utf8.last == UInt8(ascii: "/") ? path : path + "/"
        let listing = try hashes.folders.listing(of: absolute(path), most: Self.mostEntries)
        if listing.entries.contains(where: { !$0.isUTF8 }) { throw .notUTF8 }
        open += listing.entries.reversed().map { (inside + $0.name, $0.kind) }
      } catch {
        switch error {
        case .noSuchFile, .notADirectory: missing.append(path)
        case .notUTF8: throw LookFault(what: "a name in `\(path)` is not UTF-8")
        default: throw LookFault(what: "cannot look at `\(path)`: \(error)")
        }
      }
    }
  }

  /// Of one folder.
  private static let mostEntries = 4_000_000

  private func absolute(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : folder + path
  }

  /// Before it goes on: stamps are to be known, too.
  package func keepStamps() { stamps = [] }

  /// Goes on until then.
  ///
  /// - Returns: whether all was seen.
  package func goOn(until deadline: Int64) throws(LookFault) -> Bool {
    repeat {
      if let hashing {
        try finish(hashing)
      } else if next < places.count {
        try look(at: places[next])
      } else {
        return true
      }
    } while Clock.monotonicNanoseconds < deadline
    return hashing == nil && next == places.count
  }

  private func look(at place: Place) throws(LookFault) {
    let text = place.path
    do throws(Errno) {
      let status =
        if let seen = place.status { statuses[Int(seen)] } else {
          try Path.linkStatus(absolute(text))
        }
      let stamp = FileStamp(status)
      stamps?.append(stamp)
      if let known = memory(of: text), known.stamp == stamp, known.kind == SeenFile.Kind(status) {
        files.append(known)
        next += 1
        return
      }
      let now = Clock.wallMilliseconds * 1_000_000
      let kind = SeenFile.Kind(status)
      var seen = SeenFile(
        path: Array(text.utf8), kind: kind, content: PlanKey(high: 0, low: 0),
        stamp: stamp.isTelling(atNanoseconds: now) ? stamp : nil)
      switch kind {
      case .folder, .other:
        // Its entries tell what is in it.
        seen.stamp = nil
        add(seen)
      case .link:
        seen.content = hashes.hash.of(try Path.linkTarget(absolute(text)).utf8)
        add(seen)
      case .file, .executable:
        if let content = hashes[stamp] {
          seen.content = content
          add(seen)
        } else {
          hasRead = true
          hashing = try FileHashing(
            absolute(text), expected: stamp, into: seen, hashes.hash, hashes.piece)
        }
      }
    } catch {
      try fault(error, text)
    }
  }

  private func finish(_ hashing: FileHashing) throws(LookFault) {
    do throws(Errno) {
      guard let seen = try hashing.goOn() else { return }
      if let stamp = seen.stamp { hashes[stamp] = seen.content }
      self.hashing = nil
      add(seen)
    } catch {
      self.hashing = nil
      try fault(error, places[next].path)
    }
  }

  private func add(_ seen: SeenFile) {
    files.append(seen)
    next += 1
  }

  private func fault(_ error: Errno, _ path: String) throws(LookFault) {
    guard error == .noSuchFile || error == .notADirectory else {
      throw LookFault(what: "cannot read `\(path)`: \(error)")
    }
    // It was there when it was looked for.
    missing.append(path)
    next += 1
  }

  /// Both are sorted.
  private func memory(of path: String) -> SeenFile? {
    var path = path
    return path.withUTF8 { path in
      while remembered < memory.count {
        let order = memory[remembered].path.withUnsafeBytes {
          ByteOrder($0, UnsafeRawBufferPointer(path))
        }
        switch order {
        case .same: return memory[remembered]
        case .behind: return nil
        case .before: remembered += 1
        }
      }
      return nil
    }
  }
}

/// What this process has read of files and folders, by what they are known again by.
package final class FileMemory {
  private struct Name: Hashable { let device, inode: UInt64 }

  private var contents: [Name: (stamp: FileStamp, content: PlanKey)] = [:]

  /// By which contents are known here.
  package let hash: ContentHash
  let folders = FolderMemory()
  let piece = FilePiece()

  package init(_ hash: ContentHash) { self.hash = hash }

  subscript(stamp: FileStamp) -> PlanKey? {
    get {
      let known = contents[Name(device: stamp.device, inode: stamp.inode)]
      return known?.stamp == stamp ? known?.content : nil
    }
    set {
      contents[Name(device: stamp.device, inode: stamp.inode)] = newValue.map { (stamp, $0) }
    }
  }
}

extension FileStamp {
  init(_ status: FileStatus) {
    self.init(
      device: status.identity.device, inode: status.identity.inode,
      sizeBytes: status.sizeBytes, modified: status.modifiedNanoseconds,
      changed: status.changedNanoseconds)
  }
}

extension SeenFile.Kind {
  init(_ status: FileStatus) {
    switch status.kind {
    case .file: self = status.mode & 0o111 == 0 ? .file : .executable
    case .directory: self = .folder
    case .link: self = .link
    case .device, .fifo, .socket, .other: self = .other
    }
  }
}
