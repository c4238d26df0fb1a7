package import OpflowCore
internal import OpflowSystem

/// What a task reads of others, filled in as it starts.
package struct LateValues {
  /// By place in the task's environment list, and in its words.
  package var environment: [Int: [UInt8]] = [:]
  package var words: [Int: [UInt8]] = [:]
  package var url: String?
  package var sha256: String?
  /// It finds all that its needs left as files.
  package var wantsFolder = false
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
      guard let slot = item.slot else { continue }
      func text() throws(ValueFault) -> [UInt8] { try evaluate(item.program, of: task) }
      switch slot {
      // The coordinator has decided it.
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
    case .lacking(let missing): throw ValueFault(what: missing.text(plan))
    case .tooLong: throw ValueFault(what: "a text that values are filled in grows beyond 4 MiB")
    }
  }

  private func find(_ name: String, of need: TaskID) throws(ValueFault) -> FoundValue {
    guard let attempt = attempts[need], attempt > 0 else { return .noSuccess }
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

  /// Makes the folder in which a task finds all that its needs left: `ID/NAME`, and `ID/NAME/LEG` of the
  /// legs of a family. They are copies: what the task does to them changes no value.
  ///
  /// - Returns: its path.
  func makeFolder(for task: TaskID, attempt: Int32) throws(ValueFault) -> String {
    let name = ValueFolder.needsName(of: plan.nameBytes(task), attempt: attempt)
    let path = "\(folder)/\(name)"
    do throws(Errno) {
      // One of a try whose line is lost, which had the number too, and that of no value at all.
      try Path.removeTree(name, in: folder)
      try Path.makeDirectories(path, mode: 0o700)
      var made: Set<String> = []
      func make(_ folder: String) throws(Errno) {
        if made.insert(folder).inserted { try Path.makeDirectory(folder) }
      }
      for need in plan.valueSources(of: task) {
        guard let attempt = attempts[need], attempt > 0 else { continue }
        let place = "\(folder)/\(ValueFolder.name(of: plan.nameBytes(need), attempt: attempt))"
        let family = plan.family(of: need)
        let id = family.map { Array(plan.familyName($0).utf8) } ?? Array(plan.nameBytes(need))
        let own = "\(path)/\(LogName.stem(of: id))"
        for name in try names(in: place) {
          try make(own)
          var target = "\(own)/\(name)"
          if family != nil {
            try make(target)
            target += "/\(leg(need, familyBytes: id.count))"
          }
          let source = try File.open("\(place)/\(name)", [.readOnly, .noFollow, .nonblocking])
          let bytes = try source.readAll(atMost: ValueRules.longestBytes + 2)
          try File.open(target, [.writeOnly, .create, .exclusive], mode: 0o600).writeAll(bytes)
        }
      }
      return path
    } catch {
      try? Path.removeTree(name, in: folder)
      throw ValueFault(what: "cannot make $OPFLOW_NEEDS: \(error)")
    }
  }

  /// Removes what `makeFolder` made, and what the task made of it.
  func removeFolder(of task: TaskID, attempt: Int32) throws(Errno) {
    try Path.removeTree(
      ValueFolder.needsName(of: plan.nameBytes(task), attempt: attempt), in: folder)
  }

  private func names(in place: String) throws(Errno) -> [String] {
    do throws(Errno) {
      return try Path.names(in: place).filter { ValueRules.isName($0.utf8) }
    } catch .noSuchFile {
      // A download, or a task of an earlier drive that had no folder of its own.
      return []
    }
  }

  /// What stands between the brackets of a leg's id, in which `%XX` stands for most bytes already.
  private func leg(_ task: TaskID, familyBytes: Int) -> String {
    let values = plan.nameBytes(task).dropFirst(familyBytes + 1).dropLast()
    return LogName.stem(of: values, keeping: [UInt8(ascii: ","), UInt8(ascii: "%")])
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
