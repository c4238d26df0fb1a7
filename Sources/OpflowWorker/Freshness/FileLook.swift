package import OpflowCore
internal import OpflowSystem

/// Something cannot be looked at; for people.
package struct LookFault: Error, Equatable {
  package let what: String
  /// Of an input that is missing.
  private(set) var path: String?
  /// It is a file of the records that cannot be written, and nothing of the task's own.
  private(set) var isOfRecords = false

  init(what: String) { self.what = what }

  /// What was to be written there cannot be.
  init(unwritten path: String, _ error: Errno, what: String) {
    self.what = "\(what) cannot be written to \(path): \(error)"
    isOfRecords = true
  }

  /// Reads records.
  static func reading<Result>(
    _ body: () throws(Errno) -> Result
  ) throws(LookFault) -> Result {
    do throws(Errno) {
      return try body()
    } catch {
      throw LookFault(what: "the state folder's records cannot be read: \(error)")
    }
  }

  init(missing path: String) {
    self.path = path
    what = "the input `\(path)` is missing"
  }
}

/// Looks at files, a little at a time: what they are, and what is in them, by memory where that holds.
package final class FileLook {
  private let folder: String
  private let memory: SeenFiles
  /// The first of the memory that what comes may be.
  private var remembered = 0
  private var places = ByteStrings()
  /// What had to be asked for to find a place, by a number for each; empty where nothing had to be.
  private var statusOf: [Int32] = []
  private var statuses: [(stamp: FileStamp, kind: SeenFile.Kind)] = []
  private var next = 0
  private var hashing: FileHashing?
  /// Shared between looks of one process: two tasks may read one file.
  private let hashes: FileMemory

  /// As many of the memory, from its first one on, are as they were, and are all that was seen so far.
  private var unchanged = 0
  /// What was seen once that is not so any more.
  private var own: SeenStates?
  /// Places that went meanwhile.
  private var gone: Set<Int32> = []

  /// Paths that were named and are not there, and patterns that nothing fits.
  package private(set) var missing: [String] = []
  package private(set) var unmatched: [String] = []
  /// Of the memory what was replaced or written since, whatever it holds now.
  package private(set) var replaced: [[UInt8]] = []
  /// Whether anything had to be read that need not be the next time.
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
    _ items: [Item], in folder: String, memory: SeenFiles, hashes: FileMemory,
    leavesOut: (UnsafeRawBufferPointer) -> Bool
  ) throws(LookFault) {
    self.folder = folder
    self.memory = memory
    self.hashes = hashes
    for item in items {
      switch item {
      case .glob(let pattern): try find(pattern, leavesOut)
      case .path(let path): try add(path, leavesOut)
      }
    }
    guard let order = places.ordered() else { return }
    places = places.picked(order)
    if !statusOf.isEmpty { statusOf = order.map { status(of: Int($0)) } }
  }

  /// What was seen, sorted by the paths; once all was.
  package var files: SeenFiles {
    guard let own else {
      return unchanged == memory.count ? memory : SeenFiles(unchanged, of: memory)
    }
    if gone.isEmpty { return SeenFiles(places, own) }
    return SeenFiles(
      places.picked((0..<Int32(places.count)).filter { !gone.contains($0) }), own)
  }

  private func find(
    _ pattern: String, _ leavesOut: (UnsafeRawBufferPointer) -> Bool
  ) throws(LookFault) {
    let names: ByteStrings
    switch FileNames.all(fitting: pattern, in: folder, folders: hashes.folders) {
    case .failure(let fault): throw LookFault(what: "`\(pattern)`: \(fault.text)")
    case .success(let found): names = found
    }
    let before = places.count
    let fitsFolders = pattern.utf8.last == UInt8(ascii: "/")
    // Mostly all of them count, and are all that there is.
    let first = (0..<names.count).first { names.with($0, leavesOut) } ?? names.count
    var isMatched = first > 0
    if !fitsFolders, before == 0, first == names.count {
      places = names
    } else {
      for place in 0..<names.count where place < first || !names.with(place, leavesOut) {
        isMatched = true
        if fitsFolders {
          try add(names.text(place), leavesOut)
        } else {
          names.with(place) { places.append($0) }
        }
      }
    }
    if !isMatched { unmatched.append(pattern) }
  }

  /// A folder is all that is in it.
  private func add(
    _ path: String, _ leavesOut: (UnsafeRawBufferPointer) -> Bool
  ) throws(LookFault) {
    // Mostly it is none.
    guard try addItself(path, leavesOut) else { return }
    var open = try entries(of: path)
    while let (path, kind) = open.popLast() {
      if kind == .file {
        var text = path
        text.withUTF8 { bytes in
          let bytes = UnsafeRawBufferPointer(bytes)
          if !leavesOut(bytes) { places.append(bytes) }
        }
      } else if try addItself(path, leavesOut) {
        open += try entries(of: path)
      }
    }
  }

  /// - Returns: whether it is a folder, which counts.
  private func addItself(
    _ path: String, _ leavesOut: (UnsafeRawBufferPointer) -> Bool
  ) throws(LookFault) -> Bool {
    var text = path
    let found: Result<FileStatus, Errno>? = text.withUTF8 { bytes in
      let bytes = UnsafeRawBufferPointer(bytes)
      return leavesOut(bytes) ? nil : hashes.linkStatus(bytes, from: folder)
    }
    switch found {
    case nil: return false
    case .failure(let error):
      try note(error, at: path)
      return false
    case .success(let status):
      note(SeenFile.Kind(status), FileStamp(status), of: places.count)
      places.append(path)
      return status.kind == .directory
    }
  }

  /// What is in a folder, the first last.
  private func entries(
    of path: String
  ) throws(LookFault) -> [(path: String, kind: FolderEntries.Kind)] {
    var entries: [(path: String, kind: FolderEntries.Kind)] = []
    do throws(Errno) {
      let inside = path.utf8.last == UInt8(ascii: "/") ? path : path + "/"
      let listing = try hashes.folders.listing(of: absolute(path), most: Self.mostEntries)
      for place in (0..<listing.count).reversed() {
        if !listing.names.isUTF8(place) { throw .notUTF8 }
        entries.append((inside + listing.names.text(place), listing.kind(place)))
      }
    } catch {
      try note(error, at: path)
    }
    return entries
  }

  private func note(_ error: Errno, at path: String) throws(LookFault) {
    switch error {
    case .noSuchFile, .notADirectory: missing.append(path)
    case .notUTF8: throw LookFault(what: "a name in `\(path)` is not UTF-8")
    default: throw LookFault(what: "cannot look at `\(path)`: \(error)")
    }
  }

  /// Of one folder.
  private static let mostEntries = 4_000_000

  private func note(_ kind: SeenFile.Kind, _ stamp: FileStamp, of place: Int) {
    while statusOf.count < place { statusOf.append(-1) }
    statusOf.append(Int32(statuses.count))
    statuses.append((stamp, kind))
  }

  private func status(of place: Int) -> Int32 { place < statusOf.count ? statusOf[place] : -1 }

  private func absolute(_ path: String) -> String {
    path.utf8.first == UInt8(ascii: "/") ? path : folder + "/" + path
  }

  /// Goes on until then.
  ///
  /// - Returns: whether all was seen.
  package func goOn(until deadline: Int64) throws(LookFault) -> Bool {
    var count = 0
    repeat {
      if let hashing {
        try finish(hashing)
      } else if next < places.count {
        try look(at: next)
      } else {
        return true
      }
      count += 1
      // To look at the clock takes a good part of a look at a file.
    } while hashing?.isShort ?? true && count % 32 != 0 || Clock.monotonicNanoseconds < deadline
    return hashing == nil && next == places.count
  }

  private func look(at place: Int) throws(LookFault) {
    do throws(Errno) {
      let (stamp, kind) = try stampAndKind(of: place)
      // Another machine may write it, and what is known here of its times be old: it is read, whatever is remembered.
      let isOnNetwork = hashes.network.have(device: stamp.device) { absolute(places.text(place)) }
      let known = places.with(place) { remembered(of: $0) }
      if let known {
        // A file has another device and number on each machine.
        if !isOnNetwork, memory.isReplaced(known, by: stamp) { replaced.append(memory.path(known)) }
        if !isOnNetwork, memory.stamp(known) == stamp, memory.kind(known) == kind {
          return keep(known)
        }
      }
      let now = Clock.wallMilliseconds * 1_000_000
      let none = PlanKey(high: 0, low: 0)
      let trusted = !isOnNetwork && stamp.isTelling(atNanoseconds: now) ? stamp : nil
      switch kind {
      // Its entries tell what is in it.
      case .folder, .other: add(kind, none, nil)
      case .link:
        let target = try Path.linkBytes(absolute(places.text(place)))
        add(kind, hashes.hash.of(target), trusted)
      case .file, .executable:
        if !isOnNetwork, let content = hashes[stamp] {
          add(kind, content, trusted)
        } else {
          hasRead = hasRead || !isOnNetwork
          let seen = SeenFile(path: [], kind: kind, content: none, stamp: trusted)
          hashing = try places.with(place) {
            hashes.reading(
              $0, from: folder, expected: isOnNetwork ? nil : stamp, into: seen)
          }.get()
        }
      }
    } catch {
      try fault(error)
    }
  }

  private func stampAndKind(of place: Int) throws(Errno) -> (FileStamp, SeenFile.Kind) {
    let number = status(of: place)
    if number >= 0 { return (statuses[Int(number)].stamp, statuses[Int(number)].kind) }
    let status = try places.with(place) { hashes.linkStatus($0, from: folder) }.get()
    return (FileStamp(status), SeenFile.Kind(status))
  }

  private func finish(_ hashing: FileHashing) throws(LookFault) {
    do throws(Errno) {
      guard let seen = try hashing.goOn() else { return }
      if let stamp = seen.stamp { hashes[stamp] = seen.content }
      self.hashing = nil
      add(seen.kind, seen.content, seen.stamp)
    } catch {
      self.hashing = nil
      try fault(error)
    }
  }

  /// What comes next is as the memory has it.
  private func keep(_ known: Int) {
    if own == nil, known == unchanged {
      unchanged += 1
      next += 1
    } else {
      add(memory.kind(known), memory.content(known), memory.stamp(known))
    }
  }

  private func add(_ kind: SeenFile.Kind, _ content: PlanKey, _ stamp: FileStamp?) {
    if own == nil {
      own = SeenStates(unchanged, of: memory)
      own?.reserve(places.count)
    }
    own?.append(kind, content, stamp)
    next += 1
  }

  private func fault(_ error: Errno) throws(LookFault) {
    let path = places.text(next)
    guard error == .noSuchFile || error == .notADirectory else {
      throw LookFault(what: "cannot read `\(path)`: \(error)")
    }
    // It was there when it was looked for.
    missing.append(path)
    gone.insert(Int32(next))
    next += 1
  }

  /// The place of a path in the memory. Both are sorted.
  private func remembered(of path: UnsafeRawBufferPointer) -> Int? {
    while remembered < memory.count {
      switch memory.withPath(remembered, { ByteOrder($0, path) }) {
      case .same: return remembered
      case .behind: return nil
      case .before: remembered += 1
      }
    }
    return nil
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
