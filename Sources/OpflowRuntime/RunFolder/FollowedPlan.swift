internal import OpflowCore
internal import OpflowSystem

/// The plan of a run, for a look that goes on with its journal: opened anew for each addition that this tells of.
///
/// Where the file is the one of the time before, what was there is not looked at again: a run that grows task by task would
/// be looked at as a whole for each of them.
final class FollowedPlan: @unchecked Sendable {
  // SAFETY: @unchecked, because a run's journal is followed by one thread, and this is used by what follows it alone.
  private let folder: RunFolder
  private var mapping: SharedMapping?

  init(of folder: RunFolder) { self.folder = folder }

  /// With as many tasks; nil where there are not so many.
  ///
  /// - Parameter earlier: as it was opened before; nil where that is no part of it.
  func open(grownTo taskCount: Int, from earlier: Plan?) -> Plan? {
    if let earlier, let plan = openAgain(taskCount, earlier) { return plan }
    guard let plan = try? folder.openPlan(), plan.taskCount >= taskCount else { return nil }
    return plan
  }

  private func openAgain(_ taskCount: Int, _ earlier: Plan) -> Plan? {
    guard earlier.hasRoom, let mapped = mapped(),
      let plan = try? Plan(
        bytes: mapped.bytes, checksum: false, limit: taskCount, release: mapped.release),
      plan.hasRoom, plan.key == earlier.key, plan.byteCount == earlier.byteCount,
      (try? plan.validate(grownFrom: earlier)) != nil
    else { return nil }
    return plan
  }

  private func mapped() -> SharedMapping? {
    guard let status = try? Path.status(folder.plan) else { return nil }
    if let mapping, mapping.isAll(of: status) { return mapping }
    mapping = try? SharedMapping(File.openRegular(folder.plan, .readOnly), at: folder.path)
    return mapping
  }
}
