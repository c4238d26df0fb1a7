package import OpflowBase

/// A request for a check of a task by content.
package struct TaskCheck: Equatable, Sendable {
  package var task: TaskID
  /// Matches the answer to the request.
  package var serial: Int32
  /// A hash of arguments and of values that the task reads; nil if it has neither.
  package var with: UInt64?
  /// A sum over the current successes of dependencies without declared outputs, except `skipped`.
  package var needs: UInt64
  /// Dependencies with `inputs` that `--skip` excludes; their last results may still be valid.
  package var skipped: [TaskID] = []
  /// Bounds the message; further dependencies are treated as without result.
  package static let mostSkipped = 64
  /// The user requested the task: it is checked, then runs in any case.
  package var isAsked: Bool
  /// The number of finished and restored tasks: a worker caches the output of commands for the same
  /// number only.
  package var after: Int32

  /// The origin of an allowed failure in an earlier session.
  package var keeps: UInt64?

  package init(
    task: TaskID, serial: Int32, with: UInt64?, needs: UInt64, isAsked: Bool, after: Int32 = 0
  ) {
    self.task = task
    self.serial = serial
    self.with = with
    self.needs = needs
    self.isAsked = isAsked
    self.after = after
  }
}

package enum CheckResult: Equatable, Sendable {
  case fresh(origin: UInt64)
  case stale(why: String)
  /// An input is missing or unreadable, so the task cannot start.
  case unfit(detail: String)
  /// The result could not be recorded, so the run stops.
  case unwritten(detail: String)
}

extension TaskCheck {
  package static let steering = "it controls its run"

  /// Includes skipped dependencies, by their last successes.
  package func needs(in plan: Plan, lastSuccess: (TaskID) -> UInt64?) -> UInt64 {
    skipped.reduce(needs) { sum, need in
      let origin = lastSuccess(need)
      let state: TaskState = origin == nil ? .skipped : .succeeded
      return sum &+ Self.part(of: need, as: state, origin ?? 0, in: plan)
    }
  }

  /// A dependency's share of `needs`, a sum that does not depend on their order. `origin` is the
  /// origin of its result, or 0.
  package static func part(
    of need: TaskID, as state: TaskState, _ origin: UInt64, in plan: Plan
  ) -> UInt64 {
    let end = Hash.combine(UInt64(state.isSuccess ? 0 : state.rawValue + 1), origin)
    return Hash.combine(Hash.xxh3(plan.nameBytes(need)), end)
  }
}

package enum FileForecast: Equatable, Sendable {
  /// Up to date, by the success with that origin and those values.
  case fresh(origin: UInt64, [TaskValue])
  /// The reason is for people.
  case stale(why: String, isCached: Bool)
  /// A task that runs before decides.
  case unsure
  case unfit(detail: String)
}

package struct RunBefore {
  package let needs: [TaskID]
  /// All of `needs` may turn out up to date.
  package let isUnsure: Bool
  let isStarted: [Bool]

  package init(needs: [TaskID], isUnsure: Bool, isStarted: [Bool]) {
    self.needs = needs
    self.isUnsure = isUnsure
    self.isStarted = isStarted
  }

  package func isStarted(_ task: TaskID) -> Bool { isStarted[task.index] }
}

package typealias FileForesight = (_ check: TaskCheck, _ before: RunBefore) -> FileForecast

package enum ContentHash: Sendable {
  /// 128-bit XXH3: fast, but not safe against attacks.
  case quick
  /// Half of SHA-256: with a cache, collisions must be infeasible.
  case strong

  package func of(_ bytes: some Sequence<UInt8>) -> PlanKey {
    switch self {
    case .quick: Hash.planKey(Array(bytes))
    case .strong: SHA256.digest(of: bytes).high
    }
  }
}

package enum ContentHasher: ~Copyable {
  case quick(PieceHash)
  case strong(SHA256)

  package init?(_ hash: ContentHash) {
    switch hash {
    case .quick:
      guard let pieces = PieceHash() else { return nil }
      self = .quick(pieces)
    case .strong: self = .strong(SHA256())
    }
  }

  package func add(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .quick(let pieces): pieces.add(bytes)
    case .strong(let hash): hash.add(bytes)
    }
  }

  package var content: PlanKey {
    switch self {
    case .quick(let pieces): pieces.planKey
    case .strong(let hash): hash.digest.high
    }
  }
}

extension Plan {
  package var contentHash: ContentHash { hasCaches ? .strong : .quick }
}
