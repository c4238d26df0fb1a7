internal import OpflowPlan

/// The tasks in declaration order, with matrices expanded. The run's tasks follow, from number
/// `count` on.
struct TaskList {
  let declared: TaskDeclarations
  private(set) var run: RunTasks?
  private(set) var families: [Family] = []
  /// For each declaration, the index of its matrix or -1. Empty without matrices; tasks and
  /// declarations then have the same numbers.
  private var familyNumbers: [Int32] = []
  /// For each declaration its first task, then the number of tasks.
  private var firstTasks: [Int32] = []

  init(_ declared: TaskDeclarations) { self.declared = declared }

  init(
    _ declared: TaskDeclarations, families: [(declaration: Int, family: Family)],
    run: RunTasks? = nil
  ) {
    self.declared = declared
    self.run = run
    if families.isEmpty { return }
    familyNumbers = [Int32](repeating: -1, count: declared.count)
    for (number, (declaration, family)) in families.enumerated() {
      familyNumbers[declaration] = Int32(truncatingIfNeeded: number)
      self.families.append(family)
    }
    firstTasks.reserveCapacity(declared.count + 1)
    var first = 0
    for declaration in 0..<declared.count {
      firstTasks.append(Int32(truncatingIfNeeded: first))
      first += family(of: declaration)?.taskCount ?? 1
    }
    firstTasks.append(Int32(truncatingIfNeeded: first))
  }

  var count: Int { firstTasks.last.map { Int($0) } ?? declared.count }

  /// Returns nil for a task of the manifest.
  @inline(__always)
  func ofRun(_ task: Int) -> (tasks: RunTasks, id: TaskID)? {
    guard let run, task >= count else { return nil }
    return (run, TaskID(task - count))
  }

  func number(ofRun task: TaskID) -> Int { count + task.index }

  func family(of declaration: Int) -> Family? {
    familyNumber(of: declaration).map { families[$0] }
  }

  func familyNumber(of declaration: Int) -> Int? {
    if familyNumbers.isEmpty || familyNumbers[declaration] < 0 { return nil }
    return Int(familyNumbers[declaration])
  }

  func forEachFamily(_ body: (Text, Int, Family) -> Void) {
    for (declaration, number) in familyNumbers.enumerated() where number >= 0 {
      body(declared.name(declaration), Int(firstTasks[declaration]), families[Int(number)])
    }
  }

  func tasks(of declaration: Int) -> Range<Int> {
    if firstTasks.isEmpty { return declaration..<(declaration + 1) }
    return Int(firstTasks[declaration])..<Int(firstTasks[declaration + 1])
  }

  func declaration(of task: Int) -> Int {
    if firstTasks.isEmpty { return task }
    var low = 0
    var high = declared.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if Int(firstTasks[middle]) <= task { low = middle } else { high = middle }
    }
    return low
  }

  func document(_ task: Int) -> YAMLDocument { declared.document(declaration(of: task)) }

  func name(_ task: Int) -> Text {
    if let (run, id) = ofRun(task) { return run.name(id) }
    let declaration = declaration(of: task)
    guard let family = family(of: declaration), !family.ids.isEmpty else {
      return declared.name(declaration)
    }
    return family.ids[task - Int(firstTasks[declaration])]
  }

  /// Returns the declared ID: for a matrix task, that of its matrix.
  func declaredName(_ task: Int) -> Text {
    if let (run, id) = ofRun(task) { return run.declaredName(id) }
    return declared.name(declaration(of: task))
  }
}

/// The tasks of the run that a manifest is added to.
final class RunTasks {
  let plan: Plan
  /// Declared IDs that the run already has with the same definition.
  let unchanged: Set<String>
  /// The generator, if a task adds them. Every added task needs it.
  let adder: TaskID?
  /// The matrix that a generator expands; nil for other additions.
  let family: Text?
  private var families: [FamilyID: Family] = [:]
  private lazy var familyNames = TextTable()

  init(_ plan: Plan, unchanged: Set<String>, adder: TaskID? = nil) {
    self.plan = plan
    self.unchanged = unchanged
    self.adder = adder
    family = nil
    noteFamilies()
  }

  /// - Parameter maker: The generator; `Plan.makesLegs` must be true.
  init(_ plan: Plan, legsMadeBy maker: TaskID) {
    self.plan = plan
    unchanged = []
    adder = maker
    family = plan.nameBytes(maker)
    noteFamilies()
  }

  private func noteFamilies() {
    if plan.families.isEmpty { return }
    for family in plan.families { _ = familyNames.insert(plan.text(family.name)) }
  }

  /// The flags of the generator that expands a matrix.
  var maker: TaskFlags? { family == nil ? nil : adder.map { plan.flags($0) } }

  enum Member {
    case task(TaskID)
    case family(FamilyID)
  }

  /// Returns nil for an unknown ID, and for the ID of a matrix task.
  func member(named name: Text) -> Member? {
    if let family = familyNames.index(of: name) { return .family(FamilyID(family)) }
    guard let task = plan.task(named: name), plan.family(of: task) == nil else { return nil }
    return .task(task)
  }

  func name(_ task: TaskID) -> Text { plan.nameBytes(task) }

  /// Returns the generator that a task needs by default. A task that the run already has keeps the
  /// generator that first added it.
  func needImplied(in declared: Text) -> TaskID? {
    guard family == nil, let member = member(named: declared) else { return adder }
    let task =
      switch member {
      case .task(let task): task
      case .family(let family): TaskID(plan.legs(family).lowerBound)
      }
    if task.index < plan.firstTaskCount { return nil }
    return plan.declaredNeeds(of: task).last { plan.flags($0).contains(.control) }
  }

  /// Returns the declared ID: for a matrix task, that of its matrix.
  func declaredName(_ task: TaskID) -> Text {
    plan.family(of: task).map { plan.text(plan.families[$0.index].name) } ?? name(task)
  }

  var declaredNames: [Text] {
    var names: [Text] = []
    var next = 0
    while next < plan.taskCount {
      names.append(declaredName(TaskID(next)))
      next = plan.family(of: TaskID(next)).map { plan.legs($0).upperBound } ?? next + 1
    }
    return names
  }

  func family(_ id: FamilyID, _ texts: MatrixTexts) -> Family {
    if let known = families[id] { return known }
    var family = Family()
    for axis in plan.axes(id) { _ = family.names.insert(plan.text(axis)) }
    for leg in plan.legs(id) {
      let task = TaskID(leg)
      family.ids.append(name(task))
      for value in plan.legValues(task, of: id) {
        family.values.append(texts.number(of: plan.text(value)))
      }
    }
    families[id] = family
    return family
  }
}
