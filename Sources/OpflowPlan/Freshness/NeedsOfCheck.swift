internal import OpflowBase

extension TaskCheck {
  /// A task that controls its run must run: it controlled another one.
  package static let steering = "it steers its run"

  /// With the skipped dependencies, by their last successes.
  package func needs(in plan: Plan, lastSuccess: (TaskID) -> UInt64?) -> UInt64 {
    skipped.reduce(needs) { sum, need in
      let origin = lastSuccess(need)
      let state: TaskState = origin == nil ? .skipped : .succeeded
      return sum &+ Self.part(of: need, as: state, origin ?? 0, in: plan)
    }
  }

  /// A dependency's share of `needs`, a sum that does not depend on their order.
  ///
  /// - Parameter origin: of its success or failure, where that counts.
  package static func part(
    of need: TaskID, as state: TaskState, _ origin: UInt64, in plan: Plan
  ) -> UInt64 {
    let end = Hash.combine(UInt64(state.isSuccess ? 0 : state.rawValue + 1), origin)
    return Hash.combine(Hash.xxh3(plan.nameBytes(need)), end)
  }
}
