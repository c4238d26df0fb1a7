import OpflowJournal
import OpflowPlan

extension SimulatedSession {
  /// What the machine's clock says when a drive begins.
  static let firstWallMilliseconds: Int64 = 1_700_000_000_000

  /// How the tasks enter the drive.
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
    /// Requests to the drive before that hold in this one.
    var standing = StandingRequests()
    var triesUsed: [TaskID: TriesUsed] = [:]
    var earlierRequests = RequestRecords()
    var held: [PassedOn] = []
    var growth: SimulatedGrowth?
    /// Of the run.
    var run: UInt64 = 0
    /// Something started in an earlier drive.
    var ranBefore = false
    /// Of the drive.
    var number: Int
  }
}
