internal import OpflowCore
internal import OpflowSystem

/// Makes finished files durable while the worker goes on: syncs of many files are under way at once,
/// and one sync of a folder serves all that were renamed in it before.
///
/// Small files are synced in groups: those that come one after the other share blocks of inodes and
/// commits of the file system's journal, which a group writes once.
final class Settler {
  /// Beyond that more syncs at once gain nothing measurable.
  private static let threads: Int32 = 8
  private static let smallBytes: Int64 = 1024 * 1024
  private static let mostInGroup = 16
  /// How many of a group a thread syncs: each of them waits for the disk, and on a busy machine for a
  /// processor, which had better not add up.
  private static let mostInThread = 4
  /// How long the first one of a group waits for others.
  private static let patienceNanoseconds: Int64 = 5_000_000

  /// What a sync of a small file takes on a file system.
  private enum Pace {
    /// Nothing: it is in memory.
    case free
    /// So little that the files of a group are best synced one after the other.
    case quick
    /// So much that each had better have a thread of its own.
    case slow

    private static let freeNanoseconds: Int64 = 10_000
    private static let quickNanoseconds: Int64 = 2_000_000

    init(nanosecondsEach time: Int64) {
      self = time < Self.freeNanoseconds ? .free : time < Self.quickNanoseconds ? .quick : .slow
    }
  }

  /// A folder with names that are not durable yet.
  private final class Folder {
    let path: String
    let device: UInt64
    /// Those that the sync under way is for, and those that came since it began.
    var underWay: [FinishedFile] = []
    var next: [FinishedFile] = []
    var file: SharedFile?

    init(_ path: String, device: UInt64) {
      self.path = path
      self.device = device
    }
  }

  private enum Sync {
    case file(FinishedFile, began: Int64, groupSize: Int64)
    case folder(Folder)
  }

  private let pool: SyncPool
  private var syncs: [UInt64: Sync] = [:]
  private var folders: [String: Folder] = [:]
  /// By file system, from the first file on it.
  private var pace: [UInt64: Pace] = [:]
  /// Those that wait for more of their kind.
  private var group: [FinishedFile] = []
  private var groupDue: Int64 = 0
  /// Files have come further since `place` was called.
  private(set) var hasNews = false

  init() throws(Errno) { pool = try SyncPool(threads: Self.threads) }

  /// Readable when `takeResults` has something to do.
  var rawDescriptor: Int32 { pool.rawDescriptor }

  // MARK: - Files

  /// Begins to make a file durable, or has it wait for others: see `nextWake`.
  func begin(_ file: FinishedFile) {
    if file.sizeBytes > Self.smallBytes {
      submit([file])
      return
    }
    switch pace[file.device] {
    case nil, .free: syncHere(file)
    case .slow: submit([file])
    case .quick:
      if group.isEmpty { groupDue = Clock.monotonicNanoseconds + Self.patienceNanoseconds }
      group.append(file)
      if group.count == Self.mostInGroup { endGroup() }
    }
  }

  /// When `endGroup` is to be called at the latest; nil while nothing waits for that.
  var nextWake: Int64? { group.isEmpty ? nil : groupDue }

  /// Nothing more is to be waited for.
  func endGroup() {
    if group.isEmpty { return }
    for start in stride(from: 0, to: group.count, by: Self.mostInThread) {
      submit(group[start..<min(start + Self.mostInThread, group.count)])
    }
    group.removeAll(keepingCapacity: true)
  }

  private func submit(_ files: ArraySlice<FinishedFile>) {
    do throws(Errno) {
      let tickets = try pool.sync(files.map { $0.file.descriptor.rawValue })
      let began = Clock.monotonicNanoseconds
      for (ticket, file) in zip(tickets, files) {
        syncs[ticket] = .file(file, began: began, groupSize: Int64(files.count))
      }
    } catch {
      // Without a thread there is nobody else to do it.
      for file in files { syncHere(file) }
    }
  }

  private func syncHere(_ file: FinishedFile) {
    hasNews = true
    let began = Clock.monotonicNanoseconds
    do throws(Errno) {
      try file.file.descriptor.sync()
      file.state = .synced
    } catch {
      file.fail(error)
    }
    notePace(file, nanoseconds: Clock.monotonicNanoseconds - began)
  }

  private func notePace(_ file: FinishedFile, nanoseconds: Int64) {
    if file.sizeBytes <= Self.smallBytes { notePace(of: file.device, nanoseconds: nanoseconds) }
  }

  private func notePace(of device: UInt64, nanoseconds: Int64) {
    switch (pace[device], Pace(nanosecondsEach: nanoseconds)) {
    case (nil, let first): pace[device] = first
    // One that is slow at times is not waited for by a download.
    case (.free, .quick): pace[device] = .quick
    case (_, .slow): pace[device] = .slow
    case (.free, .free), (.quick, _), (.slow, _): break
    }
  }

  // MARK: - Places

  /// Renames those that are synced, in their order and none past another, and has their folders
  /// synced.
  func place(_ files: some Sequence<FinishedFile>) {
    hasNews = false
    search: for file in files {
      switch file.state {
      case .placed, .done: continue
      case .syncing, .failed: break search
      case .synced:
        file.place()
        guard case .placed = file.state else { break search }
        let folder = folders[file.folder] ?? Folder(file.folder, device: file.device)
        folders[file.folder] = folder
        folder.next.append(file)
      }
    }
    for folder in folders.values where folder.underWay.isEmpty { begin(folder) }
  }

  private func begin(_ folder: Folder) {
    folder.underWay = folder.next
    folder.next = []
    do throws(Errno) {
      let file = SharedFile(try File.open(folder.path, [.readOnly, .directory]))
      if pace[folder.device] == .slow, let tickets = try? pool.sync([file.descriptor.rawValue]) {
        folder.file = file
        syncs[tickets.lowerBound] = .folder(folder)
      } else {
        let began = Clock.monotonicNanoseconds
        try file.descriptor.sync()
        notePace(of: folder.device, nanoseconds: Clock.monotonicNanoseconds - began)
        end(folder, nil)
      }
    } catch {
      end(folder, error)
    }
  }

  private func end(_ folder: Folder, _ error: Errno?) {
    for file in folder.underWay {
      if let error { file.fail(error) } else { file.state = .done }
    }
    folder.underWay = []
    folder.file = nil
    if folder.next.isEmpty { folders[folder.path] = nil } else { begin(folder) }
  }

  // MARK: - Results

  /// Takes in which syncs have ended.
  func takeResults() throws(Errno) {
    var ended: [(UInt64, Errno?)] = []
    try pool.takeResults { ended.append(($0, $1)) }
    if !ended.isEmpty { hasNews = true }
    let now = Clock.monotonicNanoseconds
    for (ticket, error) in ended {
      switch syncs.removeValue(forKey: ticket) {
      case .file(let file, let began, let groupSize):
        if let error { file.fail(error) } else { file.state = .synced }
        notePace(file, nanoseconds: (now - began) / groupSize)
      case .folder(let folder): end(folder, error)
      case nil: break
      }
    }
  }
}
