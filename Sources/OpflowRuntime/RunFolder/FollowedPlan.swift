internal import OpflowPlan
internal import OpflowSystem

/// The plan for a reader of the journal, opened again after each addition. If the file only grew,
/// the validated part is not checked again: otherwise a run that grows task by task would be
/// validated as a whole each time.
final class FollowedPlan: @unchecked Sendable {
  // SAFETY: @unchecked, because a single thread follows a run's journal, and only that follower
  // uses this.
  private let folder: RunFolder
  private var mapping: SharedMapping?

  init(of folder: RunFolder) { self.folder = folder }

  /// nil if the plan has fewer tasks. `earlier` is nil if it is not a prefix of this one.
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
