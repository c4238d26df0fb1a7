import OpflowBase
import OpflowPlan

/// A state folder's records of tasks that declare `inputs`, and an observer's knowledge of them.
struct SimulatedRecords {
  /// Everything that decides whether a task is up to date.
  struct Truth: Equatable {
    var fingerprint: UInt64
    var inputs: UInt64
    /// The dependencies whose values it reads.
    var reads: [String]
    /// For each dependency, the number of its success or failure, or its state.
    var needs: [String: Standing]
  }

  enum Standing: Equatable {
    case success(UInt64)
    case failure(UInt64)
    case ended(TaskState)
  }

  struct Record {
    /// The key that a check computes.
    var key: UInt64
    var origin: UInt64
    var truth: Truth
    /// Its values; nil if no task was to read them.
    var values: [TaskValue]?
    var isFailure = false
  }

  /// Records by name, kept until the task starts again.
  private(set) var kept: [String: Record] = [:]
  private var given: Set<UInt64> = []
  /// The keys of all successes by name.
  private var cached: [String: Set<UInt64>] = [:]

  /// The number of successes in other runs, which makes their numbers unique.
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

  /// Returns the success that a skipped task keeps.
  func lastSuccess(of task: TaskID, _ plan: Plan) -> UInt64? {
    guard plan.isChecked(task), let record = kept[plan.nameString(task)], !record.isFailure else {
      return nil
    }
    return record.origin
  }

  /// Returns the number of the task's last success, or 0.
  func origin(of name: String) -> UInt64 { kept[name]?.origin ?? 0 }

  mutating func void(_ name: String) { kept[name] = nil }

  mutating func write(_ record: Record, of name: String) {
    kept[name] = record
    if !record.isFailure { cached[name, default: []].insert(record.key) }
  }

  func hasCached(_ key: UInt64, of name: String) -> Bool { cached[name]?.contains(key) ?? false }

  /// Returns the task's record unless it lacks values that others read.
  func record(of task: TaskID, _ plan: Plan) -> Record? {
    guard let record = kept[plan.nameString(task)] else { return nil }
    let lacksValues =
      plan.flags(task).contains(.leavesValues) && record.values == nil && !record.isFailure
    return lacksValues ? nil : record
  }

  /// Checks that numbers of successes are unique.
  mutating func note(_ origin: UInt64) throws(Finding) {
    guard given.insert(origin).inserted else { throw Finding("two successes have one number") }
  }
}

extension SimulatedManifest.Task {
  /// True if it is checked before it starts. A `finally` task cannot have `inputs`.
  var mayBeChecked: Bool {
    isChecked && !isApproval && !isExternal && !isDownload
      && flags.isDisjoint(with: [.interactive, .finally])
  }
}
