internal import OpflowBase
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The plan file of a run that this process drives, to which tasks are added.
///
/// In a run that syncs, the file is synced before the journal names the tasks, so that after a
/// power failure it has every task in the journal; extra tasks in the file do not count. Without
/// syncing, views of such a run may fail until a resume writes the file again. On a network file
/// system the head is sent after the records that it counts, since a worker on another machine may
/// open the file in between.
///
/// Adding tasks one by one in a run that syncs in groups (`mayFollow`) would wait for the disk each
/// time. Its states are:
///
///     written ─► journaled ─► answered ─► file synced ─► journal synced
///
/// - From *written* on the addition survives the death of any process.
/// - The journal line contains all that a resume needs to compile the tasks. It may reach the disk
///   before the file (with the sync of earlier lines), or never; then only the answer has told a
///   client of the tasks.
/// - Each sync of the journal is preceded by one of the file (`takeUnsynced`). After a power
///   failure between *journaled* and the next *file synced*, the journal may have tasks that the
///   file lacks: views lack them too, or fail, until a resume writes the file again from the
///   journal.
final class GrowingPlan {
  private(set) var plan: Plan
  private let folder: RunFolder
  private let durability: Durability
  private var mapping: SharedMapping?
  /// Written since the last sync.
  private var unsynced: Descriptor?
  /// The bytes behind the plan's tasks are unusable.
  private var isTorn = false
  /// The file may count tasks that this process does not know; readers would confuse them with the
  /// next ones.
  private var isLost = false

  init(_ plan: Plan, in folder: RunFolder, _ durability: Durability = .each) {
    self.plan = plan
    self.folder = folder
    self.durability = durability
  }

  // MARK: - Syncing

  /// The caller must sync it before the journal.
  func takeUnsynced() -> Descriptor? { unsynced.take() }

  func syncNow() throws(Errno) {
    guard let file = unsynced.take() else { return }
    try file.syncData()
    try file.close()
  }

  // MARK: - Growing

  /// Adds a validated segment. `mayFollow`: the file may be synced after the journal's line, which
  /// contains the sources. An error leaves the plan unchanged.
  func grow(by segment: Plan, mayFollow: Bool = false) throws(GrowthFault) -> Plan {
    if isLost { throw .lost }
    let growth = try rethrowing(PlanGrowth(of: plan, by: segment, intoNewFile: isTorn || isShared))
    { GrowthFault.unfit($0) }
    let mapped =
      if let count = growth.newFileByteCount {
        try replaceFile(growth, count)
      } else {
        try writeBehind(growth, isSynced: durability == .each || durability == .group && !mayFollow)
      }
    return try open(mapped)
  }

  /// Renames retracted tasks in a new file. An error leaves the plan unchanged.
  func retract(_ retraction: Retraction) throws(GrowthFault) -> Plan {
    if isLost { throw .lost }
    let growth = try rethrowing(
      PlanGrowth(of: plan, retracting: retraction.numbers, attempt: retraction.entry.attempt)
    ) { GrowthFault.unfit($0) }
    return try open(try replaceFile(growth, growth.newFileByteCount ?? 0))
  }

  private func open(_ mapped: SharedMapping) throws(GrowthFault) -> Plan {
    do throws(PlanError) {
      plan = try Plan(bytes: mapped.bytes, checksum: false, release: mapped.release)
      mapping = mapped
      return plan
    } catch {
      isLost = true
      throw .unsound(error)
    }
  }

  /// Another run links to the file and relies on it not to change.
  private var isShared: Bool {
    guard plan.hasRoom, let status = try? Path.linkStatus(folder.plan) else { return false }
    return status.linkCount > 1
  }

