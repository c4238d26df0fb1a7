internal import OpflowSystem

/// Syncs finished files and puts them in place, in threads. Small files are grouped: they share
/// inode blocks, journal commits and thread switches.
final class Settler {
  /// More concurrent syncs gain nothing measurable.
  private static let threads: Int32 = 8
  private static let smallBytes: Int64 = 1024 * 1024
  private static let mostInGroup = 16
  /// How long a group waits for further files.
  private static let patienceNanoseconds: Int64 = 5_000_000

  private let pool: ThreadPool
  private var jobs: [UInt64: [FinishedFile]] = [:]
  /// One job at a time renames, to keep the order.
  private var placing: UInt64?
  private var group: [FinishedFile] = []
  private var groupDue: Int64 = 0
  /// Files have advanced since the last `place`.
  private(set) var hasNews = false

  init() throws(Errno) { pool = try ThreadPool(threads: Self.threads) }

  var rawDescriptor: Int32 { pool.rawDescriptor }

  func begin(_ file: FinishedFile) {
    if file.sizeBytes > Self.smallBytes {
      store([file], isIdle: false)
      return
    }
    if group.isEmpty { groupDue = Clock.monotonicNanoseconds + Self.patienceNanoseconds }
    group.append(file)
    if group.count == Self.mostInGroup { endGroup(isIdle: false) }
  }

  /// A file that a thread already has stays a part.
  func withdraw(_ file: FinishedFile) { group.removeAll { $0 === file } }

  /// When to call `endGroup`.
  var nextWake: Int64? { group.isEmpty ? nil : groupDue }

  /// `isIdle`: the caller has no other work.
  func endGroup(isIdle: Bool) {
    if group.isEmpty { return }
    store(group, isIdle: isIdle)
    group.removeAll(keepingCapacity: true)
  }

  private func store(_ files: [FinishedFile], isIdle: Bool) {
    _ = perform(files, isIdle: isIdle) { FinishedFile.store(files) }
  }

  /// In order, up to the first that is not stored.
  func place(_ files: some Sequence<FinishedFile>, isIdle: Bool) {
    hasNews = false
    if placing != nil { return }
    var stored: [FinishedFile] = []
    search: for file in files {
      switch file.stage {
      case .done: continue
      case .stored: stored.append(file)
      case .storing, .placing, .failed: break search
      }
    }
    if stored.isEmpty { return }
    for file in stored { file.stage = .placing }
    let batch = stored
    placing = perform(batch, isIdle: isIdle) { FinishedFile.place(batch) }
  }

  /// In a thread; or here, returning nil, if there is none or no other work waits.
  private func perform(
    _ files: [FinishedFile], isIdle: Bool, _ step: @escaping @Sendable () -> Void
  ) -> UInt64? {
    if !isIdle || !jobs.isEmpty, let ticket = try? pool.submit(step) {
      jobs[ticket] = files
      return ticket
    }
    step()
    note(files)
    return nil
  }

  private func note(_ files: [FinishedFile]) {
    hasNews = true
    for file in files { file.noteStep() }
  }

  func takeResults() throws(Errno) {
    try pool.takeDone { ticket in
      if placing == ticket { placing = nil }
      if let files = jobs.removeValue(forKey: ticket) { note(files) }
    }
  }
}
