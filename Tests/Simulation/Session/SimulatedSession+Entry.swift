import OpflowJournal
import OpflowPlan

extension SimulatedSession {
  /// The wall clock at the start of a session.
  static let firstWallMilliseconds: Int64 = 1_700_000_000_000

  /// The state of all tasks when a session starts.
  struct Entry {
    var initial: [InitialState]
    var attempts: [Int32]
    var owesFinally: Bool
    var values: [TaskID: ValueSet]
    var priorities: [TaskID: Int16]
    var requests: [RequestID: Int]
    var approved: Set<TaskID>
    var results: [TaskID: EarlierResult]
    var origins: [TaskID: UInt64]
    var asked: TaskSet?
    /// Requests to the last session that still hold.
    var standing = StandingRequests()
    var triesUsed: [TaskID: TriesUsed] = [:]
    var earlierRequests = RequestRecords()
    var held: [PassedOn] = []
    var growth: SimulatedGrowth?
    /// The number of the run.
    var run: UInt64 = 0
    /// A task started in an earlier session.
    var ranBefore = false
    /// The number of the session.
    var number: Int
  }
}
