internal import OpflowPlan

/// Used after all tasks are declared.
struct NeedResolver {
  let diagnostics: Diagnostics
  let suggestions: Suggestions
  private let tasks: TaskList
  private(set) var needs: NeedList
  /// The last dependent that named each task.
  private var stamps: [Int32]
  private var stampsOfRun: [Int: Int] = [:]
  private var needed: NeededTasks
  private var valueReads: [NeedCheck.ValueRead] = []
  private var matrixGroups: MatrixGroupNeeds
  /// Tasks whose values future matrix tasks read; `decides` if an `if` reads them.
  private(set) var readsOfInstances: [(task: Int, decides: Bool)] = []
  /// False if an unreadable file may declare the missing tasks.
  var knowsAll = true

  private struct Dependent {
    let number: Int
    let declaration: Int
    /// Nil for a single task or an empty matrix.
    var instance: Int?
    let document: YAMLDocument

    func place(_ need: TaskValues.Need) -> Place { document.place(need.node) }
  }

  /// Only matrices reach the limit.
  static let mostNeeds = 20_000_000

  init(
    _ tasks: TaskList, texts: MatrixTexts, diagnostics: Diagnostics, suggestions: Suggestions,
    nodeCount: Int
  ) {
    self.tasks = tasks
    self.diagnostics = diagnostics
    self.suggestions = suggestions
    matrixGroups = MatrixGroupNeeds(
      diagnostics: diagnostics, suggestions: suggestions, texts: texts)
    stamps = [Int32](repeating: -1, count: tasks.count)
    needed = NeededTasks(tasks)
    needs = tasks.run == nil ? NeedList() : NeedList(firstOfRun: tasks.count)
    needs.reserve(taskCount: tasks.count, edgeCount: min(nodeCount, tasks.count * 4))
  }

  /// Resolves a task's needs and sets their full IDs. Must be called in task order.
  mutating func add(
    _ task: inout TaskValues, _ number: Int, _ declaration: Int, instance: Int? = nil
  ) {
    if task.isOfNote { needed.note(task, number) }
    let dependent = dependent(number, declaration, instance: instance)
    if let run = tasks.run {
      addNeeds(of: &task, dependent, beside: run)
    } else {
      let start = needs.targets.count
      for index in task.needs.indices { resolve(&task, index, from: start, dependent) }
      needs.endTask()
    }
    if !task.valueReads.isEmpty { noteValueReads(of: task, number) }
  }

  private func dependent(_ number: Int, _ declaration: Int, instance: Int? = nil) -> Dependent {
    Dependent(
      number: number, declaration: declaration, instance: instance,
      document: tasks.declared.document(declaration))
  }

  private mutating func resolve(
    _ task: inout TaskValues, _ index: Int, from start: Int, _ dependent: Dependent
  ) {
    let first = needs.targets.count - start
    let name = task.needs[index].name
    if let target = tasks.declared.index(of: name, seenFrom: dependent.declaration) {
      addTarget(target, &task.needs[index], dependent)
      if !tasks.declared.isID(name) { task.needs[index].name = tasks.declared.name(target) }
    } else {
      addInstances(&task, index, dependent)
    }
    task.needs[index].firstEdge = first
    task.needs[index].edgeCount = needs.targets.count - start - first
  }

