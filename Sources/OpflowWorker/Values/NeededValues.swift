internal import OpflowBase
package import OpflowPlan
internal import OpflowSystem
package import OpflowWire

/// The values that a task reads, filled in when it starts.
package struct LateValues {
  /// By index in the task's environment list.
  package var environment: [Int: [UInt8]] = [:]
  package var words: [Int: [UInt8]] = [:]
  package var url: String?
  package var sha256: String?
  /// All values of its dependencies as files.
  package var wantsFolder = false
}

/// The values that tasks may read, as the coordinator reported them.
package struct NeededValues {
  private let plans: WorkerPlan
  private var plan: Plan { plans.current }
  private let folder: String
  /// The attempt that left them, and hashes by name.
  private var left: [TaskID: (attempt: Int32, hashes: [String: UInt64])] = [:]

  package init(_ plans: WorkerPlan, runFolder: String) {
    self.plans = plans
    folder = runFolder + "/" + ValueFolder.name
  }

  package mutating func note(_ message: WorkerMessage) {
    if case .values(let task, let attempt) = message {
      left[task] = attempt.map { ($0, [:]) }
    }
    if case .value(let task, let name, let hash) = message { left[task]?.hashes[name] = hash }
  }

  /// nil if the task reads none.
  package func late(of task: TaskID) throws(ValueFault) -> LateValues? {
    guard plan.flags(task).contains(.readsValues) else { return nil }
    var late = LateValues()
    for item in plan.lateItems(task) {
      guard let slot = item.slot else { continue }
      func text() throws(ValueFault) -> [UInt8] { try evaluate(item.program, of: task) }
      switch slot {
      // Evaluated by the coordinator.
      case .condition: break
      case .environment: late.environment[Int(item.position)] = try text()
      case .word: late.words[Int(item.position)] = try text()
      case .url: late.url = String(decoding: try text(), as: UTF8.self)
      case .sha256: late.sha256 = try Self.hash(text())
      case .folder: late.wantsFolder = true
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
    case .lacking(let missing): throw ValueFault(detail: missing.text(plan))
    case .tooLong: throw ValueFault(detail: "a string with values filled in is longer than 4 MiB")
    }
  }

  private func find(_ name: String, of need: TaskID) throws(ValueFault) -> FoundValue {
    guard let left = left[need] else { return .noSuccess }
    guard let hash = left.hashes[name] else { return .absent }
    return .text(ValueRules.value(ofFile: try read(name, of: need, left.attempt, hash)))
  }

  private func path(_ name: String, of need: TaskID, _ attempt: Int32) -> String {
    "\(folder)/\(ValueFolder.name(of: plan.nameBytes(need), attempt: attempt))/\(name)"
  }

  /// All values that a task reads.
  func files(readBy task: TaskID) -> [String] {
    guard plan.flags(task).contains(.readsValues) else { return [] }
    return plan.valueSources(of: task).flatMap { need in
      (left[need]?.hashes.keys.sorted() ?? []).map { path($0, of: need, left[need]?.attempt ?? 0) }
    }
  }

  /// Throws if the value differs from the hash in the journal.
  private func read(
    _ name: String, of need: TaskID, _ attempt: Int32, _ hash: UInt64
  ) throws(ValueFault) -> [UInt8] {
    let path = path(name, of: need, attempt)
    let bytes: [UInt8]
    do throws(Errno) {
      let file = try File.openRegular(path, .readOnly)
      bytes = try file.readAll(atMost: ValueRules.longestBytes + 2)
    } catch {
      throw ValueFault(detail: "cannot read `needs.\(plan.nameString(need)).\(name)`: \(error)")
    }
    guard Hash.xxh3(ValueRules.value(ofFile: bytes)) == hash else {
      throw ValueFault(
        detail: "`needs.\(plan.nameString(need)).\(name)` is not what the task left: \(path) was"
          + " changed later")
    }
    return bytes
  }

  /// Copies the values of a task's dependencies, so that the task may change them: `ID/NAME`, or
  /// `ID/NAME/INSTANCE` for matrix tasks. Returns the path.
  func makeFolder(for task: TaskID, attempt: Int32) throws(ValueFault) -> String {
    let name = ValueFolder.needsName(of: plan.nameBytes(task), attempt: attempt)
    let path = "\(folder)/\(name)"
    do throws(ValueFault) {
      try make(path, name)
      var made: Set<String> = []
      for need in plan.valueSources(of: task) {
        guard let left = left[need] else { continue }
        let matrixGroup = plan.matrixGroup(of: need)
        let id =
          matrixGroup.map { Array(plan.matrixGroupName($0).utf8) } ?? Array(plan.nameBytes(need))
        let own = "\(path)/\(LogName.stem(of: id))"
        for (name, hash) in left.hashes.sorted(by: { $0.key < $1.key }) {
          let bytes = try read(name, of: need, left.attempt, hash)
          var folders = [own]
          if matrixGroup != nil { folders.append("\(own)/\(name)") }
          try Self.making { () throws(Errno) in
            for folder in folders where made.insert(folder).inserted {
              try Path.makeDirectory(folder)
            }
            let target =
              matrixGroup == nil
              ? "\(own)/\(name)" : "\(own)/\(name)/\(instance(need, idBytes: id.count))"
            try File.open(target, [.writeOnly, .create, .exclusive], mode: 0o600).writeAll(bytes)
          }
        }
      }
      return path
    } catch {
      try? Path.removeTree(name, in: folder)
      throw error
    }
  }

  private func make(_ path: String, _ name: String) throws(ValueFault) {
    try Self.making { () throws(Errno) in
      // An unrecorded attempt with the same number may have left it.
      try Path.removeTree(name, in: folder)
      try Path.makeDirectories(path, mode: 0o700)
    }
  }

  private static func making(_ body: () throws(Errno) -> Void) throws(ValueFault) {
    do throws(Errno) {
      try body()
    } catch {
      throw ValueFault(detail: "cannot create $OPFLOW_NEEDS: \(error)")
    }
  }

  func removeFolder(of task: TaskID, attempt: Int32) throws(Errno) {
    try Path.removeTree(
      ValueFolder.needsName(of: plan.nameBytes(task), attempt: attempt), in: folder)
  }

  /// The part of a matrix task's ID in brackets, which already has most bytes as `%XX`.
  private func instance(_ task: TaskID, idBytes: Int) -> String {
    let values = plan.nameBytes(task).dropFirst(idBytes + 1).dropLast()
    return LogName.stem(of: values, keeping: [UInt8(ascii: ","), UInt8(ascii: "%")])
  }

  private static func hash(_ text: [UInt8]) throws(ValueFault) -> String {
    let hash = String(decoding: text, as: UTF8.self).lowercased()
    let isHash =
      hash.utf8.count == 64
      && hash.utf8.allSatisfy { (48...57).contains($0) || (97...102).contains($0) }
    if isHash { return hash }
    throw ValueFault(
      detail: "`sha256` must have 64 hexadecimal digits; its expression has another result")
  }
}
