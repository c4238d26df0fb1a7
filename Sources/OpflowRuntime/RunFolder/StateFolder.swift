package import OpflowPlan
internal import OpflowSystem

/// The folder with the runs; only its owner has access.
package struct StateFolder: Equatable, Sendable {
  package static let name = ".opflow"

  /// Absolute.
  package let path: String
  private let origin: Origin

  private enum Origin: Equatable {
    case named
    case found
    case foundBeside(manifest: String)
  }

  package init(path: String) { self.init(path: path, .named) }

  private init(path: String, _ origin: Origin) {
    self.path = path
    self.origin = origin
  }

  package init(holding run: RunFolder) {
    self.init(path: Path.parent(of: Path.parent(of: run.path)))
  }

  /// In the manifest's folder.
  package static func beside(manifest path: String) -> StateFolder {
    within(Path.parent(of: path), .foundBeside(manifest: path))
  }

  /// In `folder`, an absolute path, or in the nearest folder above it.
  package static func nearest(to folder: String) -> StateFolder? {
    var folder = folder
    while true {
      let candidate = within(folder, .found)
      if Path.isDirectory(candidate.path) { return candidate }
      let parent = Path.parent(of: folder)
      if parent == folder { return nil }
      folder = parent
    }
  }

  private static func within(_ folder: String, _ origin: Origin) -> StateFolder {
    StateFolder(path: folder == "/" ? "/\(name)" : "\(folder)/\(name)", origin)
  }

  /// No other user can have written a state folder that was not named.
  package func expectTrusted() throws(RunFolderError) {
    let writers: TrustedWriters
    switch origin {
    case .named: return
    case .found: writers = .own
    case .foundBeside(let manifest): writers = .own.including(writersOf: manifest)
    }
    for entry in [path, runsFolder] {
      if let foreign = writers.doubt(entry) { throw .foreign(foreign, state: path) }
    }
  }

  package var isThere: Bool { Path.isDirectory(path) }

  var runsFolder: String { path + "/runs" }

  package func folder(of id: RunID) -> RunFolder {
    RunFolder(id: id, path: "\(runsFolder)/\(id)")
  }

  /// Newest first; empty if the folder does not exist.
  package func runs() throws(RunFolderError) -> [RunID] { try runsAndLeft().runs }

  /// Also the names of partly removed runs.
  func runsAndLeft() throws(RunFolderError) -> (runs: [RunID], left: [String]) {
    var runs: [RunID] = []
    var left: [String] = []
    try doing("read", runsFolder) { () throws(Errno) in
      do throws(Errno) {
        try FolderEntries.forEach(in: runsFolder) { name, _ in
          if let run = RunID(bytes: name) {
            runs.append(run)
          } else if name.count > RunID.byteCount {
            let name = String(decoding: name, as: UTF8.self)
            if RunRemoval.isLeft(name) { left.append(name) }
          }
          return true
        }
      } catch .noSuchFile {
        return
      }
    }
    return (runs.sorted(by: >), left)
  }

  /// True without checking if there are very many runs.
  package func mayHaveLive(but own: RunID) -> Bool {
    guard let runs = try? runs(), runs.count <= Self.mostLookedAt else { return true }
    return runs.contains { $0 != own && (try? RunFolderLock.isHeld(folder(of: $0))) ?? true }
  }

  /// They take some milliseconds.
  private static let mostLookedAt = 500

  /// For git (gitignore(5)), once: a user may change or remove the file.
  private func ignoreRuns() throws(RunFolderError) {
    let file = path + "/.gitignore"
    try doing("write", file) { () throws(Errno) in
      do throws(Errno) {
        try File.open(file, [.writeOnly, .create, .exclusive]).writeAll(Array("*\n".utf8))
      } catch .exists {
        return
      }
    }
  }

  /// Also missing parents, accessible only to their owner.
  package func makeRun(
    nowMilliseconds: Int64, random: UInt16
  ) throws(RunFolderError) -> RunFolder {
    var made = try doing("make", runsFolder) { () throws(Errno) in
      try Path.makeDirectories(runsFolder, mode: 0o700)
    }
    // In a folder like `/tmp` another user may have created it first.
    try expectTrusted()
    // The state folder itself may exist already, for its lock.
    if !made.isEmpty { try ignoreRuns() }
    var newest = made.contains(runsFolder) ? nil : try runs().first
    while true {
      let id = RunID.next(after: newest, nowMilliseconds: nowMilliseconds, random: random)
      let run = folder(of: id)
      let isNew = try doing("make", run.path) { () throws(Errno) -> Bool in
        do throws(Errno) {
          try Path.makeDirectory(run.path, mode: 0o700)
          return true
        } catch .exists {
          return false
        }
      }
      if isNew {
        try run.makeLogs()
        made.append(run.path)
        return RunFolder(id: id, path: run.path, newFolders: made)
      }
      newest = id
    }
  }
}
