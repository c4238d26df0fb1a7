internal import OpflowCore

/// Finds the tasks that tasks need, once all are declared, and checks all needs together.
struct NeedResolver {
  let mistakes: Mistakes
  let suggestions: Suggestions
  private let tasks: TaskList
  private(set) var needs: NeedList
  /// For each task, the last one that said it needs it.
  private var stamps: [Int32]
  /// The same of tasks of the run.
  private var stampsOfRun: [Int: Int] = [:]
  private var needed: NeededTasks
  private var valueReads: [NeedCheck.ValueRead] = []
  private var families: FamilyNeeds
  /// Tasks of which legs that are still to be made read values, and whether an `if` of theirs does.
  private(set) var readsOfLegs: [(task: Int, decides: Bool)] = []
  /// Whether all tasks are declared; where a file could not be read, an unknown one may stand in it.
  var knowsAll = true

  /// Most needs of a manifest, where families make many of one.
  static let mostNeeds = 20_000_000

  init(
    _ tasks: TaskList, texts: MatrixTexts, mistakes: Mistakes, suggestions: Suggestions,
    nodeCount: Int
  ) {
    self.tasks = tasks
    self.mistakes = mistakes
    self.suggestions = suggestions
    families = FamilyNeeds(mistakes: mistakes, suggestions: suggestions, texts: texts)
    stamps = [Int32](repeating: -1, count: tasks.count)
    needed = NeededTasks(tasks)
    needs = tasks.run == nil ? NeedList() : NeedList(firstOfRun: tasks.count)
    needs.reserve(taskCount: tasks.count, edgeCount: min(nodeCount, tasks.count * 4))
  }

  /// Adds the needs of a task, in the order of their numbers.
  /// A need then has the id of its task, whatever its file calls that.
  ///
  /// - Parameters:
  ///   - declaration: where it stands.
  ///   - leg: of its family; nil for a task on its own, and for a family without legs.
  mutating func add(_ task: inout TaskValues, _ number: Int, _ declaration: Int, leg: Int? = nil) {
    if task.isOfNote { needed.note(task, number) }
    if let run = tasks.run {
      addNeeds(of: &task, number, declaration, leg, beside: run)
    } else {
      let start = needs.targets.count
      for index in task.needs.indices {
        resolve(&task, index, from: start, number, declaration, leg)
      }
      needs.endTask()
    }
    if !task.valueReads.isEmpty { noteValueReads(of: task, number) }
  }

  /// Finds what one need stands for.
  ///
  /// - Parameter start: where the needs of the task begin.
  private mutating func resolve(
    _ task: inout TaskValues, _ index: Int, from start: Int, _ number: Int, _ declaration: Int,
    _ leg: Int?
  ) {
    let document = tasks.declared.document(declaration)
    let first = needs.targets.count - start
    let name = task.needs[index].name
    if let target = tasks.declared.index(of: name, seenFrom: declaration) {
      addTarget(target, &task.needs[index], number, declaration, document)
      if !tasks.declared.isID(name) { task.needs[index].name = tasks.declared.name(target) }
    } else {
      addLegs(&task, index, number, declaration, leg, document)
    }
    task.needs[index].firstEdge = first
    task.needs[index].edgeCount = needs.targets.count - start - first
  }

  /// The same for a task of what is added to a run, which may need those of the run.
  private mutating func addNeeds(
    of task: inout TaskValues, _ number: Int, _ declaration: Int, _ leg: Int?,
    beside run: RunTasks
  ) {
    let document = tasks.declared.document(declaration)
    let start = needs.targets.count
    var ofRun: [(index: Int, need: NeedOfRun)] = []
    for index in task.needs.indices {
      if let need = needOfRun(task.needs[index].name, seenFrom: declaration, run) {
        ofRun.append((index, need))
      } else {
        resolve(&task, index, from: start, number, declaration, leg)
      }
    }
    // Behind all others, as they stand in the plan then.
    for (index, need) in ofRun {
      task.needs[index].firstEdge = needs.targets.count - start
      add(need, &task, index, number, declaration, leg, document)
      task.needs[index].edgeCount = needs.targets.count - start - task.needs[index].firstEdge
    }
    let ofAdder = addAdder(of: task, number, declaration)
    needs.endTask()
    // What it reads of others it has to name: of this one it reads nothing.
    if let ofAdder { task.needs.append(ofAdder) }
  }

  private mutating func noteValueReads(of task: borrowing TaskValues, _ number: Int) {
    let written = WrittenNeeds(task.needs)
    for (id, place, decides) in task.valueReads {
      guard let named = written.number(of: id) else { continue }
      for index in written.needs(named) {
        let need = task.needs[Int(index)]
        let first = need.firstEdge
        valueReads.append(
          NeedCheck.ValueRead(
            task: number, needs: first..<(first + need.edgeCount), place: place, decides: decides))
      }
    }
  }

