package import OpflowJournal
package import OpflowPlan

/// Tasks that a generator added in an earlier attempt and that are retracted because it runs again.
/// It may then add the same IDs, with equal or different definitions.
///
///     added ─► let go ─► renamed ─► journaled
///                └► kept
///
/// - *added*: they wait for the end of their generator. If one has begun nevertheless (a request
///   retried a failure), was cancelled or skipped by a request, or is needed by others, all stay:
///   an equal definition then has no effect, and a different one is refused.
/// - *let go*: the generator starts (`Scheduler.start`). The caller gets `EngineStep.withdraw`
///   before the line of the start. Tasks that have ended (by `if`, or for another dependency) are
///   reopened by their old names. The start is sent after all this is written. After a crash from
///   here on, a resume leaves out what the unfinished generator added.
/// - *renamed*: the plan file was replaced by one with names that cannot be declared
///   (`PlanGrowth`). Readers of the old file go on: numbers are unchanged. New tasks find the IDs
///   free.
/// - *journaled*: `withdraw`, then a `skip` for each by its new name. Readers now reopen the plan.
/// - *kept*: the file could not be written. Tasks that had ended get their ends again.
package struct Withdrawal: Sendable, Equatable {
  package let entry: WithdrawEntry
  /// In order.
  package let tasks: [Range<Int>]
  /// Nil if it could not be written.
  package var plan: Plan?

  package var numbers: some Sequence<Int> { tasks.joined() }

  package static func == (one: Withdrawal, other: Withdrawal) -> Bool {
    one.entry == other.entry && one.tasks == other.tasks && one.plan === other.plan
  }
}

/// Tasks added in this session, by generator.
struct OwnAdditions: Sendable {
  private var additions: [TaskID: [(order: OrderID, tasks: Range<Int>)]] = [:]
  /// While the caller's answer is open.
  private var letGo: Set<Int32> = []

  var isEmpty: Bool { additions.isEmpty }

  mutating func note(_ entry: ExtendEntry) {
    additions[entry.adder, default: []].append(
      (entry.id, (entry.taskCount - entry.added)..<entry.taskCount))
  }

  func of(_ adder: TaskID) -> [(order: OrderID, tasks: Range<Int>)] { additions[adder] ?? [] }

  mutating func forget(_ adder: TaskID) { additions[adder] = nil }

  mutating func letGo(_ tasks: Set<Int32>) { letGo.formUnion(tasks) }
  mutating func noteAnswer(about tasks: some Sequence<Int>) {
    letGo.subtract(tasks.lazy.map { Int32(truncatingIfNeeded: $0) })
  }
  func isLetGo(_ task: TaskID) -> Bool { letGo.contains(task.rawValue) }
}
