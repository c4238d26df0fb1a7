internal import OpflowCore

/// The tasks of a run that a manifest is added to, which those of the manifest may need as well.
final class RunTasks {
  let plan: Plan
  /// Ids that the manifest declares as the run has them: they are left out of it.
  let unchanged: Set<String>
  /// The task that adds them, which each of them needs; nil where another process does.
  let adder: TaskID?
  /// The one family of the manifest whose legs are made, by that task; nil where all that it declares is added.
  let family: Text?
  /// Those that were needed in part, or all of whose legs were.
  private var families: [FamilyID: Family] = [:]
  private lazy var familyNames = TextTable()

  init(_ plan: Plan, unchanged: Set<String>, adder: TaskID? = nil) {
    self.plan = plan
    self.unchanged = unchanged
    self.adder = adder
    family = nil
    noteFamilies()
  }

  /// Those of the legs that a task makes.
  ///
  /// - Parameter maker: `Plan.makesLegs` holds of it.
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

  /// What the run knows of the task that makes legs; nil where none does.
  var maker: TaskFlags? { family == nil ? nil : adder.map { plan.flags($0) } }

  /// What an id stands for.
  enum Member {
    case task(TaskID)
    case family(FamilyID)
  }

  /// Nil for an id that no task and no family has; that of a leg is none.
  func member(named name: Text) -> Member? {
    if let family = familyNames.index(of: name) { return .family(FamilyID(family)) }
    guard let task = plan.task(named: name), plan.family(of: task) == nil else { return nil }
    return .task(task)
  }

  func name(_ task: TaskID) -> Text { plan.nameBytes(task) }

  /// What a task needs that is declared by a name, though it does not say so: the task that adds it. What the run has
  /// already it has from whoever added it first: another one that finds the same has nothing to add to that.
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

  /// The id that somebody wrote: of a leg, that of its family.
  func declaredName(_ task: TaskID) -> Text {
    plan.family(of: task).map { plan.text(plan.families[$0.index].name) } ?? name(task)
  }

  /// What ids may be written, in the order of the tasks.
  var declaredNames: [Text] {
    var names: [Text] = []
    var next = 0
    while next < plan.taskCount {
      names.append(declaredName(TaskID(next)))
      next = plan.family(of: TaskID(next)).map { plan.legs($0).upperBound } ?? next + 1
    }
    return names
  }

  /// A family as those of the manifest are.
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
