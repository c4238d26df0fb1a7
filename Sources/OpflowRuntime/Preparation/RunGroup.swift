package import OpflowCore
internal import OpflowSystem

/// Runs of which one is to be live at a time, for those that want it so (`concurrency`): all that name
/// the group, or those of one manifest.
///
/// A run is live while its lock is held, so nothing has to be taken by runs that wait for none, and a
/// killed one lets the next one in. Those that wait come one after the other: the first holds the gate,
/// which is a lock in the state folder, until its own run is live.
package struct RunGroup: Sendable {
  private let state: StateFolder
  /// Of the manifest; nil for a group of its own name.
  private let manifest: String?
  private let name: String
  package let ifRunning: IfRunning

  /// - Parameters:
  ///   - manifest: its real path.
  ///   - asked: of the command line.
  package init(
    _ concurrency: RunConcurrency, manifest: String, in state: StateFolder, asked: IfRunning?
  ) {
    self.state = state
    self.manifest = concurrency.name.isEmpty ? manifest : nil
    name = concurrency.name
    ifRunning = asked ?? concurrency.ifRunning
  }

  /// That of a run as its plan has it; nil where that cannot be read.
  package init?(of run: RunFolder, asked: IfRunning?) {
    guard let open = try? run.readOpen(), let plan = try? run.mapPlan() else { return nil }
    let state = StateFolder(holding: run)
    self.init(
      plan.concurrency, manifest: open.manifest(seenFrom: state.path), in: state, asked: asked)
  }

  /// As messages call it.
  package var title: String { manifest == nil ? "of `\(name)`" : "of the same manifest" }

  /// Whether a name of its own makes runs of other manifests members.
  package var isNamed: Bool { manifest == nil }

  /// A live run of the group.
  package struct Member: Sendable, Equatable {
    package let folder: RunFolder
    /// Nil where it could not be read.
    package let holder: LockHolder?
    /// It runs this very process, in a task.
    package let isAround: Bool
  }

  /// The newest live run of the group but `own`; nil for none.
  package func live(but own: RunID? = nil) throws(RunFolderError) -> Member? {
    try members(but: own).first
  }

  /// Newest first.
  private func members(but own: RunID?) throws(RunFolderError) -> [Member] {
    var members: [Member] = []
    for id in try state.runs() where id != own {
      let folder = state.folder(of: id)
      guard try RunFolderLock.isHeld(folder), has(folder) else { continue }
      // Not one that is just being removed.
      do throws(RunFolderError) {
        try RunFolderLock.expectFree(folder)
      } catch .held(_, let holder) {
        members.append(
          Member(folder: folder, holder: holder, isAround: Self.isAround(id, holder?.localPID)))
      }
    }
    return members
  }

  private func has(_ run: RunFolder) -> Bool {
    if let manifest {
      return (try? run.readOpen())?.isRun(ofManifest: manifest, stateFolder: state.path) ?? false
    }
    return (try? run.mapPlan())?.concurrency.name == name
  }

  private static func isAround(_ run: RunID, _ pid: Int32?) -> Bool {
    if RunsAround.innermost == run { return true }
    guard let pid else { return false }
    var current = ProcessID.own
    while current > 1, let status = ProcessStatus.read(current) {
      if status.parent == pid { return true }
      current = status.parent
    }
    return false
  }

  // MARK: Entering

  /// What somebody waits for.
  package enum Obstacle: Sendable, Equatable {
    case run(Member)
    /// Another one that waits, named where that is known.
    case queue(LockHolder?)
  }

  /// Waits until no run of the group is live but `own`, and comes in.
  ///
  /// - Parameter waiting: called before each wait.
  /// - Throws: `aroundItself` where that would take for ever, since the run that is live waits for this
  ///   process; `live` where it is not to wait.
  package func enter(
    but own: RunID? = nil, _ waiting: (Obstacle) -> Void
  ) throws(RunFolderError) -> RunGroupGate {
    if ifRunning == .allow { return RunGroupGate(lock: nil) }
    // Before the gate, which somebody may hold who waits for that very run.
    try expectNobody(but: own)
    let path = try gatePath()
    let gate: RunGroupGate
    if ifRunning == .fail {
      guard let free = try StateFolderLock.takeIfFree(path) else {
        throw try first(at: path, but: own)
      }
      gate = RunGroupGate(lock: free)
    } else {
      gate = RunGroupGate(lock: try StateFolderLock.take(path) { waiting(.queue($0)) })
    }
    while let member = try expectNobody(but: own) {
      waiting(.run(member))
      try RunFolderLock.waitUntilFree(member.folder)
    }
    return gate
  }

  /// The newest one that may be waited for.
  @discardableResult
  private func expectNobody(but own: RunID?) throws(RunFolderError) -> Member? {
    let members = try members(but: own)
    if let around = members.first(where: \.isAround), ifRunning == .wait {
      throw .aroundItself(run: around.folder.id.description, group: title)
    }
    if let first = members.first, ifRunning == .fail {
      throw .live(run: first.folder.id.description, group: title, by: first.holder)
    }
    return members.first
  }

  /// Another one came to the gate first: the run that it begins, once that is there to be named, and else
  /// itself.
  private func first(
    at path: String, but own: RunID?
  ) throws(RunFolderError) -> RunFolderError {
    var holder = LockHolder.read(path)
    let deadline = Clock.monotonicNanoseconds + Self.patienceNanoseconds
    while Clock.monotonicNanoseconds < deadline {
      let began = Clock.monotonicNanoseconds
      try expectNobody(but: own)
      guard let current = LockHolder.read(path) else { break }
      holder = current
      try doing("wait for", path) { () throws(Errno) in
        // Where there are many runs a look takes its time.
        try PollSet.pause(nanoseconds: 1_000_000 + Clock.monotonicNanoseconds - began)
      }
    }
    return .beginning(group: title, by: holder)
  }

  private static let patienceNanoseconds: Int64 = 500_000_000

  /// The file of the gate, in its folder, which is made.
  private func gatePath() throws(RunFolderError) -> String {
    let folder = state.locksFolder
    try doing("make", folder) { () throws(Errno) in
      _ = try Path.makeDirectories(folder, mode: 0o700)
    }
    // The two kinds have an ending each, so that no name means another's.
    let file =
      if let manifest {
        LogName.stem(of: KeptFiles.relative(manifest, to: Path.parent(of: state.path)).utf8)
          + Self.manifestEnding
      } else {
        LogName.stem(of: name.utf8) + Self.nameEnding
      }
    return "\(folder)/\(file)"
  }

  private static let manifestEnding = ".manifest"
  private static let nameEnding = ".group"

  /// Whether that is the name of a gate's file.
  static func isGate(_ name: String) -> Bool {
    name.hasSuffix(manifestEnding) || name.hasSuffix(nameEnding)
  }
}

extension StateFolder {
  var locksFolder: String { path + "/locks" }

  /// Removes the gates that nobody is at: each is made again by who needs it.
  package func removeFreeGates() {
    guard let names = try? Path.names(in: locksFolder) else { return }
    for name in names where RunGroup.isGate(name) {
      // One that cannot be removed is in nobody's way.
      try? StateFolderLock.removeUnheld("\(locksFolder)/\(name)")
    }
  }
}

/// Held from when a group is found without a live run until the run that comes in is live itself.
package struct RunGroupGate: ~Copyable {
  /// Nil for who comes in whatever is live.
  private let lock: StateFolderLock?

  init(lock: consuming StateFolderLock?) { self.lock = lock }
}
