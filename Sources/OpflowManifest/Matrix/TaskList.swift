internal import OpflowPlan

/// Tasks in declaration order, with matrices expanded. The run's tasks follow, from number `count`
/// on.
struct TaskList {
  let declared: TaskDeclarations
  private(set) var run: RunTasks?
  private(set) var matrixGroups: [MatrixGroup] = []
  /// The matrix of each declaration, or -1. Empty without matrices: tasks and declarations then
  /// have the same numbers.
  private var matrixGroupNumbers: [Int32] = []
  /// The first task of each declaration, then the number of tasks.
  private var firstTasks: [Int32] = []

  init(_ declared: TaskDeclarations) { self.declared = declared }

  init(
    _ declared: TaskDeclarations, matrixGroups: [(declaration: Int, matrixGroup: MatrixGroup)],
    run: RunTasks? = nil
  ) {
    self.declared = declared
    self.run = run
    if matrixGroups.isEmpty { return }
    matrixGroupNumbers = [Int32](repeating: -1, count: declared.count)
    for (number, (declaration, matrixGroup)) in matrixGroups.enumerated() {
      matrixGroupNumbers[declaration] = Int32(truncatingIfNeeded: number)
      self.matrixGroups.append(matrixGroup)
    }
    firstTasks.reserveCapacity(declared.count + 1)
    var first = 0
    for declaration in 0..<declared.count {
      firstTasks.append(Int32(truncatingIfNeeded: first))
      first += matrixGroup(of: declaration)?.taskCount ?? 1
    }
    firstTasks.append(Int32(truncatingIfNeeded: first))
  }

  var count: Int { firstTasks.last.map { Int($0) } ?? declared.count }

  /// Nil for a task of the manifest.
  @inline(__always)
  func ofRun(_ task: Int) -> (tasks: RunTasks, id: TaskID)? {
    guard let run, task >= count else { return nil }
    return (run, TaskID(task - count))
  }

  func number(ofRun task: TaskID) -> Int { count + task.index }

  func matrixGroup(of declaration: Int) -> MatrixGroup? {
    matrixGroupNumber(of: declaration).map { matrixGroups[$0] }
  }

  func matrixGroupNumber(of declaration: Int) -> Int? {
    if matrixGroupNumbers.isEmpty || matrixGroupNumbers[declaration] < 0 { return nil }
    return Int(matrixGroupNumbers[declaration])
  }

  func forEachMatrixGroup(_ body: (ByteView, Int, MatrixGroup) -> Void) {
    for (declaration, number) in matrixGroupNumbers.enumerated() where number >= 0 {
      body(declared.name(declaration), Int(firstTasks[declaration]), matrixGroups[Int(number)])
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

  func name(_ task: Int) -> ByteView {
    if let (run, id) = ofRun(task) { return run.name(id) }
    let declaration = declaration(of: task)
    guard let matrixGroup = matrixGroup(of: declaration), !matrixGroup.ids.isEmpty else {
      return declared.name(declaration)
    }
    return matrixGroup.ids[task - Int(firstTasks[declaration])]
  }

  /// A matrix task's matrix.
  func declaredName(_ task: Int) -> ByteView {
    if let (run, id) = ofRun(task) { return run.declaredName(id) }
    return declared.name(declaration(of: task))
  }
}

/// The run that a manifest is added to.
final class RunTasks {
  let plan: Plan
  /// Declared IDs that the run already has with the same definition.
  let unchanged: Set<String>
  /// A task that adds the manifest. Every added task needs it.
  let generator: TaskID?
  /// The matrix that a generator expands; nil for other additions.
  let matrixGroup: ByteView?
  private var matrixGroups: [MatrixGroupID: MatrixGroup] = [:]
  private lazy var matrixGroupNames = TextTable()

  init(_ plan: Plan, unchanged: Set<String>, generator: TaskID? = nil) {
    self.plan = plan
    self.unchanged = unchanged
    self.generator = generator
    matrixGroup = nil
    noteMatrixGroups()
  }

  /// - Parameter maker: The generator; `Plan.makesInstances` must be true.
  init(_ plan: Plan, instancesMadeBy maker: TaskID) {
    self.plan = plan
    unchanged = []
    generator = maker
    matrixGroup = plan.nameBytes(maker)
    noteMatrixGroups()
  }

  private func noteMatrixGroups() {
    if plan.matrixGroups.isEmpty { return }
    for matrixGroup in plan.matrixGroups {
      _ = matrixGroupNames.insert(plan.text(matrixGroup.name))
    }
  }

  var maker: TaskFlags? { matrixGroup == nil ? nil : generator.map { plan.flags($0) } }

  enum Member {
    case task(TaskID)
    case matrixGroup(MatrixGroupID)
  }

  /// Nil for an unknown ID, and for the ID of a matrix task.
  func member(named name: ByteView) -> Member? {
    if let matrixGroup = matrixGroupNames.index(of: name) {
      return .matrixGroup(MatrixGroupID(matrixGroup))
    }
    guard let task = plan.task(named: name), plan.matrixGroup(of: task) == nil else { return nil }
    return .task(task)
  }

  func name(_ task: TaskID) -> ByteView { plan.nameBytes(task) }

  /// The default need. A task that the run already has keeps the generator that first added it.
  func needImplied(in declared: ByteView) -> TaskID? {
    guard matrixGroup == nil, let member = member(named: declared) else { return generator }
    let task =
      switch member {
      case .task(let task): task
      case .matrixGroup(let matrixGroup): TaskID(plan.instances(matrixGroup).lowerBound)
      }
    if task.index < plan.firstTaskCount { return nil }
    return plan.declaredNeeds(of: task).last { plan.flags($0).contains(.control) }
  }

  func declaredName(_ task: TaskID) -> ByteView {
    plan.matrixGroup(of: task).map { plan.text(plan.matrixGroups[$0.index].name) } ?? name(task)
  }

  var declaredNames: [ByteView] {
    var names: [ByteView] = []
    var next = 0
    while next < plan.taskCount {
      names.append(declaredName(TaskID(next)))
      next = plan.matrixGroup(of: TaskID(next)).map { plan.instances($0).upperBound } ?? next + 1
    }
    return names
  }

  func matrixGroup(_ id: MatrixGroupID, _ texts: MatrixTexts) -> MatrixGroup {
    if let known = matrixGroups[id] { return known }
    var matrixGroup = MatrixGroup()
    for axis in plan.axes(id) { _ = matrixGroup.names.insert(plan.text(axis)) }
    for instance in plan.instances(id) {
      let task = TaskID(instance)
      matrixGroup.ids.append(name(task))
      for value in plan.instanceValues(task, of: id) {
        matrixGroup.values.append(texts.number(of: plan.text(value)))
      }
    }
    matrixGroups[id] = matrixGroup
    return matrixGroup
  }
}
