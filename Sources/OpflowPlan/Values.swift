internal import OpflowBase

package struct TaskValue: Equatable, Sendable {
  package var name: String
  /// XXH3 of the value.
  package var hash: UInt64
  /// Set only if an `if` may read the value and it is short enough.
  package var text: [UInt8]?

  package init(name: String, hash: UInt64, text: [UInt8]? = nil) {
    self.name = name
    self.hash = hash
    self.text = text
  }

  package init(name: String, text: [UInt8], keepsText: Bool) {
    self.name = name
    hash = Hash.xxh3(text)
    self.text = keepsText && text.count <= ValueRules.longestConditionBytes ? text : nil
  }
}

package struct ValueSet: Equatable, Sendable {
  /// The attempt that set them; `ValueFolder.ofRecord` if restored from another run's record.
  package var attempt: Int32
  package var values: [TaskValue]

  package init(attempt: Int32, _ values: [TaskValue]) {
    self.attempt = attempt
    self.values = values
  }
}

package enum ValueRules {
  /// Per task.
  package static let mostValues = 100
  package static let longestBytes = 65_536
  /// Limits messages and journal lines.
  package static let longestNameBytes = 128
  /// Limits values for `if`, which the coordinator keeps in memory.
  package static let longestConditionBytes = 400

  package static func isName(_ name: some Collection<UInt8>) -> Bool {
    !name.isEmpty && name.count <= longestNameBytes && name.allSatisfy(isNamePart)
  }

  private static func isNamePart(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  package static func fault(in bytes: [UInt8]) -> String? {
    if bytes.contains(0) { return "it contains a NUL byte" }
    return String(validating: bytes, as: UTF8.self) == nil ? "it is not UTF-8" : nil
  }

  /// Removes one trailing newline (LF or CRLF), as `$(...)` does.
  package static func value(ofFile bytes: [UInt8]) -> [UInt8] {
    guard bytes.last == Field.lineFeed else { return bytes }
    let line = bytes.dropLast()
    return Array(line.last == Field.carriageReturn ? line.dropLast() : line)
  }
}

package enum ValueFolder {
  package static let name = "values"
  /// Shared by tasks whose values are never read.
  package static let unreadName = "unread"
  /// Replaces the attempt if the values were restored from a record.
  package static let ofRecord: Int32 = 0

  package static func name(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    "\(LogName.stem(of: task)).\(attempt)"
  }

  /// `STEM.ATTEMPT`, or `STEM.ATTEMPT~PID` as older versions named lost attempts.
  package static func isName(_ name: some BidirectionalCollection<UInt8>) -> Bool {
    guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else {
      return false
    }
    let numbers = name[name.index(after: dot)...].split(
      separator: UInt8(ascii: "~"), omittingEmptySubsequences: false)
    return numbers.count <= 2
      && numbers.allSatisfy { number in
        !number.isEmpty
          && number.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      }
  }

  /// The values of an attempt's dependencies.
  package static func needsName(of task: UnsafeRawBufferPointer, attempt: Int32) -> String {
    name(of: task, attempt: attempt) + ".needs"
  }
}

/// In a journal line: `NAME:HASH,NAME:HASH`.
package enum ValueList {
  package static func text(_ values: [TaskValue]) -> String {
    values.map { "\($0.name):\(Hexadecimal.text($0.hash))" }.joined(separator: ",")
  }

  package static func values(_ text: UnsafeRawBufferPointer) -> [TaskValue] {
    text.split(separator: UInt8(ascii: ",")).compactMap { part in
      guard let colon = part.firstIndex(of: UInt8(ascii: ":")), ValueRules.isName(part[..<colon]),
        part.count - (colon - part.startIndex) == 17,
        let hash = UInt64(String(decoding: part[(colon + 1)...], as: UTF8.self), radix: 16)
      else { return nil }
      return TaskValue(name: String(decoding: part[..<colon], as: UTF8.self), hash: hash)
    }
  }
}

/// A step of an expression that is evaluated when its task starts. Steps run on a stack, on which
/// one value remains (`Plan.evaluate`).
package struct LateStep: Hashable, Sendable, BitwiseCopyable {
  package enum Operation: UInt32, Sendable {
    /// Pushes `text`.
    case text
    /// Pushes the value `text` of the dependency `first`.
    case value
    /// Pushes `text` of `count` dependencies from `first` on, one per line, without missing values;
    /// all their values if `text` is empty.
    case values
    case equal, notEqual, matches, and, or, join
    case not
  }

  var code: UInt32
  /// An index into the task's dependencies.
  package var first: UInt32 = 0
  package var count: UInt32 = 0
  package var text = TextRef.empty

  package init(_ operation: Operation, text: TextRef = .empty, first: Int = 0, count: Int = 0) {
    code = operation.rawValue
    self.first = UInt32(truncatingIfNeeded: first)
    self.count = UInt32(truncatingIfNeeded: count)
    self.text = text
  }

  package var operation: Operation? { Operation(rawValue: code) }

  var operandCount: Int? {
    switch operation {
    case nil: nil
    case .text, .value, .values: 0
    case .equal, .notEqual, .matches, .and, .or, .join: 2
    case .not: 1
    }
  }
}

package struct LateItem: Hashable, Sendable, BitwiseCopyable {
  package enum Slot: UInt32, Sendable {
    /// The task's `if`, evaluated before all other items.
    case condition
    /// A variable in the task's own list.
    case environment
    case word
    case url
    case sha256
    /// All values of its dependencies.
    case folder
  }

  var code: UInt32
  package var position: UInt32
  /// Never the empty list.
  package var program: ListIndex

  package init(_ slot: Slot, position: Int = 0, program: ListIndex) {
    code = slot.rawValue
    self.position = UInt32(truncatingIfNeeded: position)
    self.program = program
  }

  package var slot: Slot? { Slot(rawValue: code) }
}

extension Plan {
  package func lateItems(_ task: TaskID) -> Column<LateItem> {
    let index = Int(record[task.index].late)
    return lateItems[Int(lateOffsets[index])..<Int(lateOffsets[index + 1])]
  }

  package var hasLateItems: Bool { !lateItems.isEmpty }

  package func steps(_ program: ListIndex) -> Column<LateStep> {
    stepItems[Int(stepOffsets[Int(program)])..<Int(stepOffsets[Int(program) + 1])]
  }

  package func lateCondition(_ task: TaskID) -> ListIndex? {
    lateItems(task).first { $0.slot == .condition }?.program
  }

  func sources(of step: LateStep, _ task: TaskID) -> [TaskID] {
    let start = needs(task).lowerBound + Int(step.first)
    let sources = (start..<(start + Int(step.count))).map { TaskID(needTargets[$0]) }
    if !hasMadeInstances { return sources }
    return sources.flatMap { instances(madeBy: $0)?.map { TaskID($0) } ?? [$0] }
  }

  package func valueSources(of task: TaskID) -> [TaskID] {
    var sources: [TaskID] = []
    var seen: Set<TaskID> = []
    for item in lateItems(task) {
      for step in steps(item.program) {
        for source in self.sources(of: step, task) where seen.insert(source).inserted {
          sources.append(source)
        }
      }
    }
    return sources
  }

  /// nil for all values.
  package func valueNames(readBy task: TaskID) -> Set<String>? {
    var names: Set<String> = []
    for item in lateItems(task) {
      if item.slot == .folder { return nil }
      for step in steps(item.program) where step.count > 0 { names.insert(string(step.text)) }
    }
    return names
  }
}

// MARK: - Validation

extension Plan {
  func validatePrograms() throws(PlanError) {
    for program in 1..<max(1, stepOffsets.count - 1) {
      try validate(program: ListIndex(truncatingIfNeeded: program))
    }
  }

  private func validate(program: ListIndex) throws(PlanError) {
    var depth = 0
    for step in steps(program) {
      guard let operands = step.operandCount, depth >= operands, isSound(step.text) else {
        throw .reference(.stepItems)
      }
      depth += 1 - operands
    }
    guard depth == 1 else { throw .reference(.stepItems) }
  }

  func validateLateItems(of task: TaskID) throws(PlanError) {
    let record = record(task)
    if record.late == 0 {
      if flags(task).contains(.lateCondition) { throw .reference(.taskFlags) }
      return
    }
    guard Int(record.late) + 1 < lateOffsets.count else { throw .reference(.taskRecord) }
    let items = try row(.lateOffsets, lateOffsets, Int(record.late), end: lateItems.count)
    var hasCondition = false
    var hasFolder = false
    for item in lateItems[items] {
      guard item.program != 0, Int(item.program) + 1 < stepOffsets.count else {
        throw .reference(.lateItems)
      }
      let steps = try row(.stepOffsets, stepOffsets, Int(item.program), end: stepItems.count)
      guard !steps.isEmpty else { throw .reference(.stepItems) }
      try validate(program: item.program)
      let position = Int(item.position)
      let isThere: Bool
      switch item.slot {
      case .condition:
        isThere = !hasCondition && position == 0
        hasCondition = true
      case .environment:
        isThere = position < variables(environmentEntry(record.environment).own).count
      case .word: isThere = position < words(task).count
      case .url, .sha256: isThere = kind(task) == .download && position == 0
      case .folder:
        isThere = !hasFolder && kind(task) != .download && position == 0
        hasFolder = true
      case nil: isThere = false
      }
      guard isThere else { throw .reference(.lateItems) }
      for step in stepItems[steps] {
        let needCount = needs(task).count + outerNeeds(task).count
        guard UInt64(step.first) + UInt64(step.count) <= UInt64(needCount) else {
          throw .reference(.stepItems)
        }
      }
    }
    guard flags(task).contains(.lateCondition) == hasCondition else {
      throw .reference(.taskFlags)
    }
  }
}

package enum LateResult: Equatable, Sendable {
  case text([UInt8])
  case lacking(MissingValue)
  case tooLong
}

package struct MissingValue: Equatable, Sendable {
  package var need: TaskID
  package var name: String
  package var isTooLong = false

  package func text(_ plan: Plan) -> String {
    let task = plan.nameString(need)
    let reference = "`needs.\(task).\(name)`"
    return isTooLong
      ? "\(reference) is longer than \(ValueRules.longestConditionBytes) bytes, the limit of `if`"
      : "\(reference) is missing: task `\(task)` did not set the value `\(name)`"
  }
}

package enum FoundValue: Equatable, Sendable {
  case text([UInt8])
  /// The task succeeded without setting the value.
  case absent
  case noSuccess
  case tooLong
}

extension Plan {
  /// In bytes, as for expressions in the compiler.
  private static var longestLateText: Int { 4 << 20 }

  /// Empty strings and `false` are false. A missing value is false to `||` and makes other results
  /// missing.
  package func evaluate<Failure: Error>(
    _ program: ListIndex, of task: TaskID,
    find: (TaskID, UnsafeRawBufferPointer) throws(Failure) -> FoundValue
  ) throws(Failure) -> LateResult {
    var stack: [LateResult] = []
    for step in steps(program) {
      switch step.operation {
      // Validation excludes unknown operations.
      case nil: return .text([])
      case .text: stack.append(.text(Array(text(step.text))))
      case .value, .values: stack.append(try read(step, of: task, find))
      case .not:
        guard let operand = stack.popLast() else { return .text([]) }
        stack.append(operand.text.map { Self.boolean(!Self.isTrue($0)) } ?? operand)
      case .equal, .notEqual, .matches, .and, .or, .join:
        guard let right = stack.popLast(), let left = stack.popLast(),
          let operation = step.operation
        else { return .text([]) }
        stack.append(Self.combine(operation, left, right))
      }
    }
    return stack.last ?? .text([])
  }

  private func read<Failure: Error>(
    _ step: LateStep, of task: TaskID,
    _ find: (TaskID, UnsafeRawBufferPointer) throws(Failure) -> FoundValue
  ) throws(Failure) -> LateResult {
    var lines: [UInt8]?
    var hasSuccess = false
    var missing = MissingValue(need: .none, name: string(step.text))
    let sources = sources(of: step, task)
    for source in sources {
      switch try find(source, text(step.text)) {
      case .text(let text):
        if lines != nil { lines?.append(Field.lineFeed) }
        lines = (lines ?? []) + text
        if (lines?.count ?? 0) > Self.longestLateText { return .tooLong }
      case .absent where makesInstances(source): break
      case .absent:
        if !hasSuccess { missing.need = source }
        hasSuccess = true
      case .noSuccess: if missing.need.isNone { missing.need = source }
      case .tooLong:
        missing.need = source
        missing.isTooLong = true
        return .lacking(missing)
      }
    }
    if let lines { return .text(lines) }
    // A matrix may give no lines. A missing name is reported only if a matrix task succeeded: the
    // name is probably misspelled.
    return !hasSuccess && sources.contains(where: isOfMatrixGroup) ? .text([]) : .lacking(missing)
  }

  /// A matrix task, or an empty matrix.
  private func isOfMatrixGroup(_ task: TaskID) -> Bool {
    flags(task).contains(.emptyMatrix) || matrixGroup(of: task) != nil
  }

  private static func combine(
    _ operation: LateStep.Operation, _ left: LateResult, _ right: LateResult
  ) -> LateResult {
    switch operation {
    case .or:
      if case .lacking(let missing) = left, !missing.isTooLong { return right }
      guard let text = left.text else { return left }
      return isTrue(text) ? left : right
    case .and:
      guard let text = left.text else { return left }
      return isTrue(text) ? right : left
    case .text, .value, .values, .not, .equal, .notEqual, .matches, .join: break
    }
    guard let first = left.text else { return left }
    guard let second = right.text else { return right }
    switch operation {
    case .equal: return boolean(first == second)
    case .notEqual: return boolean(first != second)
    case .matches:
      let glob = Glob(String(decoding: second, as: UTF8.self))
      return boolean(first.withUnsafeBytes { glob.matches($0) })
    case .join:
      return first.count + second.count > longestLateText ? .tooLong : .text(first + second)
    case .text, .value, .values, .not, .and, .or: return left
    }
  }

  static func isTrue(_ text: [UInt8]) -> Bool {
    !text.isEmpty && !text.elementsEqual("false".utf8)
  }

  private static func boolean(_ value: Bool) -> LateResult {
    .text(Array((value ? "true" : "false").utf8))
  }
}

extension LateResult {
  package var text: [UInt8]? {
    switch self {
    case .text(let text): text
    case .lacking, .tooLong: nil
    }
  }
}

package enum LateVerdict: Equatable, Sendable {
  case holds, fails
  case undecided(String)
}

extension Plan {
  /// `values` returns nil if the dependency did not succeed.
  package func verdict(
    of task: TaskID, _ condition: ListIndex, values: (TaskID) -> [TaskValue]?
  ) -> LateVerdict {
    let result = evaluate(condition, of: task) { need, name in
      guard let values = values(need) else { return .noSuccess }
      guard let value = values.first(where: { $0.name.utf8.elementsEqual(name) }) else {
        return .absent
      }
      return value.text.map { .text($0) } ?? .tooLong
    }
    switch result {
    case .text(let text): return Self.isTrue(text) ? .holds : .fails
    case .lacking(let missing): return .undecided(missing.text(self))
    case .tooLong:
      return .undecided("`if` is longer than \(Self.longestLateText >> 20) MiB with its values")
    }
  }

  /// A hash of the values that the task reads, and its arguments.
  package func valueDigest(
    of task: TaskID, arguments: [String] = [], values: (TaskID) -> [TaskValue]
  ) -> UInt64 {
    var hasher = FingerprintHasher()
    for argument in arguments { Array(argument.utf8).withUnsafeBytes { hasher.add($0) } }
    for item in lateItems(task) {
      for step in steps(item.program) {
        for source in sources(of: step, task) {
          if item.slot == .folder {
            let all = values(source)
            hasher.add(UInt64(all.count))
            for value in all {
              var name = value.name
              name.withUTF8 { hasher.add(UnsafeRawBufferPointer($0)) }
              hasher.add(value.hash)
            }
            continue
          }
          let name = text(step.text)
          let value = values(source).first { $0.name.utf8.elementsEqual(name) }
          hasher.add(name)
          hasher.add(value == nil ? 0 : 1)
          hasher.add(value?.hash ?? 0)
        }
      }
    }
    hasher.end(.values)
    return hasher.finish().whole
  }
}
