/// What came of an expression that reads values of other tasks.
package enum LateResult: Equatable, Sendable {
  case text([UInt8])
  /// It needs a value that is not there.
  case lacking(MissingValue)
  /// Longer than any text may be.
  case tooLong
}

/// A value that was to be read and could not be.
package struct MissingValue: Equatable, Sendable {
  package var need: TaskID
  package var name: String
  /// It is there, and an `if` takes none of that length.
  package var isTooLong = false

  /// For a person: both are named.
  package func text(_ plan: Plan) -> String {
    let task = plan.nameString(need)
    let reference = "`needs.\(task).\(name)`"
    return isTooLong
      ? "\(reference) is longer than the \(ValueRules.longestConditionBytes) bytes that `if` takes"
      : "\(reference) is missing: task \(task) left no value \(name)"
  }
}

/// What is found where a value is looked for.
package enum FoundValue: Equatable, Sendable {
  case text([UInt8])
  /// The task succeeded, and left none of that name.
  case absent
  /// The task did not succeed, and so left nothing.
  case noSuccess
  case tooLong
}

extension Plan {
  /// Bytes that one text may grow to, as in expressions that are evaluated early.
  private static var longestLateText: Int { 4 << 20 }

  /// Evaluates an expression of a task. Empty and `false` are false; a missing value is false to `||`,
  /// and makes missing what is made of it otherwise.
  ///
  /// - Parameter find: looks for a value of a task by its name.
  package func evaluate<Failure: Error>(
    _ program: ListIndex, of task: TaskID,
    find: (TaskID, UnsafeRawBufferPointer) throws(Failure) -> FoundValue
  ) throws(Failure) -> LateResult {
    var stack: [LateResult] = []
    for step in steps(program) {
      switch step.operation {
      // Validation has found none.
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
      case .absent where makesLegs(source): break
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
    // Of a family as many lines as there are; a name that is misspelt shows where a leg succeeded.
    return !hasSuccess && sources.contains(where: isOfFamily) ? .text([]) : .lacking(missing)
  }

  /// Whether it is a leg, or stands for a family that has none.
  private func isOfFamily(_ task: TaskID) -> Bool {
    flags(task).contains(.emptyMatrix) || family(of: task) != nil
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
  /// Nil where there is none.
  package var text: [UInt8]? {
    switch self {
    case .text(let text): text
    case .lacking, .tooLong: nil
    }
  }
}

/// What a late `if` came to.
package enum LateVerdict: Equatable, Sendable {
  case holds, fails
  /// It cannot be told, for that reason.
  case undecided(String)
}

extension Plan {
  /// What the late `if` of a task comes to.
  ///
  /// - Parameter values: of a task that it needs; nil where that did not succeed.
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
    case .tooLong: return .undecided("`if` grows beyond \(Self.longestLateText >> 20) MiB")
    }
  }

  /// A hash of the values that a task reads and of its arguments: of others its result would be another,
  /// too.
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
