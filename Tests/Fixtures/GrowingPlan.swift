package import OpflowJournal
package import OpflowPlan
import Synchronization

/// The plan of a run that grows, like its file in the run's folder.
final package class GrowingPlan: Sendable {
  /// The tasks that the run began with.
  package let first: Plan
  private let file: Mutex<[UInt8]>

  package init(_ first: Plan) {
    self.first = first
    file = Mutex(first.copyOfBytes)
  }

  /// Adds a segment to the file, before the journal line that makes it count.
  package func add(_ segment: Plan) throws -> Plan {
    let growth = try PlanGrowth(of: open(), by: segment)
    file.withLock { $0 = growth.applied(to: $0) }
    return try open()
  }

  /// Renames retracted tasks, in a new file.
  package func retract(_ tasks: Range<Int>, attempt: Int32) throws -> Plan {
    let growth = try PlanGrowth(of: open(), retracting: tasks, attempt: attempt)
    file.withLock { $0 = growth.applied(to: []) }
    return try open()
  }

  /// Rebuilds the file like a resume: the first tasks, and the segments that the journal has.
  package func replace(_ segments: [Plan]) throws -> Plan {
    file.withLock { $0 = first.copyOfBytes }
    for segment in segments { _ = try add(segment) }
    return try open()
  }

  /// Opens the plan with this many tasks; nil for all.
  package func open(_ taskCount: Int? = nil) throws -> Plan {
    let bytes = file.withLock { $0 }
    let plan = try Plan(copying: bytes, limit: taskCount)
    try plan.validate()
    return plan
  }

  /// Opens the plan like a reader of the run.
  package func open(toldBy journal: some Collection<UInt8>) throws -> Plan {
    let told = Array(journal).withUnsafeBytes { JournalReader.taskCount(atEndOf: $0) }
    return try open(min(told ?? first.taskCount, open().taskCount))
  }

  /// Opens the plan like a follower of the journal.
  package var grown: JournalFollower.GrownPlan {
    { [self] count, _ in
      guard let plan = try? open(), plan.taskCount >= count else { return nil }
      return try? open(count)
    }
  }
}
