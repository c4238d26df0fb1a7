internal import OpflowCore
internal import OpflowSystem

/// The plan of a run that this process drives, in its file, which tasks are added to.
///
/// Where the run syncs, the file is synced before the journal tells of the tasks, so that a loss of power leaves one that
/// has all that the journal tells of: what is there of others counts for nobody. Where it does not, the views of such a
/// run may fail until a resume makes the file anew. On a network's file system the head goes to the server behind what it
/// counts, since a worker of another machine may open the file in between.
final class GrowingPlan {
  private(set) var plan: Plan
  private let folder: RunFolder
  private let isSynced: Bool
  /// What stands behind the plan's tasks in the file is not to be built upon.
  private var isTorn = false
  /// It is not known whether the file counts tasks that this process does not: somebody may take them for
  /// those that would be added next.
  private var isLost = false

  init(_ plan: Plan, in folder: RunFolder, isSynced: Bool = true) {
    self.plan = plan
    self.folder = folder
    self.isSynced = isSynced
  }

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
    let bytes =
      if let count = growth.newFileByteCount {
        try replaceFile(growth, count)
      } else {
        try writeBehind(growth)
      }
    return try open(bytes)
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

  private func open(_ bytes: UnsafeRawBufferPointer) throws(GrowthFault) -> Plan {
    do throws(PlanError) {
      // What was there has been checked, and so has what was written behind it.
      plan = try Plan(bytes: bytes, checksum: false, release: MappedFile.unmap)
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
  ) throws(GrowthFault) -> UnsafeRawBufferPointer {
    let (records, head) = growth.recordsAndHead
    let isNetwork = NetworkFiles.isNetwork(at: folder.path)
    var mapped: MappedFile?
    var isCounting = false
    do throws(Errno) {
      let file = try File.open(folder.plan, [.readWrite, .noFollow])
      let new = try MappedFile(file)
      mapped = new
      for write in records { try Self.write(write, to: file) }
      if isNetwork { try file.sync() }
      isCounting = true
      for write in head { try Self.write(write, to: file) }
      // On a network's file system also the last chance to learn of a failure.
      if isSynced || isNetwork { try file.syncData() }
      try file.close()
      return new.bytes
    } catch {
      if let mapped { MappedFile.unmap(mapped.bytes) }
      isTorn = true
      isLost = isCounting
      throw .file(error)
    }
  }

  /// Until it has its name the file is what it was.
  private func replaceFile(
    _ growth: PlanGrowth, _ byteCount: Int
  ) throws(GrowthFault) -> UnsafeRawBufferPointer {
    let temporary = folder.plan + ".new"
    var mapped: MappedFile?
    var isCounting = false
    do throws(Errno) {
      try Path.removeIfThere(temporary)
      let file = try File.open(
        temporary, [.readWrite, .create, .exclusive, .noFollow], mode: 0o600)
      try file.truncate(to: Int64(byteCount))
      for write in growth.writes { try Self.write(write, to: file) }
      let new = try MappedFile(file)
      mapped = new
      if isSynced { try file.sync() }
      try file.close()
      isCounting = true
      try Path.rename(temporary, to: folder.plan)
      if isSynced { try Path.syncFolder(folder.path) }
      isTorn = false
      return new.bytes
    } catch {
      if let mapped { MappedFile.unmap(mapped.bytes) }
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
