internal import OpflowPlan
internal import OpflowSystem

enum MemoryLimits {
  static func expect(_ plan: Plan) throws(PreparationError) {
    guard plan.hasMemoryLimits else { return }
    do throws(MemoryDelegation.Obstacle) {
      _ = try MemoryDelegation.begin()
    } catch {
      throw .noMemoryLimits(error.what)
    }
  }

  /// Enables memory limits for a session while the result is kept. Calls `warn` if that is
  /// impossible.
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
