internal import OpflowCore

/// The tasks of a manifest by their numbers: what is declared, in its order, each family as its legs.
///
/// What is added to a run has the run's tasks behind its own: they are counted from `count` on.
struct TaskList {
  let declared: TaskDeclarations
  /// Nil for the manifest that a run begins with.
  private(set) var run: RunTasks?
  /// In the order of the file.
  private(set) var families: [Family] = []
  /// By declaration: the number of its family, or -1. Empty where there are no families, and a task's
  /// number is that of its declaration.
  private var familyNumbers: [Int32] = []
  /// By declaration, its first task; and behind the last one, how many tasks there are.
  private var firstTasks: [Int32] = []

  init(_ declared: TaskDeclarations) { self.declared = declared }

  /// - Parameter families: with the declaration of each, in order.
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

  /// The task of the run that has a number; nil for one of the manifest.
  @inline(__always)
  func ofRun(_ task: Int) -> (tasks: RunTasks, id: TaskID)? {
    guard let run, task >= count else { return nil }
    return (run, TaskID(task - count))
  }

  /// The number of a task of the run.
  func number(ofRun task: TaskID) -> Int { count + task.index }

  /// The family that a declaration is; nil for a task on its own.
  func family(of declaration: Int) -> Family? {
    familyNumber(of: declaration).map { families[$0] }
  }

  func familyNumber(of declaration: Int) -> Int? {
    if familyNumbers.isEmpty || familyNumbers[declaration] < 0 { return nil }
    return Int(familyNumbers[declaration])
  }

  /// Calls `body` for each family, with its name and its first task.
  func forEachFamily(_ body: (Text, Int, Family) -> Void) {
    for (declaration, number) in familyNumbers.enumerated() where number >= 0 {
      body(declared.name(declaration), Int(firstTasks[declaration]), families[Int(number)])
    }
  }

  /// The tasks that a declaration is.
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

  /// The id that somebody wrote: of a leg, that of its family.
  func declaredName(_ task: Int) -> Text {
    if let (run, id) = ofRun(task) { return run.declaredName(id) }
    return declared.name(declaration(of: task))
  }
}