  /// Maps the file before the new tasks count, so that a failure until then leaves no trace.
  private func writeBehind(
    _ growth: PlanGrowth, isSynced: Bool
  ) throws(GrowthFault) -> SharedMapping {
    let (records, head) = growth.recordsAndHead
    let isNetwork = NetworkFiles.isNetwork(at: folder.path)
    var isCounting = false
    do throws(Errno) {
      let file = try File.openRegular(folder.plan, .readWrite)
      let new = try mapping(of: file)
      for write in records where !isThere(write, in: new.bytes) { try Self.write(write, to: file) }
      if isNetwork { try file.sync() }
      isCounting = true
      for write in head { try Self.write(write, to: file) }
      // On a network file system this is also the last chance to see a write error.
      if isSynced || isNetwork {
        try file.syncData()
        unsynced = nil
      }
      if durability == .group, !isSynced, !isNetwork {
        unsynced = consume file
      } else {
        try file.close()
      }
      return new
    } catch {
      isTorn = true
      isLost = isCounting
      throw .file(error)
    }
  }

  private func mapping(of file: borrowing Descriptor) throws(Errno) -> SharedMapping {
    if let mapping, mapping.isAll(of: try file.status()) { return mapping }
    return try SharedMapping(file, at: folder.path)
  }

  /// Many defaults of a task are zeros, which the file already contains.
  private func isThere(_ write: PlanGrowth.Write, in file: UnsafeRawBufferPointer) -> Bool {
    write.bytes.count <= 64
      && file[write.offset..<(write.offset + write.bytes.count)].elementsEqual(write.bytes)
  }

  /// Until the rename the old file is unchanged.
  private func replaceFile(
    _ growth: PlanGrowth, _ byteCount: Int
  ) throws(GrowthFault) -> SharedMapping {
    let temporary = folder.plan + ".new"
    var isCounting = false
    do throws(Errno) {
      try Path.removeIfThere(temporary)
      let file = try File.open(
        temporary, [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
      try file.truncate(to: Int64(byteCount))
      for write in growth.writes { try Self.write(write, to: file) }
      let new = try SharedMapping(file, at: folder.path)
      if durability != .none { try file.sync() }
      try file.close()
      isCounting = true
      try Path.rename(temporary, to: folder.plan)
      if durability != .none { try Path.syncFolder(folder.path) }
      unsynced = nil
      isTorn = false
      return new
    } catch {
      // Then the rename did not happen.
      isLost = isCounting && !Path.exists(temporary)
      try? Path.removeIfThere(temporary)
      throw .file(error)
    }
  }

  private static func write(_ write: PlanGrowth.Write, to file: borrowing Descriptor) throws(Errno)
  {
    try write.bytes.withUnsafeBufferPointer { bytes throws(Errno) in
      try file.writeAll(UnsafeRawBufferPointer(bytes), at: Int64(write.offset))
    }
  }
}

enum GrowthFault: Error {
  /// Compiled for another plan, or does not fit.
  case unfit(SegmentError)
  case file(Errno)
  case unsound(PlanError)
  case lost

  /// For the client: a sentence without capital and full stop.
  func detail(in folder: RunFolder) -> String {
    switch self {
    case .unfit(.taken(let task)):
      "\(AddRequest.outdated): it has a task \(CleanText.string(task)) by now"
    case .unfit(.unknownNeed(let task, let need)):
      "\(AddRequest.outdated): it has no task \(CleanText.string(need)), which"
        + " \(CleanText.string(task)) needs"
    case .unfit(.unfitNeed(let task, let need)):
      "\(AddRequest.outdated): \(CleanText.string(task)) cannot need \(CleanText.string(need))"
        + " so"
    case .unfit(.resources): "\(AddRequest.outdated): its resources are others"
    case .unfit(.secrets): "secrets of a run stand in its first manifest"
    case .unfit(.tooLarge): "the run has as many tasks as it can have"
    case .file(let error): "\(AddRequest.unwritable) \(folder.plan): \(error)"
    case .unsound(let error):
      "\(folder.plan) cannot be used after that: \(error.message); a resume makes it anew"
    case .lost:
      "\(folder.plan) could not be written before; a resume makes it anew, and then more can be "
        + "added"
    }
  }
}
