internal import OpflowCore
internal import OpflowSystem

/// The plan of a run that this process drives, in its file, which tasks are added to.
///
/// It is synced as the journal is, and before that:
///
/// - `each`: before the journal tells of the tasks, so that a loss of power leaves one that has all that the journal tells of;
///   what is there of others counts for nobody.
/// - `group`: with each sync of the journal, right before it. The journal may reach the disk a little sooner than what it
///   tells of: where the power was lost before the next sync was done, views of the run may lack the tasks that were added since
///   the last one, or fail, until a resume makes the file anew. That takes nothing from this file.
/// - `none`: the same of all that the kernel had not written yet.
///
/// One that is made anew to have room has its name when it is on the disk, in the first two cases. On a network's file system the head goes to the server behind what it
/// counts, since a worker of another machine may open the file in between.
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
  /// - Parameter segment: has been validated.
  /// - Throws: why the plan stays as it was.
  func grow(by segment: Plan) throws(GrowthFault) -> Plan {
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
        try writeBehind(growth)
      }
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
    _ growth: PlanGrowth
  ) throws(GrowthFault) -> SharedMapping {
    let (records, head) = growth.recordsAndHead
    let isNetwork = NetworkFiles.isNetwork(at: folder.path)
    var isCounting = false
    do throws(Errno) {
      let file = try File.open(folder.plan, [.readWrite, .noFollow])
      let new = try mapping(of: file)
      for write in records where !isThere(write, in: new.bytes) { try Self.write(write, to: file) }
      if isNetwork { try file.sync() }
      isCounting = true
      for write in head { try Self.write(write, to: file) }
      // On a network's file system also the last chance to learn of a failure.
      if durability == .each || isNetwork { try file.syncData() }
      if durability == .group, !isNetwork {
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
    case .file(let error): "cannot write \(folder.plan): \(error)"
    case .unsound(let error):
      "\(folder.plan) cannot be used after that: \(error.message); a resume makes it anew"
    case .lost:
      "\(folder.plan) could not be written before; a resume makes it anew, and then more can be added"
    }
  }
}
