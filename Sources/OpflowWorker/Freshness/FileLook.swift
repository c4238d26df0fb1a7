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

  init(missing path: String, of declaring: DeclaringTask) {
    self.path = path
    what = "the input `\(path)` is missing\(declaring.nameNote(path))"
  }
}

/// Looks at files, a little at a time: what they are, and what is in them, by memory where that holds.
package final class FileLook {
  /// How links count.
  enum Links {
    /// As their texts, and by whether they lead to something.
    case themselves
    /// As their texts and as what they lead to.
    ///
    /// `project` is the manifest's folder: how that is reached does not count.
    case followed(project: String, LeftOut)
  }

  private let folder: String
  private let memory: SeenFiles
  /// The first of the memory that what comes may be.
  private var remembered = 0
  private let places: FilePlaces
  private let follows: Bool
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
  package private(set) var missing: [String]
  package var unmatched: [String] { places.unmatched }
  /// Links that a pattern does not enter, and the pattern that would.
  var unentered: [(pattern: String, link: String, instead: String)] { places.unentered }
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
        let names = parts.prefix { !Array($0.utf8).withUnsafeBytes { PathPattern.isPattern($0) } }
        let isOfRoot = names.count == 1 && names.first == ""
        let folder = Array(names.joined(separator: "/").utf8).withUnsafeBytes {
          String(decoding: PathPattern.name(of: $0), as: UTF8.self)
        }
        return isOfRoot ? "/" : folder.isEmpty ? "." : folder
      }
    }
  }

  /// - Parameters:
  ///   - folder: where relative paths start.
  ///   - memory: what was seen before, sorted by the paths.
  ///   - written: when the file counts that is called exactly as a pattern is written.
  init(
    _ items: [Item], in folder: String, memory: SeenFiles, hashes: FileMemory, links: Links,
    written: FileNames.WrittenName = .beside
  ) throws(LookFault) {
    self.folder = folder
    self.memory = memory
    self.hashes = hashes
    places = try FilePlaces(items, in: folder, hashes, links, written)
    missing = places.missing
    follows = if case .followed = links { true } else { false }
  }

  /// What was seen, sorted by the paths; once all was.
  package var files: SeenFiles {
    guard let own else {
      return unchanged == memory.count ? memory : SeenFiles(unchanged, of: memory)
    }
    let paths = places.paths
    if gone.isEmpty { return SeenFiles(paths, own) }
    return SeenFiles(paths.picked((0..<Int32(paths.count)).filter { !gone.contains($0) }), own)
  }

  /// The links on the way to the files, sorted by their paths.
  var links: SeenFiles { places.links }

  /// The text of one of them.
  func text(ofLink path: [UInt8]) -> [UInt8]? { places.text(ofLink: path) }

  /// Folders, besides those of the paths, in which something may change.
  var targetFolders: Set<[UInt8]> { places.targetFolders }

  private func absolute(_ place: Int) -> [UInt8] {
    DeclaringTask.absolute(places.paths[place], in: folder)
  }

  /// Goes on until then.
  ///
  /// - Returns: whether all was seen.
  package func goOn(until deadline: Int64) throws(LookFault) -> Bool {
    var count = 0
    repeat {
      if let hashing {
        try finish(hashing)
      } else if next < places.paths.count {
        try look(at: next)
      } else {
        return true
      }
      count += 1
      // To look at the clock takes a good part of a look at a file.
    } while hashing?.isShort ?? true && count % 32 != 0 || Clock.monotonicNanoseconds < deadline
    return hashing == nil && next == places.paths.count
  }

  private func look(at place: Int) throws(LookFault) {
    do throws(Errno) {
      let status = try status(of: place)
      let (stamp, kind) = (status.stamp, status.kind)
      let none = PlanKey(high: 0, low: 0)
      // Nothing is there to be known again.
      if follows, kind == .absent { return add(kind, none, nil) }
      // Another machine may write it, and what is known here of its times be old: it is read, whatever is remembered.
      let isOnNetwork = hashes.network.have(device: stamp.device) {
        DeclaringTask.readable(absolute(place))
      }
      let known = places.paths.with(place) { remembered(of: $0) }
      if let known {
        // A file has another device and number on each machine.
        if !isOnNetwork, memory.isReplaced(known, by: stamp) { replaced.append(memory.path(known)) }
        if !isOnNetwork, memory.stamp(known) == stamp, memory.kind(known) == kind {
          return keep(known)
        }
      }
      let now = Clock.wallMilliseconds * 1_000_000
      let trusted = !isOnNetwork && stamp.isTelling(atNanoseconds: now) ? stamp : nil
      switch kind {
      // Its entries tell what is in it.
      case .folder, .other: add(kind, none, nil)
      case .link, .absent:
        let target = try Path.linkBytes(ofBytes: absolute(place) + [0])
        add(kind, hashes.hash.of(target), trusted)
      case .file, .executable:
        if !isOnNetwork, let content = hashes[stamp] {
          add(kind, content, trusted)
        } else {
          let seen = SeenFile(path: [], kind: kind, content: none, stamp: trusted)
          hashing = try places.paths.with(place) {
            hashes.reading(
              $0, from: folder, isTarget: status.isOfTarget,
              expected: isOnNetwork ? nil : stamp, into: seen)
          }.get()
        }
      }
    } catch {
      try fault(error)
    }
  }

  private func status(of place: Int) throws(Errno) -> FilePlaces.Status {
    let found: FilePlaces.Status
    if let known = places.status(of: place) {
      found = known
    } else {
      let status = try places.paths.with(place) { hashes.linkStatus($0, from: folder) }.get()
      found = FilePlaces.Status(
        stamp: FileStamp(status), kind: SeenFile.Kind(status), isOfTarget: false)
    }
    guard found.kind == .link, !follows, (try? Path.status(ofBytes: absolute(place) + [0])) == nil
    else { return found }
    return FilePlaces.Status(stamp: found.stamp, kind: .absent, isOfTarget: false)
  }

  private func finish(_ hashing: FileHashing) throws(LookFault) {
    do throws(Errno) {
      guard let seen = try hashing.goOn() else { return }
      if let stamp = seen.stamp {
        hashes[stamp] = seen.content
        hasRead = true
      }
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
      own?.reserve(places.paths.count)
    }
    own?.append(kind, content, stamp)
    next += 1
  }

  private func fault(_ error: Errno) throws(LookFault) {
    let path = places.paths.text(next)
    guard error == .noSuchFile || error == .notADirectory else {
      let target =
        places.isLinked(places.paths[next])
        ? (try? Path.real(DeclaringTask.readable(absolute(next)))).map {
          ", which leads to `\($0)`"
        } : nil
      throw LookFault(what: "cannot read `\(path)`\(target ?? ""): \(error)")
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
