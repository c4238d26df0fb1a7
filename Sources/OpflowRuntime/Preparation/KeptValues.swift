internal import OpflowBase
internal import OpflowJournal
internal import OpflowPlan
internal import OpflowSystem
internal import OpflowWorker

/// The values that tasks left in earlier sessions. The journal has only their hashes: the files are
/// not synced, so a power failure may have destroyed them.
struct KeptValues {
  private let plan: Plan
  private let folder: RunFolder
  private let left: [TaskID: ValueSet]
  private let isDone: (TaskID) -> Bool

  init(_ folder: RunFolder, _ plan: Plan, _ history: RunModel) {
    self.plan = plan
    self.folder = folder
    left = history.values.left
    isDone = { history[$0].state.holdsValues }
  }

  /// With the strings that an `if` may read, as far as they exist.
  func withTexts() -> [TaskID: ValueSet] {
    var values = left
    for task in left.keys where plan.flags(task).contains(.decidesOthers) {
      guard let set = left[task] else { continue }
      values[task]?.values = set.values.compactMap { value in
        read(value, of: task, set.attempt).map {
          TaskValue(name: value.name, text: $0, keepsText: true)
        }
      }
    }
    return values
  }

  func areThere(_ task: TaskID) -> Bool {
    guard let set = left[task] else { return true }
    return set.values.allSatisfy { read($0, of: task, set.attempt) != nil }
  }

  /// Removes values of unsuccessful attempts that were not removed at their end.
  func removeOthers() -> Errno? {
    let names = left.filter { plan.flags($0.key).contains(.leavesValues) && isDone($0.key) }
      .map { ValueFolder.name(of: plan.nameBytes($0.key), attempt: $0.value.attempt) }
    do throws(Errno) {
      try LeftValues(folder: folder.values).removeAll(but: Set(names))
      return nil
    } catch {
      return error
    }
  }

  private func read(
    _ value: TaskValue, of task: TaskID, _ attempt: Int32
  ) -> [UInt8]? {
    let name = ValueFolder.name(of: plan.nameBytes(task), attempt: attempt)
    let path = "\(folder.values)/\(name)/\(value.name)"
    guard let file = try? File.openRegular(path, .readOnly),
      let bytes = try? file.readAll(atMost: ValueRules.longestBytes + 2)
    else { return nil }
    let text = ValueRules.value(ofFile: bytes)
    return Hash.xxh3(text) == value.hash ? text : nil
  }
}
