internal import OpflowCore
internal import OpflowSystem

/// Whether `memory_limit` of a plan's tasks can be kept.
enum MemoryLimits {
  /// - Throws: why not.
  static func expect(_ plan: Plan) throws(PreparationError) {
    guard plan.hasMemoryLimits else { return }
    do throws(MemoryDelegation.Obstacle) {
      _ = try MemoryDelegation.begin()
    } catch {
      throw .noMemoryLimits(error.what)
    }
  }

  /// Has memory shared out to the groups of a drive, for as long as what is returned is kept; nil where that
  /// cannot be, or nothing is limited.
  ///
  /// - Parameter warn: is told why it cannot be.
  static func begin(_ plan: Plan, warn: (String) -> Void) -> MemoryDelegation? {
    guard plan.hasMemoryLimits else { return nil }
    do throws(MemoryDelegation.Obstacle) {
      return try MemoryDelegation.begin()
    } catch {
      warn("`memory_limit` is not kept: \(error.what); \(MemoryPolicy.remedy)")
      return nil
    }
  }
}