  /// Adds a task that makes the legs of a family, in the order of the numbers of all tasks.
  ///
  /// It needs those that write what the `matrix` reads, and all that its legs need: these could not start before either.
  /// Of another family whose legs are made it waits for the task that makes them.
  ///
  /// - Parameter reads: what the legs read of what they need.
  mutating func addMaker(
    _ task: inout TaskValues, _ number: Int, _ declaration: Int, _ family: Family,
    _ reads: [(id: Text, place: Place, decides: Bool)]
  ) {
    needed.note(task, number)
    let document = tasks.declared.document(declaration)
    let after = family.after.map {
      TaskValues.Need(name: $0.text, node: $0.node, condition: .ran)
    }
    var written: Set<Int> = []
    let all = after + task.needs
    let readsByNeed = Self.byNeed(reads, all)
    for (place, need) in all.enumerated() {
      for target in targets(of: need, task.name, declaration, document) {
        for decides in readsByNeed[place] where target < tasks.count {
          readsOfLegs.append((target, decides))
        }
        // What writes the file may be needed by the legs as well.
        if place >= after.count, written.contains(target) { continue }
        if place < after.count { written.insert(target) }
        var need = need
        // What writes the file has to have run, each leg of it too. What the legs alone wait for may be made meanwhile.
        if place >= after.count, isMaker(target) {
          need.condition = need.condition.isMetByFailure ? .finished : .success
        }
        guard add(target, need, number, document) else { break }
      }
    }
    task.needs = all
    let ofAdder = addAdder(of: task, number, declaration)
    needs.endTask()
    if let ofAdder { task.needs.append(ofAdder) }
  }

  /// For each need, whether its values are read, and whether an `if` reads any.
  private static func byNeed(
    _ reads: [(id: Text, place: Place, decides: Bool)], _ needs: [TaskValues.Need]
  ) -> [Set<Bool>] {
    var found = [Set<Bool>](repeating: [], count: needs.count)
    if reads.isEmpty { return found }
    let written = WrittenNeeds(needs)
    for read in reads {
      guard let named = written.number(of: read.id) else { continue }
      for need in written.needs(named) { found[Int(need)].insert(read.decides) }
    }
    return found
  }

  /// Whether a task is to make legs, or has.
  private func isMaker(_ task: Int) -> Bool {
    if let (run, id) = tasks.ofRun(task) { return run.plan.makesLegs(id) }
    return tasks.family(of: tasks.declaration(of: task))?.emptiness == .later
  }

  /// All that a need may stand for; nothing, reported, for one of which there is nothing.
  ///
  /// - Parameter name: of the task that has it.
  private mutating func targets(
    of need: TaskValues.Need, _ name: Text, _ declaration: Int, _ document: YAMLDocument
  ) -> [Int] {
    let selector = LegSelector(need.name)
    if let run = tasks.run, let found = needOfRun(need.name, seenFrom: declaration, run) {
      switch found.member {
      case .task(let id): return [tasks.number(ofRun: id)]
      case .family(let id):
        let (number, family, first) = familyOfRun(id, run)
        return targets(of: need, selector, number, family, first, name, document)
      }
    }
    guard
      let target = tasks.declared.index(
        of: selector?.family ?? need.name, seenFrom: declaration)
    else {
      reportUnknown(need, declaration, document)
      return []
    }
    guard let number = tasks.familyNumber(of: target), tasks.families[number].emptiness == nil
    else { return Array(tasks.tasks(of: target)) }
    return targets(
      of: need, selector, number, tasks.families[number], tasks.tasks(of: target).lowerBound, name,
      document)
  }

  /// The legs that a selector names, where it does not depend on who has the need; or all that there are.
  private mutating func targets(
    of need: TaskValues.Need, _ selector: LegSelector?, _ number: Int, _ family: Family,
    _ first: Int, _ name: Text, _ document: YAMLDocument
  ) -> [Int] {
    guard let selector, !selector.joins else { return family.ids.indices.map { first + $0 } }
    let legs = families.legs(
      selector, written: need.name, of: number, family, for: FamilyNeeds.Needer(name: name),
      at: document.place(need.node))
    return (legs ?? []).map { first + Int($0) }
  }

  /// Adds all that is declared there: a task, or the legs of a family.
  @inline(__always)
  private mutating func addTarget(
    _ needed: Int, _ need: inout TaskValues.Need, _ number: Int, _ declaration: Int,
    _ document: YAMLDocument
  ) {
    let targets = tasks.tasks(of: needed)
    if let family = tasks.familyNumber(of: needed), !tasks.families[family].ids.isEmpty {
      if isTooMany(targets.count, need, declaration, document) { return }
      need.legsDigest = families.digest(
        ofFamily: family, tasks.families[family], need.condition)
    }
    for target in targets where !add(target, need, number, document) { return }
  }

