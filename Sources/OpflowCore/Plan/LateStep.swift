/// One step of an expression that is evaluated when its task starts, since it speaks of values that other
/// tasks leave. The steps of one expression are a list: each puts a value on a stack or takes some from
/// there, and one value is left in the end (`Plan.evaluate`).
package struct LateStep: Hashable, Sendable, BitwiseCopyable {
  package enum Operation: UInt32, Sendable {
    /// Puts `text` there.
    case text
    /// The value `text` of the task that the `first` need of the reader is.
    case value
    /// The same of as many needs from `first` on as `count` says: a line each, absent ones left out. Without
    /// a `text`, all that they left.
    case values
    /// Takes two and puts one there.
    case equal, notEqual, matches, and, or, join
    /// Takes one and puts one there.
    case not
  }

  /// The raw value of an `Operation`.
  var code: UInt32
  /// Counted from the reader's first need.
  package var first: UInt32 = 0
  package var count: UInt32 = 0
  package var text = TextRef.empty

  package init(_ operation: Operation, text: TextRef = .empty, first: Int = 0, count: Int = 0) {
    code = operation.rawValue
    self.first = UInt32(truncatingIfNeeded: first)
    self.count = UInt32(truncatingIfNeeded: count)
    self.text = text
  }

  /// Nil for a number that is none.
  package var operation: Operation? { Operation(rawValue: code) }

  /// How many values it takes.
  var operandCount: Int? {
    switch operation {
    case nil: nil
    case .text, .value, .values: 0
    case .equal, .notEqual, .matches, .and, .or, .join: 2
    case .not: 1
    }
  }
}

/// What of a task is evaluated when it starts.
package struct LateItem: Hashable, Sendable, BitwiseCopyable {
  package enum Slot: UInt32, Sendable {
    /// `if`; decided by the engine before anything else of the task.
    case condition
    /// A value of its environment list.
    case environment
    /// A word of its command.
    case word
    /// The first source of its download.
    case url
    case sha256
    /// The folder that holds all that its needs left.
    case folder
  }

  /// The raw value of a `Slot`.
  var code: UInt32
  /// Which one, of the environment and of the words.
  package var position: UInt32
  /// The number of a list of steps; never the empty one.
  package var program: ListIndex

  package init(_ slot: Slot, position: Int = 0, program: ListIndex) {
    code = slot.rawValue
    self.position = UInt32(truncatingIfNeeded: position)
    self.program = program
  }

  /// Nil for a number that is none.
  package var slot: Slot? { Slot(rawValue: code) }
}

extension Plan {
  /// What of a task is evaluated late; empty for most.
  package func lateItems(_ task: TaskID) -> Column<LateItem> {
    let index = Int(record[task.index].late)
    return lateItems[Int(lateOffsets[index])..<Int(lateOffsets[index + 1])]
  }

  /// Whether any task of the plan reads values of others.
  package var hasLateItems: Bool { !lateItems.isEmpty }

  package func steps(_ program: ListIndex) -> Column<LateStep> {
    stepItems[Int(stepOffsets[Int(program)])..<Int(stepOffsets[Int(program) + 1])]
  }

  /// The `if` of a task, where it is decided late.
  package func lateCondition(_ task: TaskID) -> ListIndex? {
    lateItems(task).first { $0.slot == .condition }?.program
  }

  /// The tasks whose values a step of that task reads, in the order of its needs.
  func sources(of step: LateStep, _ task: TaskID) -> [TaskID] {
    let start = needs(task).lowerBound + Int(step.first)
    let sources = (start..<(start + Int(step.count))).map { TaskID(needTargets[$0]) }
    if !hasMadeLegs { return sources }
    return sources.flatMap { legs(madeBy: $0)?.map { TaskID($0) } ?? [$0] }
  }

  /// The tasks whose values a task reads, each once.
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

  /// The names of the values that a task reads of others; nil where it finds all that they left.
  func valueNames(readBy task: TaskID) -> Set<String>? {
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
  /// Every program leaves one value, and refers to texts that are there.
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

  /// Whether what the task evaluates late is there, and fits what it has and needs.
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
        // A task that needs nothing can read nothing.
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
