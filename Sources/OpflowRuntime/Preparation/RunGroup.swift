internal import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

/// A concurrency group (`concurrency`): runs with the group's name, or of one manifest, of which
/// only one may be live at a time.
///
/// A run is live while its lock is held, so runs that do not wait need no other lock, and a killed
/// run lets the next one in. Waiting runs take turns: the first holds the turn, a lock in the state
/// folder, until its own run is live.
package struct ConcurrencyGroup: Sendable {
  private let state: StateFolder
  /// The real path; nil for a named group.
  private let manifest: String?
  private let name: String
  package let ifRunning: IfRunning

  package init(
    _ concurrency: RunConcurrency, manifest: String, in state: StateFolder, asked: IfRunning?
  ) {
    self.state = state
    self.manifest = concurrency.name.isEmpty ? manifest : nil
    name = concurrency.name
    ifRunning = asked ?? concurrency.ifRunning
  }

  package init?(of run: RunFolder, asked: IfRunning?) {
    guard let open = try? run.readOpen(), let plan = try? run.mapPlan() else { return nil }
    let state = StateFolder(holding: run)
    self.init(
      plan.concurrency, manifest: open.manifest(seenFrom: state.path), in: state, asked: asked)
  }

  package var title: String { manifest == nil ? "of `\(name)`" : "of the same manifest" }

  package var isNamed: Bool { manifest == nil }

  package struct Member: Sendable, Equatable {
    package let folder: RunFolder
    /// nil if the holder could not be read.
    package let holder: LockHolder?
    /// One of the run's tasks contains this process.
    package let isAround: Bool
  }

  package func live(but own: RunID? = nil) throws(RunFolderError) -> Member? {
    try members(but: own).first
  }

  private func members(but own: RunID?) throws(RunFolderError) -> [Member] {
    var members: [Member] = []
    for id in try state.runs() where id != own {
      let folder = state.folder(of: id)
      guard try RunFolderLock.isHeld(folder), has(folder) else { continue }
      // Leaves out a run that is just being removed.
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

  package enum Obstacle: Sendable, Equatable {
    case run(Member)
    /// Another waiting run, with its process if known.
    case queue(LockHolder?)
  }

  /// Waits until no other run of the group is live; calls `waiting` before each wait. Throws
  /// `aroundItself` if the live run contains this process, `live` if the user did not ask to wait.
  package func enter(
    but own: RunID? = nil, _ waiting: (Obstacle) -> Void
  ) throws(RunFolderError) -> ConcurrencyGate {
    if ifRunning == .allow { return ConcurrencyGate(lock: nil) }
    // Before the turn, whose holder may wait for the run that contains this process.
    try expectNobody(but: own)
    let path = try gatePath()
    let gate: ConcurrencyGate
    if ifRunning == .fail {
      guard let free = try StateFolderLock.takeIfFree(path) else {
        throw try first(at: path, but: own)
      }
      gate = ConcurrencyGate(lock: free)
    } else {
      gate = ConcurrencyGate(lock: try StateFolderLock.take(path) { waiting(.queue($0)) })
    }
    while let member = try expectNobody(but: own) {
      waiting(.run(member))
      try RunFolderLock.waitUntilFree(member.folder)
    }
    return gate
  }

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

  /// Another process holds the turn: names its run once that has begun, or else the process.
  private func first(at path: String, but own: RunID?) throws(RunFolderError) -> RunFolderError {
    var holder = LockHolder.read(path)
    let deadline = Clock.monotonicNanoseconds + Self.patienceNanoseconds
    while Clock.monotonicNanoseconds < deadline {
      let began = Clock.monotonicNanoseconds
      try expectNobody(but: own)
      guard let current = LockHolder.read(path) else { break }
      holder = current
      try doing(
        "wait for", path, PollSet.pause(nanoseconds: 1_000_000 + Clock.monotonicNanoseconds - began)
      )
    }
    return .beginning(group: title, by: holder)
  }

  private static let patienceNanoseconds: Int64 = 500_000_000

  private func gatePath() throws(RunFolderError) -> String {
    let folder = state.locksFolder
    try doing("create", folder) { () throws(Errno) in
      _ = try Path.makeDirectories(folder, mode: 0o700)
    }
    // Different endings keep the two kinds of names apart.
    let file =
      if let manifest {
        LogName.stem(of: KeptFiles.relative(manifest, to: Path.parent(of: state.path)).utf8)
          + Self.manifestEnding
      } else { LogName.stem(of: name.utf8) + Self.nameEnding }
    return "\(folder)/\(file)"
  }

  private static let manifestEnding = ".manifest"
  private static let nameEnding = ".group"

  static func isGate(_ name: String) -> Bool {
    name.hasSuffix(manifestEnding) || name.hasSuffix(nameEnding)
  }
}

extension StateFolder {
  var locksFolder: String { path + "/locks" }

  /// Removes free lock files, which are created again on demand.
  package func removeFreeGates() {
    guard let names = try? Path.names(in: locksFolder) else { return }
    for name in names where ConcurrencyGroup.isGate(name) {
      try? StateFolderLock.removeUnheld("\(locksFolder)/\(name)")
    }
  }
}

/// Held from the check that no run of the group is live until the new run is live.
package struct ConcurrencyGate: ~Copyable {
  /// nil if other live runs are allowed.
  private let lock: StateFolderLock?

  init(lock: consuming StateFolderLock?) { self.lock = lock }
}