  /// Whether each leg of what is declared there needs so many that they are too many together, reported.
  private func isTooMany(
    _ count: Int, _ need: TaskValues.Need, _ declaration: Int, _ document: YAMLDocument
  ) -> Bool {
    let legCount = tasks.tasks(of: declaration).count
    if legCount * count <= Self.mostNeeds { return false }
    mistakes.error(
      document.place(need.node),
      "\(legCount) legs need \(count) each, which is more than the"
        + " \(Self.mostNeeds) needs that there may be",
      help: Self.fewerHelp)
    return true
  }

  /// Adds one edge; whether that went well.
  @inline(__always)
  private mutating func add(
    _ target: Int, _ need: TaskValues.Need, _ number: Int, _ document: YAMLDocument
  ) -> Bool {
    if target == number {
      mistakes.error(
        document.place(need.node), "task `\(shown(target, need))` needs itself",
        help: "take it out of its own `needs`")
      return false
    }
    if isStamped(target, number) {
      mistakes.error(
        document.place(need.node), "`\(shown(target, need))` is needed twice",
        help: "name it once; with `on: finished` any end of it will do")
      return false
    }
    if needs.targets.count == Self.mostNeeds, hasFamilies {
      mistakes.error(
        document.place(need.node), "the legs have more than \(Self.mostNeeds) needs together",
        help: Self.fewerHelp)
    }
    guard needs.targets.count < Self.mostNeeds || !hasFamilies else { return false }
    needs.add(target, on: need.condition, offset: document.offset(need.node))
    return true
  }

  /// Whether the task said already that it needs that one, which is noted.
  @inline(__always)
  private mutating func isStamped(_ target: Int, _ number: Int) -> Bool {
    if target >= stamps.count { return stampsOfRun.updateValue(number, forKey: target) == number }
    if stamps[target] == Int32(truncatingIfNeeded: number) { return true }
    stamps[target] = Int32(truncatingIfNeeded: number)
    return false
  }

  /// Whether one need may be many.
  private var hasFamilies: Bool {
    !tasks.families.isEmpty || tasks.run?.plan.families.isEmpty == false
  }

  /// A task as its need has it; a leg, of which that may name many, by its id.
  private func shown(_ target: Int, _ need: TaskValues.Need) -> String {
    let isLeg =
      tasks.ofRun(target) != nil
      || tasks.family(of: tasks.declaration(of: target))?.ids.isEmpty == false
    return (isLeg ? tasks.name(target) : need.name).string
  }

  private static let fewerHelp =
    "join families by their axes: `FAMILY[AXIS]`; or let one task stand between them"

  // MARK: Legs

  /// Adds the legs that a need with brackets names.
  private mutating func addLegs(
    _ task: inout TaskValues, _ index: Int, _ number: Int, _ declaration: Int, _ leg: Int?,
    _ document: YAMLDocument
  ) {
    let need = task.needs[index]
    let place = document.place(need.node)
    guard let selector = LegSelector(need.name),
      let target = tasks.declared.index(of: selector.family, seenFrom: declaration)
    else { return reportUnknown(need, declaration, document) }
    guard let familyNumber = tasks.familyNumber(of: target) else {
      return reportNoFamily(selector, at: place)
    }
    let family = tasks.families[familyNumber]
    let own = tasks.family(of: declaration)
    if family.emptiness == .later {
      return mistakes.error(
        place, "`\(selector.family.string)` has no leg before the run has made some (`after`)",
        help:
          "need all of them: `\(selector.family.string)`; or give the `matrix` here an `after` as well"
      )
    }
    // Where there are no legs, on either side, there is nothing to choose from, or to choose by.
    if family.emptiness != nil || own?.emptiness != nil && selector.joins {
      addTarget(target, &task.needs[index], number, declaration, document)
      return
    }
    var needer = FamilyNeeds.Needer(name: task.name)
    if let own, let leg { needer.leg = (own, leg) }
    addLegs(
      selector, of: familyNumber, family, firstTask: tasks.tasks(of: target).lowerBound, needer,
      &task.needs[index], number, document)
  }

  private func reportNoFamily(_ selector: LegSelector, at place: Place) {
    mistakes.error(
      place, "`\(selector.family.string)` has no `matrix`, so there are no legs of it",
      help: "write `\(selector.family.string)`")
  }

  /// - Parameter familyNumber: for `FamilyNeeds`.
  private mutating func addLegs(
    _ selector: LegSelector, of familyNumber: Int, _ family: Family, firstTask: Int,
    _ needer: FamilyNeeds.Needer, _ need: inout TaskValues.Need, _ number: Int,
    _ document: YAMLDocument
  ) {
    guard
      let legs = families.legs(
        selector, written: need.name, of: familyNumber, family, for: needer,
        at: document.place(need.node))
    else { return }
    var digest: UInt64 = 0
    for leg in legs {
      digest &+= Digest.need(family.ids[Int(leg)], need.condition)
      guard add(firstTask + Int(leg), need, number, document) else { return }
    }
    need.legsDigest = digest
  }

