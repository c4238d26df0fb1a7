internal import OpflowSystem

/// Waits for changes of another process's run, or its end. Remote file systems report neither, so a
/// wait also ends after a while.
package struct RunWatch: ~Copyable {
  private let folder: RunFolder
  private var files: FolderWatch?
  private var driver: Descriptor?
  private var poll = PollSet(slots: Self.slots)

  private static let slots = 6
  /// A tolerable delay at a prompt.
  private static let patienceNanoseconds: Int64 = 2_000_000_000
  /// If the end of the driving process is not reported.
  private static let pauseNanoseconds: Int64 = 250_000_000

  package init(_ folder: RunFolder, watching folders: [String]) {
    self.folder = folder
    files = folders.isEmpty ? nil : try? FolderWatch(folders)
    poll.set(0, files?.rawDescriptor ?? -1)
  }

  /// Returns when something may be new, when one of at most four `others` is readable, or after a
  /// time limit.
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

  /// The ID may be reused before it is opened, so the holder is checked again afterwards.
  private static func driver(of folder: RunFolder) -> Descriptor? {
    guard let holder = RunFolderLock.holder(folder), let pid = holder.localPID,
      let found = try? ProcessTree.open(pid),
      (try? RunFolderLock.isHeld(folder)) == true, RunFolderLock.holder(folder) == holder
    else { return nil }
    return found
  }
}
