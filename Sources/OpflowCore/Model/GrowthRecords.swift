/// Tasks that were added to the run, as a line of the journal tells of it.
package struct GrowthRecord: Sendable {
  package let entry: ExtendEntry
  /// The id of the task that added them, which the plan need not have by now; nil for somebody else.
  package let adder: String?
  let drive: Int
  /// Of the line.
  let milliseconds: Int64
}

/// What a journal tells of tasks that were added to the run.
struct GrowthRecords: Sendable {
  /// In their order.
  private(set) var all: [GrowthRecord] = []
  /// The orders that gave those which the run is without by now.
  private var dropped: Set<String> = []
  /// How many of them are of drives before the newest one.
  private var earlier = 0
  /// How many tasks the plan has by the last line that says so; nil where none does.
  private(set) var taskCount: Int?
  /// SEQ of that line.
  private var countSequence: UInt64 = 0

  mutating func note(_ entry: ExtendEntry, _ line: JournalLine, drive: Int) {
    all.append(
      GrowthRecord(
        entry: entry, adder: line.namedTask, drive: drive, milliseconds: line.milliseconds))
  }

  mutating func count(_ tasks: Int, _ line: JournalLine) {
    taskCount = tasks
    countSequence = line.sequence
  }

  mutating func beginDrive() { earlier = all.count }

  /// The run is without what these orders added.
  mutating func drop(_ ids: [String]) { dropped.formUnion(ids) }

  /// Those whose tasks the run has.
  var standing: [GrowthRecord] {
    dropped.isEmpty ? all : all.filter { !dropped.contains($0.entry.id.text) }
  }

  /// Whether lines are missing behind the last one that says how many tasks there are.
  func isBefore(_ gap: Range<UInt64>?) -> Bool {
    gap.map { $0.lowerBound > countSequence } ?? false
  }

  /// The tasks that were added in the newest drive, as far as the plan has them.
  func addedInDrive(_ plan: Plan) -> Range<Int> {
    guard earlier < all.count else { return plan.taskCount..<plan.taskCount }
    let first = all[earlier].entry
    return min(max(0, first.taskCount - first.added), plan.taskCount)..<plan.taskCount
  }
}

extension RunModel {
  /// What was added while the run went on, in its order.
  package var additions: [GrowthRecord] { growth.all }
  /// The same without those that a resume left out, for who gave them to give them anew.
  package var standingAdditions: [GrowthRecord] { growth.standing }
  package var extensions: [ExtendEntry] { growth.standing.map(\.entry) }
  /// How many tasks the plan has by the last line that says so; nil where none were ever added.
  package var taskCount: Int? { growth.taskCount }
  /// The tasks that were added in the newest drive, as far as the plan has them.
  func addedInDrive(_ plan: Plan) -> Range<Int> { growth.addedInDrive(plan) }
}
