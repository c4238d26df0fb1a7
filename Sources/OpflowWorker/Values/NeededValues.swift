package import OpflowCore
internal import OpflowSystem

/// What a task reads of others, filled in as it starts.
package struct LateValues {
  /// By place in the task's environment list, and in its words.
  package var environment: [Int: [UInt8]] = [:]
  package var words: [Int: [UInt8]] = [:]
  package var url: String?
  package var sha256: String?
}

/// The values that tasks read, as the coordinator tells whose.
package struct NeededValues {
  private let plan: Plan
  private let folder: String
  /// By task: the try whose values hold; 0 for none.
  private var attempts: [TaskID: Int32] = [:]

  package init(plan: Plan, runFolder: String) {
    self.plan = plan
    folder = runFolder + "/" + ValueFolder.name
  }

  /// The values of a task are those of that try; 0: it has none.
  package mutating func note(_ task: TaskID, attempt: Int32) { attempts[task] = attempt }

  /// What a task reads; nil for one that reads nothing.
  package func late(of task: TaskID) throws(ValueFault) -> LateValues? {
    guard plan.flags(task).contains(.readsValues) else { return nil }
    var late = LateValues()
    for item in plan.lateItems(task) {
      guard let slot = item.slot, slot != .condition else { continue }
      let text = try evaluate(item.program, of: task)
      switch slot {
      // The coordinator has decided it.
      case .condition: break
      case .environment: late.environment[Int(item.position)] = text
      case .word: late.words[Int(item.position)] = text
      case .url: late.url = String(decoding: text, as: UTF8.self)
      case .sha256: late.sha256 = try Self.hash(text)
      }
    }
    return late
  }

  private func evaluate(_ program: ListIndex, of task: TaskID) throws(ValueFault) -> [UInt8] {
    let result = try plan.evaluate(program, of: task) { need, name throws(ValueFault) in
      try find(String(decoding: name, as: UTF8.self), of: need)
    }
    switch result {
    case .text(let text): return text
    case .lacking(let missing): throw ValueFault(what: missing.text(plan))
    case .tooLong: throw ValueFault(what: "a text that values are filled in grows beyond 4 MiB")
    }
  }

  private func find(_ name: String, of need: TaskID) throws(ValueFault) -> FoundValue {
    guard let attempt = attempts[need], attempt > 0 else { return .absent }
    let stem = ValueFolder.name(of: plan.nameBytes(need), attempt: attempt)
    do throws(Errno) {
      let file = try File.open(
        "\(folder)/\(stem)/\(name)", [.readOnly, .noFollow, .nonblocking])
      let bytes = try file.readAll(atMost: ValueRules.longestBytes + 2)
      return .text(ValueRules.value(ofFile: bytes))
    } catch .noSuchFile {
      return .absent
    } catch {
      throw ValueFault(
        what: "cannot read `needs.\(plan.nameString(need)).\(name)`: \(error)")
    }
  }

  /// A hash as a download takes it.
  private static func hash(_ text: [UInt8]) throws(ValueFault) -> String {
    let hash = String(decoding: text, as: UTF8.self).lowercased()
    let isHash =
      hash.utf8.count == 64
      && hash.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    if isHash { return hash }
    throw ValueFault(what: "`sha256` must be 64 hexadecimal digits, and came out as something else")
  }
}
