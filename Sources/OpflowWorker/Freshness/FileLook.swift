internal import OpflowBase
internal import OpflowPlan
internal import OpflowSystem

/// A message for the user.
package struct LookFault: Error, Equatable {
  package let what: String
  /// The missing input.
  private(set) var path: String?
  /// The records cannot be written; the task's own files are fine.
  private(set) var isOfRecords = false

  init(what: String) { self.what = what }

  init(unwritten path: String, _ error: Errno, what: String) {
    self.what = "\(what) cannot be written to \(path): \(error)"
    isOfRecords = true
  }

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

/// Scans files in small steps: their kinds and content hashes, reusing hashes of unchanged files.
package final class FileLook {
  enum Links {
    /// As their texts, and whether their targets exist.
    case themselves
    /// As texts and targets. Links on the way to `project`, the manifest's folder, do not count.
    case followed(project: String, LeftOut)
  }

  private let folder: String
  private let memory: SeenFiles
  /// In `memory`: the first that may match the next path.
  private var remembered = 0
  private let places: FilePlaces
  private let follows: Bool
  private var next = 0
  private var hashing: FileHashing?
  /// Tasks may read the same file, so the scans of a process share this.
  private let hashes: FileMemory

  /// So many leading entries of `memory` equal the result so far.
  private var unchanged = 0
  /// The result, once it differs from `memory`.
  private var own: SeenStates?
  /// Paths that disappeared during the scan.
  private var gone: Set<Int32> = []

  /// Named paths; `unmatched` are patterns without matches.
  package private(set) var missing: [String]
  package var unmatched: [String] { places.unmatched }
  /// Links that a pattern does not enter, and the pattern that would.
  var unentered: [(pattern: String, link: String, instead: String)] { places.unentered }
  /// Files of `memory` that were replaced or rewritten, even with the same content.
  package private(set) var replaced: [[UInt8]] = []
  /// Files were read whose hashes are worth recording.
  package private(set) var hasRead = false

  package enum Item: Hashable {
    case path(String)
    case glob(String)

    /// Contains all files of the item.
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

  /// `folder` is the base of relative paths, `memory` the last scan, sorted by path. `written`:
  /// when a file counts whose name is the pattern's text.
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

  /// Sorted by path, once the scan is complete.
  package var files: SeenFiles {
    guard let own else {
      return unchanged == memory.count ? memory : SeenFiles(unchanged, of: memory)
    }
    let paths = places.paths
    if gone.isEmpty { return SeenFiles(paths, own) }
    return SeenFiles(paths.picked((0..<Int32(paths.count)).filter { !gone.contains($0) }), own)
  }

  /// On the way to the files, sorted by path.
  var links: SeenFiles { places.links }

  /// Their stamps show whether a link is replaced.
  var stampedLinks: SeenFiles { places.stampedLinks }

  /// Links that were replaced and have the same text. `earlier` are the same links, with their
  /// stamps.
  func replacedLinks(since earlier: SeenFiles) -> [[UInt8]] {
    if earlier.isEmpty { return [] }
    let now = stampedLinks
    return zip(earlier.indices, now.indices).compactMap { old, new in
      let isReplaced = now.stamp(new).map { earlier.isReplaced(old, by: $0) } ?? false
      return isReplaced ? earlier.path(old) : nil
    }
  }

  func text(ofLink path: [UInt8]) -> [UInt8]? { places.text(ofLink: path) }

  /// Of link targets, where changes may matter too.
  var targetFolders: Set<[UInt8]> { places.targetFolders }

  private func absolute(_ place: Int) -> [UInt8] {
    DeclaringTask.absolute(places.paths[place], in: folder)
  }

  /// Returns whether the scan is complete.
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
      // Reading the clock takes a good part of the time of checking a file.
    } while hashing?.isShort ?? true && count % 32 != 0 || Clock.monotonicNanoseconds < deadline
    return hashing == nil && next == places.paths.count
  }

  private func look(at place: Int) throws(LookFault) {
    do throws(Errno) {
      let status = try status(of: place)
      let (stamp, kind) = (status.stamp, status.kind)
      let none = PlanKey(high: 0, low: 0)
      // There is no stamp to compare.
      if follows, kind == .absent { return add(kind, none, nil) }
      // On a network file system another machine may write the file, and the times cached here may
      // be old: always read it.
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
      // Its entries represent its content.
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
    // It disappeared after it was found.
    missing.append(path)
    gone.insert(Int32(next))
    next += 1
  }

  /// Both are sorted.
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
