internal import OpflowBase

/// The result of an expression that reads values of other tasks.
package enum LateResult: Equatable, Sendable {
  case text([UInt8])
  case lacking(MissingValue)
  case tooLong
}

package struct MissingValue: Equatable, Sendable {
  package var need: TaskID
  package var name: String
  /// For an `if`.
  package var isTooLong = false

  package func text(_ plan: Plan) -> String {
    let task = plan.nameString(need)
    let reference = "`needs.\(task).\(name)`"
    return isTooLong
      ? "\(reference) is longer than the \(ValueRules.longestConditionBytes) bytes that `if` takes"
      : "\(reference) is missing: task \(task) left no value \(name)"
  }
}

package enum FoundValue: Equatable, Sendable {
  case text([UInt8])
  /// The task succeeded without setting the value.
  case absent
  /// So the task has no values.
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
    // A matrix may give no lines. A missing name is reported only if a matrix task succeeded: it is
    // probably misspelled.
    return !hasSuccess && sources.contains(where: isOfFamily) ? .text([]) : .lacking(missing)
  }

  /// A matrix task, or an empty matrix.
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
  /// - Parameter values: the values of a dependency; nil if it did not succeed.
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

  /// A hash of what else determines the task's result: the values that it reads, and its arguments.
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
