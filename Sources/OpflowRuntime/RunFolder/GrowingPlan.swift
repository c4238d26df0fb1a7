internal import OpflowBase
internal import OpflowEngine
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWire

/// The plan file of a run that this process holds, to which tasks are added.
///
/// In a run that syncs, the file is synced before the journal names the tasks, so after a power
/// failure it has every task in the journal; extra tasks in the file are uncommitted. Without
/// syncing, views of such a run may fail until a resume rewrites the file. On a network file system
/// the head is sent after the records that it counts, since a worker on another machine may open
/// the file in between.
///
/// A run that syncs in groups (`mayFollow`) does not wait for the disk at each single addition:
///
///     written ─► journaled ─► answered ─► file synced ─► journal synced
///
/// - From *written* on the addition survives the death of any process.
/// - The journal line contains all that a resume needs to compile the tasks. The line may reach the
///   disk before the file (with the sync of earlier lines), or never; then only the client that got
///   the answer knows of the tasks.
/// - A sync of the file precedes each sync of the journal (`takeUnsynced`). After a power failure
///   between *journaled* and the next *file synced*, the journal may have tasks that the file
///   lacks: views lack these tasks too, or fail, until a resume rewrites the file from the journal.
final class GrowingPlan {
  private(set) var plan: Plan
  private let folder: RunFolder
  private let durability: Durability
  private var mapping: SharedMapping?
  private var unsynced: Descriptor?
  /// The bytes behind the plan's tasks are unusable.
  private var isTorn = false
  /// The file may count tasks that this process does not know and that readers would confuse with
  /// the next tasks.
  private var isLost = false

  init(_ plan: Plan, in folder: RunFolder, _ durability: Durability = .each) {
    self.plan = plan
    self.folder = folder
    self.durability = durability
  }

  // MARK: - Syncing

  /// The caller must sync the file before the journal.
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

  /// Maps the file before the head counts the new tasks: a failure until then leaves no trace.
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

  /// The old file is unchanged until the rename.
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
      // If the temporary file exists, the rename did not happen.
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
  /// The segment was compiled for another plan, or does not fit.
  case unfit(SegmentError)
  case file(Errno)
  case unsound(PlanError)
  case lost

  /// The message for the client, without capital and full stop.
  func detail(in folder: RunFolder) -> String {
    switch self {
    case .unfit(.taken(let task)):
      "\(AddRequest.outdated): it now has a task `\(CleanText.string(task))`"
    case .unfit(.unknownNeed(let task, let need)):
      "\(AddRequest.outdated): it has no task `\(CleanText.string(need))`, which"
        + " `\(CleanText.string(task))` needs"
    case .unfit(.unfitNeed(let task, let need)):
      "\(AddRequest.outdated): `\(CleanText.string(task))` cannot need"
        + " `\(CleanText.string(need))` in this way"
    case .unfit(.resources): "\(AddRequest.outdated): it has different `resources`"
    case .unfit(.secrets): "the secrets of a run must be in its first manifest"
    case .unfit(.tooLarge): "the run has reached the maximum number of tasks"
    case .file(let error): "\(AddRequest.unwritable) \(folder.plan): \(error)"
    case .unsound(let error):
      "\(folder.plan) is unusable after this: \(error.message); `opflow resume` rebuilds it"
    case .lost:
      "an earlier write of \(folder.plan) failed; `opflow resume` rebuilds it, and then you can add"
        + " tasks"
    }
  }
}
