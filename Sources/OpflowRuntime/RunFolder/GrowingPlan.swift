internal import OpflowCore
internal import OpflowSystem

/// The plan of a run that this process drives, in its file, which tasks are added to.
///
/// Where the run syncs, the file is synced before the journal tells of the tasks, so that a loss of power leaves one that
/// has all that the journal tells of: what is there of others counts for nobody. Where it does not, the views of such a
/// run may fail until a resume makes the file anew. On a network's file system the head goes to the server behind what it
/// counts, since a worker of another machine may open the file in between.
///
/// What is added one by one in a run that syncs in groups (`mayFollow`) would wait for the disk each time. Its states:
///
///     written ─► journaled ─► answered ─► file synced ─► journal synced
///
/// - From *written* on it outlives any process: a kill loses nothing.
/// - The journal's line carries all that a resume compiles the tasks from, so that it may reach the disk at any time: before
///   the file (by the sync of lines before it), or never, and then nobody can be told of the tasks by anything but that answer.
/// - Each sync of the journal is preceded by one of the file (`takeUnsynced`). Where the power is lost between *journaled* and
///   the next *file synced*, the journal may have tasks that the file lacks: views of the run then lack them too, or
///   fail, until a resume makes the file anew. That takes nothing from this file.
final class GrowingPlan {
  private(set) var plan: Plan
  private let folder: RunFolder
  private let durability: Durability
  /// Of the file as it was written last; nil before.
  private var mapping: SharedMapping?
  /// Written since the last sync.
  private var unsynced: Descriptor?
  /// What stands behind the plan's tasks in the file is not to be built upon.
  private var isTorn = false
  /// It is not known whether the file counts tasks that this process does not: somebody may take them for
  /// those that would be added next.
  private var isLost = false

  init(_ plan: Plan, in folder: RunFolder, _ durability: Durability = .each) {
    self.plan = plan
    self.folder = folder
    self.durability = durability
  }

  // MARK: - What is to be synced

  /// The file, where it is to be synced before the journal is; the caller does that.
  func takeUnsynced() -> Descriptor? { unsynced.take() }

  func syncNow() throws(Errno) {
    guard let file = unsynced.take() else { return }
    try file.syncData()
    try file.close()
  }

  // MARK: - Growing

  /// Makes the plan's file one that has the tasks of a segment as well, and opens it anew.
  ///
  /// - Parameters:
  ///   - segment: has been validated.
  ///   - mayFollow: the file may be synced behind the journal's line, which has all that the segment is made from.
  /// - Throws: why the plan stays as it was.
  func grow(by segment: Plan, mayFollow: Bool = false) throws(GrowthFault) -> Plan {
    if isLost { throw .lost }
    let growth: PlanGrowth
    do throws(SegmentError) {
      growth = try PlanGrowth(of: plan, by: segment, intoNewFile: isTorn || isShared)
    } catch {
      throw .unfit(error)
    }
    let mapped =
      if let count = growth.newFileByteCount {
        try replaceFile(growth, count)
      } else {
        try writeBehind(growth, isSynced: durability == .each || durability == .group && !mayFollow)
      }
    return try open(mapped)
  }

  /// Makes the plan's file another one, in which tasks that are withdrawn have other names, and opens that.
  ///
  /// - Throws: why the plan stays as it was.
  func withdraw(_ withdrawal: Withdrawal) throws(GrowthFault) -> Plan {
    if isLost { throw .lost }
    let growth: PlanGrowth
    do throws(SegmentError) {
      growth = try PlanGrowth(
        of: plan, withdrawing: withdrawal.numbers, attempt: withdrawal.entry.attempt)
    } catch {
      throw .unfit(error)
    }
    return try open(try replaceFile(growth, growth.newFileByteCount ?? 0))
  }

  private func open(_ mapped: SharedMapping) throws(GrowthFault) -> Plan {
    do throws(PlanError) {
      // What was there has been checked, and so has what was written behind it.
      plan = try Plan(bytes: mapped.bytes, checksum: false, release: mapped.release)
      mapping = mapped
      return plan
    } catch {
      isLost = true
      throw .unsound(error)
    }
  }

  /// Another run may have the file, which takes it for one that nobody writes to.
  private var isShared: Bool {
    guard plan.hasRoom, let status = try? Path.linkStatus(folder.plan) else { return false }
    return status.linkCount > 1
  }

  /// Mapped before anything counts: what fails then fails without a trace.
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
      // On a network's file system also the last chance to learn of a failure.
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

  /// Much of what a task is given by default is zeroes, which stand there already.
  private func isThere(_ write: PlanGrowth.Write, in file: UnsafeRawBufferPointer) -> Bool {
    write.bytes.count <= 64
      && file[write.offset..<(write.offset + write.bytes.count)].elementsEqual(write.bytes)
  }

  /// Until it has its name the file is what it was.
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
      // A name that is still there was not taken.
      isLost = isCounting && !Path.exists(temporary)
      try? Path.removeIfThere(temporary)
      throw .file(error)
    }
  }

  private static func write(
    _ write: PlanGrowth.Write, to file: borrowing Descriptor
  ) throws(Errno) {
    try write.bytes.withUnsafeBufferPointer { bytes throws(Errno) in
      try file.writeAll(UnsafeRawBufferPointer(bytes), at: Int64(write.offset))
    }
  }
}

/// Why a plan has not grown.
enum GrowthFault: Error {
  /// The segment was compiled for another plan, or is none that fits.
  case unfit(SegmentError)
  case file(Errno)
  case unsound(PlanError)
  /// An earlier growth failed half-way.
  case lost

  /// For who adds, in a sentence without its first capital and last point.
  func what(in folder: RunFolder) -> String {
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
      "\(folder.plan) could not be written before; a resume makes it anew, and then more can be added"
    }
  }
}
