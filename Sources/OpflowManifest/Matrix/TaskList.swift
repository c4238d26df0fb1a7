internal import OpflowCore

/// The tasks in declaration order, with matrices expanded. The run's tasks follow, from number
/// `count` on.
struct TaskList {
  let declared: TaskDeclarations
  /// The run that the manifest is added to, if any.
  private(set) var run: RunTasks?
  /// The matrices in declaration order.
  private(set) var families: [Family] = []
  /// For each declaration, the index of its matrix or -1. Empty without matrices; tasks and
  /// declarations then have the same numbers.
  private var familyNumbers: [Int32] = []
  /// For each declaration its first task, then the number of tasks.
  private var firstTasks: [Int32] = []

  init(_ declared: TaskDeclarations) { self.declared = declared }

  /// - Parameter families: In declaration order.
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

  /// Returns nil for a single task.
  func family(of declaration: Int) -> Family? {
    familyNumber(of: declaration).map { families[$0] }
  }

  func familyNumber(of declaration: Int) -> Int? {
    if familyNumbers.isEmpty || familyNumbers[declaration] < 0 { return nil }
    return Int(familyNumbers[declaration])
  }

  /// Calls `body` with each matrix, its ID and its first task.
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
