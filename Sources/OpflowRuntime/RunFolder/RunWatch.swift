internal import OpflowSystem

/// Tells when there may be something new of a run that another process drives: its files change, or that
/// process ends. Neither is told everywhere, on file systems of other machines for example, so it returns
/// after a while in any case.
package struct RunWatch: ~Copyable {
  private let folder: RunFolder
  /// Nil where the system has no watch left.
  private var files: FolderWatch?
  /// The process that drives the run, as far as it is known here.
  private var driver: Descriptor?
  private var poll = PollSet(slots: Self.slots)

  private static let slots = 6
  /// Longer than anybody waits at a prompt for what no one tells.
  private static let patienceNanoseconds: Int64 = 2_000_000_000
  /// Where the end of the driving process is told by nobody.
  private static let pauseNanoseconds: Int64 = 250_000_000

  /// - Parameter folders: those whose changes are of interest.
  package init(_ folder: RunFolder, watching folders: [String]) {
    self.folder = folder
    files = folders.isEmpty ? nil : try? FolderWatch(folders)
    poll.set(0, files?.rawDescriptor ?? -1)
  }

  /// Returns when something may be new, when one of the other descriptors is readable, and after a while
  /// or the time that is given.
  ///
  /// - Parameter others: four at most.
  package mutating func wait(
    _ others: [Int32] = [], atMostNanoseconds most: Int64 = .max
  ) throws(RunFolderError) {
    if driver == nil { driver = Self.driver(of: folder) }
    poll.set(1, driver?.rawValue ?? -1)
    for (slot, other) in others.enumerated() { poll.set(2 + slot, other) }
    let patience = driver == nil ? Self.pauseNanoseconds : Self.patienceNanoseconds
    let isAny = try doing("wait for", folder.path) { () throws(Errno) in
      try poll.wait(nanoseconds: min(most, patience))
    }
    guard isAny else { return }
    if poll.isReady(0) {
      try doing("wait for", folder.path) { () throws(Errno) in try files?.takeChanges() }
    }
    if poll.isReady(1) { driver = nil }
  }

  /// The process whose lock it is now. Its number may have become another's before it was opened, so
  /// that is looked at again behind it.
  private static func driver(of folder: RunFolder) -> Descriptor? {
    guard let holder = RunFolderLock.holder(folder), let pid = holder.localPID,
      let found = try? ProcessTree.open(pid),
      (try? RunFolderLock.isHeld(folder)) == true, RunFolderLock.holder(folder) == holder
    else { return nil }
    return found
  }
}
