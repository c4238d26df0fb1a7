import OpflowBase
import OpflowPlan

/// What a state folder has of tasks that declare `inputs`, and what an outside observer knows
/// beside that.
struct SimulatedRecords {
  /// What decides whether a task is up to date, as far as the one who runs it sees it.
  struct Truth: Equatable {
    var fingerprint: UInt64
    var inputs: UInt64
    /// The needs whose values it reads.
    var reads: [String]
    /// Of each need, by name: the number of its success or failure, or how it ended else.
    var needs: [String: Standing]
  }

  enum Standing: Equatable {
    case success(UInt64)
    case failure(UInt64)
    case ended(TaskState)
  }

  struct Record {
    /// As who checks it knows it.
    var key: UInt64
    var origin: UInt64
    var truth: Truth
    /// What it left for others; nil where nobody was to read that.
    var values: [TaskValue]?
    var isFailure = false
  }

  /// By name, of what succeeded last and was not started since.
  private(set) var kept: [String: Record] = [:]
  private var given: Set<UInt64> = []
  /// Keys of successes, by name, however long ago.
  private var cached: [String: Set<UInt64>] = [:]

  /// How many successes another run has written. Each has a number of its own.
  private var elsewhere: UInt64 = 0

  mutating func nextElsewhere() -> UInt64 {
    elsewhere += 1
    return elsewhere
  }

  /// - Parameter needs: `needs(of:_:)`
  static func key(_ check: TaskCheck, _ task: SimulatedManifest.Task, _ needs: UInt64) -> UInt64 {
    let words = [task.fingerprint.whole, task.inputs, check.with ?? 0, needs]
    return words.withUnsafeBytes { Hash.xxh3($0) }
  }

  func needs(of check: TaskCheck, _ plan: Plan) -> UInt64 {
    check.needs(in: plan) { lastSuccess(of: $0, plan) }
  }

  /// By which one that is skipped is as it was.
  func lastSuccess(of task: TaskID, _ plan: Plan) -> UInt64? {
    guard plan.isChecked(task), let record = kept[plan.nameString(task)], !record.isFailure else {
      return nil
    }
    return record.origin
  }

  /// The number of the success that is known of a task; 0 for none.
  func origin(of name: String) -> UInt64 { kept[name]?.origin ?? 0 }

  mutating func void(_ name: String) { kept[name] = nil }

  mutating func write(_ record: Record, of name: String) {
    kept[name] = record
    if !record.isFailure { cached[name, default: []].insert(record.key) }
  }

  func hasCached(_ key: UInt64, of name: String) -> Bool { cached[name]?.contains(key) ?? false }

  /// The record of a task, where that has what others are to read.
  func record(of task: TaskID, _ plan: Plan) -> Record? {
    guard let record = kept[plan.nameString(task)] else { return nil }
    let lacksValues =
      plan.flags(task).contains(.leavesValues) && record.values == nil && !record.isFailure
    return lacksValues ? nil : record
  }

  /// A success got that number.
  mutating func note(_ origin: UInt64) throws(Finding) {
    guard given.insert(origin).inserted else { throw Finding("two successes have one number") }
  }
}

extension SimulatedManifest.Task {
  /// Whether it is looked at before it starts. A `finally` task cannot have `inputs`.
  var mayBeChecked: Bool {
    isChecked && !isApproval && !isExternal && !isDownload
      && flags.isDisjoint(with: [.interactive, .finally])
  }
}
