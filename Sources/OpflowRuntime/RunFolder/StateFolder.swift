package import OpflowCore
internal import OpflowSystem

/// The folder that runs are kept in, `.opflow` by default. Nobody but its owner can look into it.
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

  /// The one that a run is in.
  package init(holding run: RunFolder) {
    self.init(path: Path.parent(of: Path.parent(of: run.path)))
  }

  /// Where the runs of a manifest are kept: in its folder.
  package static func beside(manifest path: String) -> StateFolder {
    within(Path.parent(of: path), .foundBeside(manifest: path))
  }

  /// The state folder of `folder` or of the nearest one above it that has one; `folder` is absolute.
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

  /// Checks that nobody else may have written what is in it, where it was not named.
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

  /// All runs, newest first; none where the folder is not there.
  package func runs() throws(RunFolderError) -> [RunID] { try runsAndLeft().runs }

  /// Besides, the names of those that somebody began to remove.
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

  /// Whether a process drives another run than that; of very many runs it is not found out, and said that
  /// one may.
  package func mayHaveLive(but own: RunID) -> Bool {
    guard let runs = try? runs(), runs.count <= Self.mostLookedAt else { return true }
    return runs.contains { $0 != own && (try? RunFolderLock.isHeld(folder(of: $0))) ?? true }
  }

  /// Takes some milliseconds.
  private static let mostLookedAt = 500

  /// Keeps what is in the folder out of git (gitignore(5)). Done once: whoever changes or removes the
  /// file wants it so.
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

  /// Makes the folders of a new run, and those above that are missing, for nobody but their owner.
  package func makeRun(
    nowMilliseconds: Int64, random: UInt16
  ) throws(RunFolderError) -> RunFolder {
    var made = try doing("make", runsFolder) { () throws(Errno) in
      try Path.makeDirectories(runsFolder, mode: 0o700)
    }
    // In a folder such as `/tmp` somebody else may have been faster.
    try expectTrusted()
    // The folder itself may have been made before, for a lock in it.
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
      // Another process was faster.
      newest = id
    }
  }
}
