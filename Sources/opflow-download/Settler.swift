internal import OpflowSystem

/// Writes and syncs finished files and puts them in place, in threads of its own while the worker goes
/// on with the next downloads.
///
/// Small files go in groups: those that come one after the other share blocks of inodes, commits of
/// the file system's journal, and the way from thread to thread.
final class Settler {
  /// Beyond that more syncs at once gain nothing measurable.
  private static let threads: Int32 = 8
  private static let smallBytes: Int64 = 1024 * 1024
  private static let mostInGroup = 16
  /// How long the first one of a group waits for others.
  private static let patienceNanoseconds: Int64 = 5_000_000

  private let pool: ThreadPool
  /// What the threads are at, by ticket.
  private var jobs: [UInt64: [FinishedFile]] = [:]
  /// The one of them that renames: there is one at a time, since files are renamed in their order.
  private var placing: UInt64?
  /// Those that wait for more of their kind.
  private var group: [FinishedFile] = []
  private var groupDue: Int64 = 0
  /// Files have come further since `place` was called.
  private(set) var hasNews = false

  init() throws(Errno) { pool = try ThreadPool(threads: Self.threads) }

  /// Readable when `takeResults` has something to do.
  var rawDescriptor: Int32 { pool.rawDescriptor }

  /// Begins to make a file durable, or has it wait for others: see `nextWake`.
  func begin(_ file: FinishedFile) {
    if file.sizeBytes > Self.smallBytes {
      store([file], isIdle: false)
      return
    }
    if group.isEmpty { groupDue = Clock.monotonicNanoseconds + Self.patienceNanoseconds }
    group.append(file)
    if group.count == Self.mostInGroup { endGroup(isIdle: false) }
  }

  /// Nobody wants the file any more. One that a thread has already stays a part.
  func withdraw(_ file: FinishedFile) { group.removeAll { $0 === file } }

  /// When `endGroup` is to be called at the latest; nil while nothing waits for that.
  var nextWake: Int64? { group.isEmpty ? nil : groupDue }

  /// Nothing more is to be waited for.
  ///
  /// - Parameter isIdle: the caller has nothing to do that could not wait for these files.
  func endGroup(isIdle: Bool) {
    if group.isEmpty { return }
    store(group, isIdle: isIdle)
    group.removeAll(keepingCapacity: true)
  }

  private func store(_ files: [FinishedFile], isIdle: Bool) {
    _ = perform(files, isIdle: isIdle) { FinishedFile.store(files) }
  }

  /// Has those that are stored renamed, in their order and none past another, and their folders synced.
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

  /// Has a thread do it, or does it here where there is none, or nobody who would have to wait for it:
  /// nil.
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

  /// Takes in which jobs are done.
  func takeResults() throws(Errno) {
    try pool.takeDone { ticket in
      if placing == ticket { placing = nil }
      if let files = jobs.removeValue(forKey: ticket) { note(files) }
    }
  }
}
