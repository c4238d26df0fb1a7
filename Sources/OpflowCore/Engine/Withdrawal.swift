/// Tasks that a task added to the run, and that are no part of it any more: it is tried again, and says anew what is to be
/// added. What it adds then may have their ids, with the same definitions or with others.
///
/// States and races
/// ----------------
///
///     added ─► let go ─► renamed ─► journaled
///                └► kept
///
/// - *added*: they wait for the end of their adder, so that none begins before that. Where one has begun all the same
///   (after a failure, which an order then has tried again), where somebody has cancelled or skipped one, or something else
///   needs one of them, all stay as they are: what has the same definition then comes to nothing, and what has another one
///   is refused.
/// - *let go*: the adder starts (`Scheduler.start`), and the host is told so (`EngineStep.withdraw`) ahead of the line of
///   that start. Those that had an end (by their `if`, or for want of another need) are taken out of it, on lines with the names they
///   have. The order to start leaves when all of this is written: nothing of the new try comes before. Who dies here, and
///   anywhere below, leaves a run whose adder has no end: a resume leaves out what it added.
/// - *renamed*: the plan's file is another one, with names for them that nobody can declare (`PlanGrowth`). Who opened it
///   before goes on with what it has: numbers mean the same. Who compiles what is to be added against it finds their ids free.
/// - *journaled*: `withdraw`, and then a `skip` for each, by its new name. From there on readers open the plan anew.
/// - *kept*: the file could not be written. What had an end gets it once more.
package struct Withdrawal: Sendable, Equatable {
  package let entry: WithdrawEntry
  /// In their order.
  package let tasks: [Range<Int>]
  /// With the new names; nil where there is none.
  package var plan: Plan?

  package var numbers: some Sequence<Int> { tasks.joined() }

  package static func == (one: Withdrawal, other: Withdrawal) -> Bool {
    one.entry == other.entry && one.tasks == other.tasks && one.plan === other.plan
  }
}

/// What tasks added in this drive, by them.
struct OwnAdditions: Sendable {
  private var additions: [TaskID: [(order: OrderID, tasks: Range<Int>)]] = [:]
  /// Let go; the host has yet to say whether they have other names.
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
