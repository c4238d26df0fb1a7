/// Tasks that a generator added in an earlier attempt and that are retracted because it runs again.
/// What it adds then may have the same IDs, with equal or different definitions.
///
/// States and races
/// ----------------
///
///     added ─► let go ─► renamed ─► journaled
///                └► kept
///
/// - *added*: they wait for the end of their generator. If one has begun nevertheless (after a
///   failure that a request then retried), was cancelled or skipped by a request, or is needed by
///   other tasks, all stay. Adding an equal definition then has no effect, and a different one is
///   refused.
/// - *let go*: the generator starts (`Scheduler.start`), and the caller gets `EngineStep.withdraw`
///   before the line of the start. Tasks that have ended (by `if`, or for another dependency) are
///   reopened on lines with their old names. The start is sent after all this is written. After a
///   crash here or below, the generator has not ended, and a resume leaves out what it added.
/// - *renamed*: the plan file was replaced by one in which they have names that cannot be declared
///   (`PlanGrowth`). Readers of the old file go on: numbers are unchanged. New tasks find the IDs
///   free.
/// - *journaled*: `withdraw`, then a `skip` for each by its new name. Readers now reopen the plan.
/// - *kept*: the file could not be written. Tasks that had ended get their ends again.
package struct Withdrawal: Sendable, Equatable {
  package let entry: WithdrawEntry
  /// The added ranges, in order.
  package let tasks: [Range<Int>]
  /// The renamed plan; nil if it could not be written.
  package var plan: Plan?

  package var numbers: some Sequence<Int> { tasks.joined() }

  package static func == (one: Withdrawal, other: Withdrawal) -> Bool {
    one.entry == other.entry && one.tasks == other.tasks && one.plan === other.plan
  }
}

/// The tasks added in this session, by generator.
struct OwnAdditions: Sendable {
  private var additions: [TaskID: [(order: OrderID, tasks: Range<Int>)]] = [:]
  /// Tasks let go, while the caller's answer is open.
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
