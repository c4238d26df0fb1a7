internal import OpflowPlan

package struct GrowthRecord: Sendable {
  package let entry: ExtendEntry
  /// The generator, which the plan may lack by now; nil if no task added the tasks.
  package let adder: String?
  package let drive: Int
  package let milliseconds: Int64
}

struct GrowthRecords: Sendable {
  private(set) var all: [GrowthRecord] = []
  /// Requests whose tasks have left the run.
  private var dropped: Set<String> = []
  private var earlier = 0
  /// Of the plan, by the last line that tells it.
  private(set) var taskCount: Int?
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

  mutating func drop(_ ids: [String]) { dropped.formUnion(ids) }

  var standing: [GrowthRecord] {
    dropped.isEmpty ? all : all.filter { !dropped.contains($0.entry.id.text) }
  }

  /// Lines are missing after the last one that tells `taskCount`.
  func isBefore(_ gap: Range<UInt64>?) -> Bool {
    gap.map { $0.lowerBound > countSequence } ?? false
  }

  func addedInDrive(_ plan: Plan) -> Range<Int> {
    guard earlier < all.count else { return plan.taskCount..<plan.taskCount }
    let first = all[earlier].entry
    return min(max(0, first.taskCount - first.added), plan.taskCount)..<plan.taskCount
  }
}

extension RunModel {
  package var additions: [GrowthRecord] { growth.all }
  /// Without dropped ones, whose generator adds them again.
  package var standingAdditions: [GrowthRecord] { growth.standing }
  package var extensions: [ExtendEntry] { growth.standing.map(\.entry) }
  /// Of the plan, by the last line that tells it; nil if none were added.
  package var taskCount: Int? { growth.taskCount }
  func addedInDrive(_ plan: Plan) -> Range<Int> { growth.addedInDrive(plan) }
}
