package import OpflowBase

/// Asks whether a task is up to date by content.
package struct TaskCheck: Equatable, Sendable {
  package var task: TaskID
  /// Matches the answer to the request.
  package var serial: Int32
  /// Of arguments and of values that the task reads; nil if it has neither.
  package var with: UInt64?
  /// Of the current successes of its dependencies without declared outputs, except `skipped`.
  package var needs: UInt64
  /// Dependencies with `inputs` that `--skip` excludes; their last results may still be valid.
  package var skipped: [TaskID] = []
  /// As fits a message. Further ones count as having no result.
  package static let mostSkipped = 64
  /// By the user: the task is checked, then runs in any case.
  package var isAsked: Bool
  /// Counts finished and restored tasks: the worker caches the output of commands for the same
  /// count only.
  package var after: Int32

  /// Of an allowed failure in an earlier session that the task may keep.
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
  /// Since the success with this origin.
  case fresh(origin: UInt64)
  case stale(why: String)
  /// An input is missing or unreadable, so the task cannot start.
  case unfit(detail: String)
  /// The result could not be recorded, so the run stops.
  case unwritten(detail: String)
}

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

/// The expected result of an up-to-date check.
package enum FileForecast: Equatable, Sendable {
  /// Up to date, by the success with that origin number and those values.
  case fresh(origin: UInt64, [TaskValue])
  /// It runs or is restored; the reason is for people.
  case stale(why: String, isCached: Bool)
  /// A task that runs before it decides.
  case unsure
  /// It cannot start; the reason is for people.
  case unfit(detail: String)
}

package struct RunBefore {
  package let needs: [TaskID]
  /// Whether all of these may turn out up to date.
  package let isUnsure: Bool
  /// Whether it would have started, by task.
  let isStarted: [Bool]

  package init(needs: [TaskID], isUnsure: Bool, isStarted: [Bool]) {
    self.needs = needs
    self.isUnsure = isUnsure
    self.isStarted = isStarted
  }

  package func isStarted(_ task: TaskID) -> Bool { isStarted[task.index] }
}

/// By the files as they are now.
package typealias FileForesight = (_ check: TaskCheck, _ before: RunBefore) -> FileForecast

/// Identifies file contents, for all records of a plan.
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

/// The same for bytes in pieces.
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
