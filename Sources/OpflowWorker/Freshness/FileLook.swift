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
  private let folder: String
  private let memory: [SeenFile]
  private var remembered = 0
  private var paths: [[UInt8]] = []
  private var next = 0
  private var hashing: FileHashing?
  /// Shared between looks of one process: two tasks may read one file.
  private let hashes: HashMemory

  /// What was seen, sorted by the paths.
  package private(set) var files: [SeenFile] = []
  /// Paths that were named and are not there, and patterns that nothing fits.
  package private(set) var missing: [String] = []
  package private(set) var unmatched: [String] = []
  /// Whether anything had to be read.
  package private(set) var hasRead = false

  /// A path or a pattern.
  package enum Item: Hashable {
    case path(String)
    case glob(String)
  }

  /// - Parameters:
  ///   - folder: where relative paths start.
  ///   - leavesOut: whether a path does not count, as it is written here.
  ///   - memory: what was seen before, sorted by the paths.
  package init(
    _ items: [Item], in folder: String, memory: [SeenFile], hashes: HashMemory,
    leavesOut: (String) -> Bool
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
    paths.sort { $0.lexicographicallyPrecedes($1) }
    var last: [UInt8]?
    paths.removeAll { path in
      defer { last = path }
      return last == path
    }
  }

  private func find(_ pattern: String, _ leavesOut: (String) -> Bool) throws(LookFault) {
    switch FileNames.fitting(pattern, in: folder) {
    case .failure(let fault): throw LookFault(what: "`\(pattern)`: \(fault.text)")
    case .success(let names):
      let counting = names.filter { !leavesOut($0) }
      if counting.isEmpty { unmatched.append(pattern) }
      for name in counting { try add(name, leavesOut) }
    }
  }

  /// A folder is all that is in it.
  private func add(_ path: String, _ leavesOut: (String) -> Bool) throws(LookFault) {
    var open = [path]
    while let path = open.popLast() {
      if leavesOut(path) { continue }
      var isReadable = true
      do throws(Errno) {
        let status = try Path.linkStatus(absolute(path))
        paths.append(Array(path.utf8))
        guard status.kind == .directory else { continue }
        let inside = path.hasSuffix("/") ? path : path + "/"
        try FolderEntries.forEach(in: absolute(path)) { name, _ in
          let text = String(decoding: name, as: UTF8.self)
          isReadable = text.utf8.elementsEqual(name)
          open.append(inside + text)
          return isReadable
        }
      } catch {
        guard error == .noSuchFile || error == .notADirectory else {
          throw LookFault(what: "cannot look at `\(path)`: \(error)")
        }
        missing.append(path)
      }
      if !isReadable { throw LookFault(what: "a name in `\(path)` is not UTF-8") }
    }
  }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : folder + "/" + path
  }

  /// Goes on until then.
  ///
  /// - Returns: whether all was seen.
  package func goOn(until deadline: Int64) throws(LookFault) -> Bool {
    repeat {
      if let hashing {
        try finish(hashing)
      } else if next < paths.count {
        try look(at: paths[next])
      } else {
        return true
      }
    } while Clock.monotonicNanoseconds < deadline
    return hashing == nil && next == paths.count
  }

  private func look(at path: [UInt8]) throws(LookFault) {
    let text = String(decoding: path, as: UTF8.self)
    do throws(Errno) {
      let status = try Path.linkStatus(absolute(text))
      let stamp = FileStamp(status)
      if let known = memory(of: path), known.stamp == stamp, known.kind == SeenFile.Kind(status) {
        files.append(known)
        next += 1
        return
      }
      let now = Clock.wallMilliseconds * 1_000_000
      let kind = SeenFile.Kind(status)
      var seen = SeenFile(
        path: path, kind: kind, content: PlanKey(high: 0, low: 0),
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
          hashing = try FileHashing(absolute(text), expected: stamp, into: seen, hashes.hash)
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
      try fault(error, String(decoding: paths[next], as: UTF8.self))
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
  private func memory(of path: [UInt8]) -> SeenFile? {
    while remembered < memory.count {
      if memory[remembered].path == path { return memory[remembered] }
      guard memory[remembered].path.lexicographicallyPrecedes(path) else { return nil }
      remembered += 1
    }
    return nil
  }
}

/// Contents of files that this process has read, by what they are known again by.
package final class HashMemory {
  private struct Name: Hashable { let device, inode: UInt64 }

  private var contents: [Name: (stamp: FileStamp, content: PlanKey)] = [:]

  /// By which contents are known here.
  package let hash: ContentHash

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