  // MARK: Tasks of the run

  /// What a need names of the run that the manifest is added to.
  private struct NeedOfRun {
    let run: RunTasks
    let member: RunTasks.Member
    /// Where it names some legs.
    var selector: LegSelector?
  }

  /// Nil where a name means none of the run, or a task of the manifest is nearer.
  private func needOfRun(
    _ name: Text, seenFrom declaration: Int, _ run: RunTasks
  ) -> NeedOfRun? {
    let selector = LegSelector(name)
    let declared = tasks.declared
    let found: RunTasks.Member?? = declared.first(
      of: selector?.family ?? name, seenFrom: declaration
    ) { id -> RunTasks.Member?? in
      if declared.index(of: id) != nil { return .some(nil) }
      return run.member(named: id).map { .some($0) }
    }
    guard case .some(.some(let member)) = found else { return nil }
    return NeedOfRun(run: run, member: member, selector: selector)
  }

  private mutating func add(
    _ need: NeedOfRun, _ task: inout TaskValues, _ index: Int, _ number: Int, _ declaration: Int,
    _ leg: Int?, _ document: YAMLDocument
  ) {
    switch need.member {
    case .task(let id):
      let isEmpty = need.run.plan.flags(id).contains(.emptyMatrix)
      // One that has made no legs, or none yet.
      if let selector = need.selector, !isEmpty {
        return reportNoFamily(selector, at: document.place(task.needs[index].node))
      }
      if need.selector == nil { task.needs[index].name = need.run.name(id) }
      _ = add(tasks.number(ofRun: id), task.needs[index], number, document)
    case .family(let id):
      let (familyNumber, family, first) = familyOfRun(id, need.run)
      let own = tasks.family(of: declaration)
      if let selector = need.selector, own?.emptiness == nil || !selector.joins {
        var needer = FamilyNeeds.Needer(name: task.name)
        if let own, let leg { needer.leg = (own, leg) }
        return addLegs(
          selector, of: familyNumber, family, firstTask: first, needer, &task.needs[index], number,
          document)
      }
      if isTooMany(family.ids.count, task.needs[index], declaration, document) { return }
      task.needs[index].legsDigest = families.digest(
        ofFamily: familyNumber, family, task.needs[index].condition)
      for leg in family.ids.indices
      where !add(first + leg, task.needs[index], number, document) {
        return
      }
    }
  }

  /// A family of the run as one of the manifest: its number for `FamilyNeeds`, and its first task.
  private func familyOfRun(
    _ id: FamilyID, _ run: RunTasks
  ) -> (number: Int, family: Family, first: Int) {
    (
      tasks.families.count + id.index, run.family(id, families.texts),
      tasks.number(ofRun: TaskID(run.plan.legs(id).lowerBound))
    )
  }

  /// What a task of the run adds needs that one, unless it says itself how.
  private mutating func addAdder(
    of task: borrowing TaskValues, _ number: Int, _ declaration: Int
  ) -> TaskValues.Need? {
    guard let run = tasks.run, let adder = run.needImplied(in: tasks.declared.name(declaration))
    else { return nil }
    let target = tasks.number(ofRun: adder)
    if isStamped(target, number) { return nil }
    var need = TaskValues.Need(name: run.name(adder), node: task.key, condition: .success)
    need.firstEdge = task.needs.reduce(0) { $0 + $1.edgeCount }
    need.edgeCount = 1
    let document = tasks.declared.document(declaration)
    needs.add(target, on: need.condition, offset: document.offset(task.key))
    return need
  }

  // MARK: Unknown ones

  private func reportUnknown(
    _ need: TaskValues.Need, _ declaration: Int, _ document: YAMLDocument
  ) {
    guard knowsAll else { return }
    mistakes.error(
      document.place(need.node), "unknown task `\(need.name.string)`",
      help: UnknownNeed(tasks: tasks, suggestions: suggestions)
        .help(for: need.name, of: declaration))
  }

  // MARK: All together

  /// Reports tasks that need each other.
  func reportCycles() {
    if needs.allPointBack { return }
    let needs = needs.own
    guard needs.hasCycle else { return }
    CycleReport(needs: needs, tasks: tasks).report(to: mistakes)
  }

  /// Reports needs that cannot be, once all tasks are read.
  func check(_ resources: ResourceTable) {
    let check = NeedCheck(mistakes: mistakes, tasks: tasks, needs: needs, needed: needed)
    check.checkFinally()
    check.checkServices(resources)
    check.checkValues(valueReads)
  }
}
