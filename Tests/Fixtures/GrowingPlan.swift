package import OpflowJournal
package import OpflowPlan
import Synchronization

/// The plan of a run to which tasks are added, as its file stands in the run's folder.
final package class GrowingPlan: Sendable {
  /// The tasks that the run began with.
  package let first: Plan
  private let file: Mutex<[UInt8]>

  package init(_ first: Plan) {
    self.first = first
    file = Mutex(first.copyOfBytes)
  }

  /// What is added to the file: before the line by which it counts.
  package func add(_ segment: Plan) throws -> Plan {
    let growth = try PlanGrowth(of: open(), by: segment)
    file.withLock { $0 = growth.applied(to: $0) }
    return try open()
  }

  /// Gives tasks of it other names, in another file.
  package func retract(_ tasks: Range<Int>, attempt: Int32) throws -> Plan {
    let growth = try PlanGrowth(of: open(), retracting: tasks, attempt: attempt)
    file.withLock { $0 = growth.applied(to: []) }
    return try open()
  }

  /// What a resume makes of it: the first tasks, and of those that were added as many as are told
  /// of.
  package func replace(_ segments: [Plan]) throws -> Plan {
    file.withLock { $0 = first.copyOfBytes }
    for segment in segments { _ = try add(segment) }
    return try open()
  }

  /// With so many tasks of those that it has; nil for all.
  package func open(_ taskCount: Int? = nil) throws -> Plan {
    let bytes = file.withLock { $0 }
    let plan = try Plan(copying: bytes, limit: taskCount)
    try plan.validate()
    return plan
  }

  /// As whoever looks at the run opens it.
  package func open(toldBy journal: some Collection<UInt8>) throws -> Plan {
    let told = Array(journal).withUnsafeBytes { JournalReader.taskCount(atEndOf: $0) }
    return try open(min(told ?? first.taskCount, open().taskCount))
  }

  /// As a follower does it.
  package var grown: JournalFollower.GrownPlan {
    { [self] count, _ in
      guard let plan = try? open(), plan.taskCount >= count else { return nil }
      return try? open(count)
    }
  }
}
