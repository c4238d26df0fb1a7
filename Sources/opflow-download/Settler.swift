internal import OpflowCore
internal import OpflowSystem

/// Makes finished files durable while the worker goes on: syncs of many files are under way at once,
/// and one sync of a folder serves all that were renamed in it before.
final class Settler {
  /// Beyond that more syncs at once gain nothing measurable.
  private static let threads: Int32 = 8
  /// A small file is synced without a thread where that takes no time.
  private static let smallBytes: Int64 = 1024 * 1024
  private static let noTimeNanoseconds: Int64 = 200_000

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
    case file(FinishedFile)
    case folder(Folder)
  }

  private let pool: SyncPool
  private var syncs: [UInt64: Sync] = [:]
  private var folders: [String: Folder] = [:]
  /// File systems on which a sync has taken time.
  private var slowDevices: Set<UInt64> = []

  init() throws(Errno) { pool = try SyncPool(threads: Self.threads) }

  /// Readable when `takeResults` has something to do.
  var rawDescriptor: Int32 { pool.rawDescriptor }

  /// Begins to make a file durable.
  func begin(_ file: FinishedFile) {
    let isSmall = file.sizeBytes <= Self.smallBytes
    do throws(Errno) {
      let ticket = try sync(file.file, onDevice: file.device, isSmall: isSmall)
      if let ticket { syncs[ticket] = .file(file) } else { file.state = .synced }
    } catch {
      file.fail(error)
    }
  }

  /// Nil when it is done already.
  private func sync(
    _ file: SharedFile, onDevice device: UInt64, isSmall: Bool
  ) throws(Errno) -> UInt64? {
    if !isSmall || slowDevices.contains(device) {
      // Without a thread there is nobody else to do it.
      if let ticket = try? pool.sync(file.descriptor) { return ticket }
    }
    let began = Clock.monotonicNanoseconds
    try file.descriptor.sync()
    let time = Clock.monotonicNanoseconds - began
    if time > Self.noTimeNanoseconds { slowDevices.insert(device) }
    return nil
  }

  /// Renames those that are synced, in their order and none past another, and has their folders
  /// synced.
  func place(_ files: some Sequence<FinishedFile>) {
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
      folder.file = file
      if let ticket = try sync(file, onDevice: folder.device, isSmall: true) {
        syncs[ticket] = .folder(folder)
      } else {
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

  /// Takes in which syncs have ended.
  func takeResults() throws(Errno) {
    var ended: [(UInt64, Errno?)] = []
    try pool.takeResults { ended.append(($0, $1)) }
    for (ticket, error) in ended {
      switch syncs.removeValue(forKey: ticket) {
      case .file(let file): if let error { file.fail(error) } else { file.state = .synced }
      case .folder(let folder): end(folder, error)
      case nil: break
      }
    }
  }
}
