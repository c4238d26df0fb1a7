/// A step of an expression that is evaluated when its task starts. Steps run on a stack, on which
/// one value remains (`Plan.evaluate`).
package struct LateStep: Hashable, Sendable, BitwiseCopyable {
  package enum Operation: UInt32, Sendable {
    /// Pushes `text`.
    case text
    /// Pushes the value `text` of the dependency `first`.
    case value
    /// Pushes `text` of `count` dependencies from `first` on, one per line, missing ones omitted;
    /// all their values if `text` is empty.
    case values
    case equal, notEqual, matches, and, or, join
    case not
  }

  var code: UInt32
  /// Into the task's dependencies.
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
    /// In its own environment list.
    case environment
    case word
    /// The first source of a download.
    case url
    case sha256
    /// With all values of its dependencies.
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

  /// If it is evaluated late.
  package func lateCondition(_ task: TaskID) -> ListIndex? {
    lateItems(task).first { $0.slot == .condition }?.program
  }

  func sources(of step: LateStep, _ task: TaskID) -> [TaskID] {
    let start = needs(task).lowerBound + Int(step.first)
    let sources = (start..<(start + Int(step.count))).map { TaskID(needTargets[$0]) }
    if !hasMadeLegs { return sources }
    return sources.flatMap { legs(madeBy: $0)?.map { TaskID($0) } ?? [$0] }
  }

  /// Without duplicates.
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

  /// Nil if the task gets all values of its dependencies.
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
  /// Every program leaves one value and refers to existing strings.
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

  /// Late items refer to existing parts and dependencies of the task.
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