  /// The needs may name tasks of the run.
  private mutating func addNeeds(
    of task: inout TaskValues, _ dependent: Dependent, beside run: RunTasks
  ) {
    let start = needs.targets.count
    var ofRun: [(index: Int, need: NeedOfRun)] = []
    for index in task.needs.indices {
      if let need = needOfRun(task.needs[index].name, seenFrom: dependent.declaration, run) {
        ofRun.append((index, need))
      } else {
        resolve(&task, index, from: start, dependent)
      }
    }
    // The plan stores needs for the run's tasks last.
    for (index, need) in ofRun {
      task.needs[index].firstEdge = needs.targets.count - start
      add(need, &task, index, dependent)
      task.needs[index].edgeCount = needs.targets.count - start - task.needs[index].firstEdge
    }
    let ofGenerator = addGenerator(of: task, dependent)
    needs.endTask()
    // Appended last, because expressions cannot use this need.
    if let ofGenerator { task.needs.append(ofGenerator) }
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

  /// Adds a matrix's generator. Must be called in task order.
  ///
  /// The generator needs the tasks in `after` and the needs of its matrix tasks, which could not
  /// start earlier. For another matrix with `after` it waits for that matrix's generator.
  ///
  /// - Parameter reads: Values that its matrix tasks read.
  mutating func addMaker(
    _ task: inout TaskValues, _ number: Int, _ declaration: Int, _ matrixGroup: MatrixGroup,
    _ reads: [(id: ByteView, place: Place, decides: Bool)]
  ) {
    needed.note(task, number)
    let dependent = dependent(number, declaration)
    let after = matrixGroup.after.map {
      TaskValues.Need(name: $0.text, node: $0.node, condition: .ran)
    }
    var written: Set<Int> = []
    let all = after + task.needs
    let readsByNeed = Self.byNeed(reads, all)
    for (place, need) in all.enumerated() {
      for target in targets(of: need, task.name, dependent) {
        for decides in readsByNeed[place] where target < tasks.count {
          readsOfInstances.append((target, decides))
        }
        // The matrix tasks may need the same task.
        if place >= after.count, written.contains(target) { continue }
        if place < after.count { written.insert(target) }
        var need = need
        // A task in `after` must have run, with all its matrix tasks. In other needs, a generator
        // represents its matrix tasks.
        if place >= after.count, isMaker(target) {
          need.condition = need.condition.isMetByFailure ? .finished : .success
        }
        guard add(target, need, dependent) else { break }
      }
    }
    task.needs = all
    let ofGenerator = addGenerator(of: task, dependent)
    needs.endTask()
    if let ofGenerator { task.needs.append(ofGenerator) }
  }

  /// Returns the kinds of readers of each need: expressions (false) and `if` (true).
  private static func byNeed(
    _ reads: [(id: ByteView, place: Place, decides: Bool)], _ needs: [TaskValues.Need]
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

  private func isMaker(_ task: Int) -> Bool {
    if let (run, id) = tasks.ofRun(task) { return run.plan.makesInstances(id) }
    return tasks.matrixGroup(of: tasks.declaration(of: task))?.emptiness == .later
  }

  /// Empty after an error.
  private mutating func targets(
    of need: TaskValues.Need, _ name: ByteView, _ dependent: Dependent
  ) -> [Int] {
    let selector = InstanceSelector(need.name)
    let matrixGroup: NeededMatrixGroup
    if let run = tasks.run, let found = needOfRun(need.name, seenFrom: dependent.declaration, run) {
      switch found.member {
      case .task(let id): return [tasks.number(ofRun: id)]
      case .matrixGroup(let id): matrixGroup = matrixGroupOfRun(id, run)
      }
    } else {
      guard
        let target = tasks.declared.index(
          of: selector?.matrixGroup ?? need.name, seenFrom: dependent.declaration)
      else {
        reportUnknown(need, dependent)
        return []
      }
      guard let found = neededMatrixGroup(target), found.matrixGroup.emptiness == nil else {
        return Array(tasks.tasks(of: target))
      }
      matrixGroup = found
    }
    // Takes all matrix tasks if the selection depends on the dependent.
    guard let selector, !selector.joins else {
      return matrixGroup.matrixGroup.ids.indices.map { matrixGroup.firstTask + $0 }
    }
    let instances = matrixGroups.instances(
      selector, written: need.name, of: matrixGroup, for: MatrixGroupNeeds.Needer(name: name),
      at: dependent.place(need))
    return (instances ?? []).map { matrixGroup.firstTask + Int($0) }
  }

  private func neededMatrixGroup(_ declaration: Int) -> NeededMatrixGroup? {
    tasks.matrixGroupNumber(of: declaration).map {
      NeededMatrixGroup(
        number: $0, matrixGroup: tasks.matrixGroups[$0],
        firstTask: tasks.tasks(of: declaration).lowerBound)
    }
  }

  @inline(__always)
  private mutating func addTarget(
    _ needed: Int, _ need: inout TaskValues.Need, _ dependent: Dependent
  ) {
    let targets = tasks.tasks(of: needed)
    if let matrixGroup = neededMatrixGroup(needed), !matrixGroup.matrixGroup.ids.isEmpty {
      if isTooMany(targets.count, need, dependent) { return }
      need.instancesDigest = matrixGroups.digest(of: matrixGroup, need.condition)
    }
    for target in targets where !add(target, need, dependent) { return }
  }

  private func isTooMany(_ count: Int, _ need: TaskValues.Need, _ dependent: Dependent) -> Bool {
    let instanceCount = tasks.tasks(of: dependent.declaration).count
    if instanceCount * count <= Self.mostNeeds { return false }
    diagnostics.error(
      dependent.place(need),
      "\(instanceCount) matrix tasks need \(count) tasks each; a manifest can have at most"
        + " \(Self.mostNeeds) dependencies", help: Self.fewerHelp)
    return true
  }

  @inline(__always)
  private mutating func add(
    _ target: Int, _ need: TaskValues.Need, _ dependent: Dependent
  ) -> Bool {
    if target == dependent.number {
      diagnostics.error(
        dependent.place(need), "task `\(shown(target, need))` needs itself",
        help: "remove it from its own `needs`")
      return false
    }
    if isStamped(target, dependent.number) {
      diagnostics.error(
        dependent.place(need), "`\(shown(target, need))` is needed twice",
        help: "name it once; `on: finished` accepts any result")
      return false
    }
    if needs.targets.count == Self.mostNeeds, hasMatrixGroups {
      diagnostics.error(
        dependent.place(need), "the tasks have more than \(Self.mostNeeds) dependencies",
        help: Self.fewerHelp)
    }
    guard needs.targets.count < Self.mostNeeds || !hasMatrixGroups else { return false }
    needs.add(target, on: need.condition, offset: dependent.document.offset(need.node))
    return true
  }

  /// Returns true if the task already needs `target`, and records the need.
  @inline(__always)
  private mutating func isStamped(_ target: Int, _ number: Int) -> Bool {
    if target >= stamps.count { return stampsOfRun.updateValue(number, forKey: target) == number }
    if stamps[target] == Int32(truncatingIfNeeded: number) { return true }
    stamps[target] = Int32(truncatingIfNeeded: number)
    return false
  }

  private var hasMatrixGroups: Bool {
    !tasks.matrixGroups.isEmpty || tasks.run?.plan.matrixGroups.isEmpty == false
  }

  /// Names a target by a matrix task's ID, else as the need is written.
  private func shown(_ target: Int, _ need: TaskValues.Need) -> String {
    let isInstance =
      tasks.ofRun(target) != nil
      || tasks.matrixGroup(of: tasks.declaration(of: target))?.ids.isEmpty == false
    return (isInstance ? tasks.name(target) : need.name).string
  }

  private static let fewerHelp =
    "select matrix tasks by axis, `MATRIX[AXIS]`, or put a task between the two matrices"

  // MARK: Matrix tasks

  private mutating func addInstances(_ task: inout TaskValues, _ index: Int, _ dependent: Dependent)
  {
    let need = task.needs[index]
    let place = dependent.place(need)
    guard let selector = InstanceSelector(need.name),
      let target = tasks.declared.index(of: selector.matrixGroup, seenFrom: dependent.declaration)
    else { return reportUnknown(need, dependent) }
    guard let needed = neededMatrixGroup(target) else {
      return reportNoMatrixGroup(selector, at: place)
    }
    if needed.matrixGroup.emptiness == .later {
      return diagnostics.error(
        place,
        "`\(selector.matrixGroup.string)` has no matrix tasks to select yet: opflow makes them"
          + " during the run (`after`)",
        help: "need all of them, `\(selector.matrixGroup.string)`, or give the `matrix` of this"
          + " task an `after` too")
    }
    let own = tasks.matrixGroup(of: dependent.declaration)
    // An empty matrix has nothing to select from or by.
    if needed.matrixGroup.emptiness != nil || own?.emptiness != nil && selector.joins {
      addTarget(target, &task.needs[index], dependent)
      return
    }
    addInstances(selector, of: needed, &task, index, dependent)
  }

  private func reportNoMatrixGroup(_ selector: InstanceSelector, at place: Place) {
    diagnostics.error(
      place, "`\(selector.matrixGroup.string)` has no `matrix`, so it has no matrix tasks",
      help: "write `\(selector.matrixGroup.string)`")
  }

  private mutating func addInstances(
    _ selector: InstanceSelector, of needed: NeededMatrixGroup, _ task: inout TaskValues,
    _ index: Int, _ dependent: Dependent
  ) {
    let need = task.needs[index]
    var needer = MatrixGroupNeeds.Needer(name: task.name)
    if let own = tasks.matrixGroup(of: dependent.declaration), let instance = dependent.instance {
      needer.instance = (own, instance)
    }
    guard
      let instances = matrixGroups.instances(
        selector, written: need.name, of: needed, for: needer, at: dependent.place(need))
    else { return }
    var digest: UInt64 = 0
    for instance in instances {
      digest &+= Digest.need(needed.matrixGroup.ids[Int(instance)], need.condition)
      guard add(needed.firstTask + Int(instance), need, dependent) else { return }
    }
    task.needs[index].instancesDigest = digest
  }

  // MARK: Tasks of the run

  private struct NeedOfRun {
    let run: RunTasks
    let member: RunTasks.Member
    var selector: InstanceSelector?
  }

  /// Nil if the name means a task of the manifest, or nothing.
  private func needOfRun(_ name: ByteView, seenFrom declaration: Int, _ run: RunTasks) -> NeedOfRun?
  {
    let selector = InstanceSelector(name)
    let declared = tasks.declared
    let found: RunTasks.Member?? = declared.first(
      of: selector?.matrixGroup ?? name, seenFrom: declaration
    ) { id -> RunTasks.Member?? in
      if declared.index(of: id) != nil { return .some(nil) }
      return run.member(named: id).map { .some($0) }
    }
    guard case .some(.some(let member)) = found else { return nil }
    return NeedOfRun(run: run, member: member, selector: selector)
  }

  private mutating func add(
    _ need: NeedOfRun, _ task: inout TaskValues, _ index: Int, _ dependent: Dependent
  ) {
    switch need.member {
    case .task(let id):
      let isEmpty = need.run.plan.flags(id).contains(.emptyMatrix)
      // The task is a placeholder for a matrix that is empty or not made yet.
      if let selector = need.selector, !isEmpty {
        return reportNoMatrixGroup(selector, at: dependent.place(task.needs[index]))
      }
      if need.selector == nil { task.needs[index].name = need.run.name(id) }
      _ = add(tasks.number(ofRun: id), task.needs[index], dependent)
    case .matrixGroup(let id):
      let needed = matrixGroupOfRun(id, need.run)
      let own = tasks.matrixGroup(of: dependent.declaration)
      if let selector = need.selector, own?.emptiness == nil || !selector.joins {
        return addInstances(selector, of: needed, &task, index, dependent)
      }
      let ids = needed.matrixGroup.ids
      if isTooMany(ids.count, task.needs[index], dependent) { return }
      task.needs[index].instancesDigest = matrixGroups.digest(
        of: needed, task.needs[index].condition)
      for instance in ids.indices
      where !add(needed.firstTask + instance, task.needs[index], dependent) { return }
    }
  }

  private func matrixGroupOfRun(_ id: MatrixGroupID, _ run: RunTasks) -> NeededMatrixGroup {
    NeededMatrixGroup(
      number: tasks.matrixGroups.count + id.index,
      matrixGroup: run.matrixGroup(id, matrixGroups.texts),
      firstTask: tasks.number(ofRun: TaskID(run.plan.instances(id).lowerBound)))
  }

  /// Adds a need for the generator, unless the task names it in `needs`.
  private mutating func addGenerator(
    of task: borrowing TaskValues, _ dependent: Dependent
  ) -> TaskValues.Need? {
    guard let run = tasks.run,
      let generator = run.needImplied(in: tasks.declared.name(dependent.declaration))
    else { return nil }
    let target = tasks.number(ofRun: generator)
    if isStamped(target, dependent.number) { return nil }
    var need = TaskValues.Need(name: run.name(generator), node: task.key, condition: .success)
    need.firstEdge = task.needs.reduce(0) { $0 + $1.edgeCount }
    need.edgeCount = 1
    needs.add(target, on: need.condition, offset: dependent.document.offset(task.key))
    return need
  }

  // MARK: Unknown tasks

  private func reportUnknown(_ need: TaskValues.Need, _ dependent: Dependent) {
    guard knowsAll else { return }
    diagnostics.error(
      dependent.place(need), "unknown task `\(need.name.string)`",
      help: UnknownNeed(tasks: tasks, suggestions: suggestions).help(
        for: need.name, of: dependent.declaration))
  }

  // MARK: Checks of all tasks

  func reportCycles() {
    if needs.allPointBack { return }
    let needs = needs.own
    guard needs.hasCycle else { return }
    CycleReport(needs: needs, tasks: tasks).report(to: diagnostics)
  }

  func check(_ resources: ResourceTable) {
    let check = NeedCheck(diagnostics: diagnostics, tasks: tasks, needs: needs, needed: needed)
    check.checkFinally()
    check.checkConditions()
    check.checkServices(resources)
    check.checkValues(valueReads)
  }
}

struct UnknownNeed {
  let tasks: TaskList
  let suggestions: Suggestions

  func help(for name: ByteView, of declaration: Int) -> String? {
    severalHelp(name) ?? nearest(to: name, for: declaration)
      ?? shellHelp(name) ?? knownHelp(for: declaration)
  }

  /// Suggests an ID as the dependent's file writes it.
  private func nearest(to name: ByteView, for number: Int) -> String? {
    let declared = tasks.declared
    let prefix = declared.prefix(number)
    let others = (0..<declared.count).lazy.filter { $0 != number }
    let own = others.filter { declared.part($0) == declared.part(number) }
      .map { declared.name($0).part(prefix.count..<declared.name($0).count) }
    if !prefix.isEmpty, let help = suggestions.help(for: name, among: own) { return help }
    guard let run = tasks.run else {
      return suggestions.help(for: name, among: others.map { declared.name($0) })
    }
    return suggestions.help(for: name, among: others.map { declared.name($0) } + run.declaredNames)
  }

  private func shellHelp(_ name: ByteView) -> String? {
    ShellText(in: name).map {
      "opflow does not expand `\($0.text.string)` here; write `${{ env.\($0.variable) }}`"
    }
  }

  private func knownHelp(for number: Int) -> String? {
    let declared = tasks.declared
    guard declared.count + (tasks.run?.plan.taskCount ?? 0) <= 12 else { return nil }
    let own = (0..<declared.count).filter { $0 != number }.map { declared.name($0) }
    let names = (own + (tasks.run?.declaredNames ?? [])).map(\.string)
    if names.isEmpty { return "the manifest has no other task" }
    return names.count == 1
      ? "the other task is `\(names[0])`" : "the other tasks are \(names.joined(separator: ", "))"
  }

  /// Advice for several IDs in one text, as in make.
  private func severalHelp(_ text: ByteView) -> String? {
    guard text.count <= 200,
      text.contains(where: { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") })
    else { return nil }
    let ids = text.split { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") }
      .map { ByteView(rebasing: $0).string }
    return ids.isEmpty ? nil : "write several IDs as a list: [\(ids.joined(separator: ", "))]"
  }
}
