internal import OpflowCore

/// Finds the tasks that tasks need, once all are declared, and checks all needs together.
struct NeedResolver {
  let mistakes: Mistakes
  let suggestions: Suggestions
  private let tasks: TaskList
  private(set) var needs = NeedList()
  /// For each task, the last one that said it needs it.
  private var stamps: [Int32]
  private var finallyTasks: [Bool]
  /// Tasks that do not end by themselves, and questions.
  private var services: Set<Int> = []
  /// Variables of the ports of services.
  private var ports: [Int: [String]] = [:]
  private var questions: Set<Int> = []
  /// For each task: no process of it could leave a value.
  private var leavesNothing: [Bool]
  private var valueReads: [(task: Int, needs: Range<Int>, place: Place)] = []
  /// Of tasks that want some of what the manifest names.
  private var demands: [Int: [DemandItem]] = [:]
  private var families: FamilyNeeds
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
    finallyTasks = [Bool](repeating: false, count: tasks.count)
    leavesNothing = finallyTasks
    needs.reserve(taskCount: tasks.count, edgeCount: min(nodeCount, tasks.count * 4))
  }

  /// Adds the needs of a task, in the order of their numbers.
  /// A need then has the id of its task, whatever its file calls that.
  ///
  /// - Parameters:
  ///   - declaration: where it stands.
  ///   - leg: of its family; nil for a task on its own, and for a family without legs.
  mutating func add(_ task: inout TaskValues, _ number: Int, _ declaration: Int, leg: Int? = nil) {
    if task.flags.contains(.finally) { finallyTasks[number] = true }
    if let service = task.service {
      services.insert(number)
      if !service.ports.isEmpty { ports[number] = service.portVariables }
    }
    if task.kind == .approve { questions.insert(number) }
    if task.kind == .approve || task.kind == .download || task.service != nil {
      leavesNothing[number] = true
    }
    if task.own.contains(.demands), !task.lists.demands.items.isEmpty {
      demands[number] = task.lists.demands.items.filter {
        $0.resource > ResourceEntry.download
      }
    }
    if !task.needs.isEmpty {
      let document = tasks.declared.document(declaration)
      let start = needs.targets.count
      for index in task.needs.indices {
        task.needs[index].firstEdge = needs.targets.count - start
        defer {
          task.needs[index].edgeCount = needs.targets.count - start - task.needs[index].firstEdge
        }
        let name = task.needs[index].name
        guard let target = tasks.declared.index(of: name, seenFrom: declaration) else {
          addLegs(&task, index, number, declaration, leg, document)
          continue
        }
        addTarget(target, &task.needs[index], number, declaration, document)
        let id = tasks.declared.name(target)
        if name.count != id.count { task.needs[index].name = id }
      }
    }
    needs.endTask()
    for (id, place) in task.valueReads {
      for need in task.needs where ValueReference.isOf(need.written, id) {
        let first = need.firstEdge
        valueReads.append((number, first..<(first + need.edgeCount), place))
      }
    }
  }

  /// Adds all that is declared there: a task, or the legs of a family.
  @inline(__always)
  private mutating func addTarget(
    _ needed: Int, _ need: inout TaskValues.Need, _ number: Int, _ declaration: Int,
    _ document: YAMLDocument
  ) {
    let targets = tasks.tasks(of: needed)
    if let family = tasks.familyNumber(of: needed), !tasks.families[family].ids.isEmpty {
      let legCount = tasks.tasks(of: declaration).count
      if legCount * targets.count > Self.mostNeeds {
        mistakes.error(
          document.place(need.node),
          "\(legCount) legs need \(targets.count) each, which is more than the"
            + " \(Self.mostNeeds) needs that there may be",
          help: Self.fewerHelp)
        return
      }
      need.legsDigest = families.digest(
        ofFamily: family, tasks.families[family], need.condition)
    }
    for target in targets where !add(target, need, number, document) { return }
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
    if stamps[target] == Int32(truncatingIfNeeded: number) {
      mistakes.error(
        document.place(need.node), "`\(shown(target, need))` is needed twice",
        help: "name it once; with `on: finished` any end of it will do")
      return false
    }
    stamps[target] = Int32(truncatingIfNeeded: number)
    if needs.targets.count == Self.mostNeeds, !tasks.families.isEmpty {
      mistakes.error(
        document.place(need.node), "the legs have more than \(Self.mostNeeds) needs together",
        help: Self.fewerHelp)
    }
    guard needs.targets.count < Self.mostNeeds || tasks.families.isEmpty else { return false }
    needs.add(target, on: need.condition, offset: document.offset(need.node))
    return true
  }

  /// A task as its need has it; a leg, of which that may name many, by its id.
  private func shown(_ target: Int, _ need: TaskValues.Need) -> String {
    let isLeg = tasks.family(of: tasks.declaration(of: target))?.ids.isEmpty == false
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
    else { return reportUnknown(need, number, declaration, document) }
    guard let familyNumber = tasks.familyNumber(of: target) else {
      mistakes.error(
        place, "`\(selector.family.string)` has no `matrix`, so there are no legs of it",
        help: "write `\(selector.family.string)`")
      return
    }
    let family = tasks.families[familyNumber]
    let own = tasks.family(of: declaration)
    // Where there are no legs, on either side, there is nothing to choose from.
    if family.emptiness != nil || own?.emptiness != nil {
      addTarget(target, &task.needs[index], number, declaration, document)
      return
    }
    var needer = FamilyNeeds.Needer(name: task.name)
    if let own, let leg { needer.leg = (own, leg) }
    guard
      let legs = families.legs(
        selector, written: need.name, of: familyNumber, family, for: needer, at: place)
    else { return }
    let first = tasks.tasks(of: target).lowerBound
    var digest: UInt64 = 0
    for leg in legs {
      digest &+= Digest.need(family.ids[Int(leg)], need.condition)
      guard add(first + Int(leg), need, number, document) else { return }
    }
    task.needs[index].legsDigest = digest
  }

  private func reportUnknown(
    _ need: TaskValues.Need, _ number: Int, _ declaration: Int, _ document: YAMLDocument
  ) {
    guard knowsAll else { return }
    mistakes.error(
      document.place(need.node), "unknown task `\(need.name.string)`",
      help: severalHelp(need.name) ?? nearest(to: need.name, for: declaration)
        ?? shellHelp(need.name) ?? knownHelp(for: declaration))
  }

  /// What may have been meant: a name as the file of the task would write it.
  private func nearest(to name: Text, for number: Int) -> String? {
    let declared = tasks.declared
    let prefix = declared.prefix(number)
    let others = (0..<declared.count).lazy.filter { $0 != number }
    let own = others.filter { declared.part($0) == declared.part(number) }
      .map { declared.name($0).part(prefix.count..<declared.name($0).count) }
    if !prefix.isEmpty, let help = suggestions.help(for: name, among: own) { return help }
    return suggestions.help(for: name, among: others.map { declared.name($0) })
  }

  /// For a variable of a shell.
  private func shellHelp(_ name: Text) -> String? {
    ShellText(in: name).map {
      "an id is written out, or has an expression: `${{ env.\($0.variable) }}`"
    }
  }

  /// All that there are, where they are few.
  private func knownHelp(for number: Int) -> String? {
    let declared = tasks.declared
    guard declared.count <= 12 else { return nil }
    let names = (0..<declared.count).filter { $0 != number }.map { declared.name($0).string }
    if names.isEmpty { return "there is no other task" }
    return names.count == 1
      ? "the other task is `\(names[0])`" : "the other tasks are \(names.joined(separator: ", "))"
  }

  /// Several ids in one text, as make has them.
  private func severalHelp(_ text: Text) -> String? {
    guard text.count <= 200,
      text.contains(where: { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") })
    else { return nil }
    let ids = text.split { ASCII.isBlank($0) || $0 == UInt8(ascii: ",") }
      .map { Text(rebasing: $0).string }
    return ids.isEmpty ? nil : "several ids are a list: [\(ids.joined(separator: ", "))]"
  }

  // MARK: All together

  /// Reports tasks that need each other.
  func reportCycles() {
    guard !needs.allPointBack, needs.hasCycle else { return }
    CycleReport(needs: needs, tasks: tasks).report(to: mistakes)
  }

  /// A value that nothing could leave is never there.
  func checkValues() {
    for (task, range, place) in valueReads {
      let edges = needs.edges(of: task)
      let lacking = range.lazy.map { Int(needs.targets[edges.lowerBound + $0]) }
        .first { leavesNothing[$0] }
      guard let lacking else { continue }
      let name = tasks.name(lacking).string
      let (what, help) =
        services.contains(lacking)
        ? ("a service", "what needs it finds its `ports` in OPFLOW_PORT_NAME")
        : questions.contains(lacking)
          ? ("a question", "read a value of a task that runs a command")
          : ("a download", "what it fetched is the file in `to`; read that")
      mistakes.error(place, "`\(name)` is \(what), and leaves no values", help: help)
    }
  }

  /// A service runs while others do: there is no end of it that they could wait for.
  func checkServices(_ resources: ResourceTable) {
    if services.isEmpty { return }
    for task in 0..<needs.count {
      checkDemands(of: task, resources)
      if !ports.isEmpty { checkPorts(of: task) }
      var last: Place?
      for edge in needs.edges(of: task) where services.contains(Int(needs.targets[edge])) {
        let isQuestion = questions.contains(task)
        if needs.conditions[edge] == .success, !isQuestion { continue }
        let place = needs.place(of: edge, in: tasks.document(task).file)
        if place == last { continue }
        last = place
        let service = tasks.name(Int(needs.targets[edge])).string
        if isQuestion {
          mistakes.error(
            place, "a question (`approve`) cannot need the service `\(service)`",
            help: "nothing is run for it that could use it; let what follows it need the service")
        } else {
          mistakes.error(
            place, "`on: \(needs.conditions[edge])` says nothing of the service `\(service)`",
            help: "it runs while what needs it does; write `needs: [\(service)]`")
        }
      }
    }
  }

  /// A variable has one value.
  private func checkPorts(of task: Int) {
    var owners: [String: Int] = [:]
    for variable in ports[task] ?? [] { owners[variable] = task }
    for edge in needs.edges(of: task) {
      let need = Int(needs.targets[edge])
      for variable in ports[need] ?? [] {
        guard let other = owners.updateValue(need, forKey: variable), other != need else {
          continue
        }
        mistakes.error(
          needs.place(of: edge, in: tasks.document(task).file),
          "`\(tasks.name(need).string)` and `\(tasks.name(other).string)` both tell a port in"
            + " \(variable)",
          help: "give one of them another name under `ports`")
      }
    }
  }

  /// A task takes what it wants together with what the services want that it needs.
  private func checkDemands(of task: Int, _ resources: ResourceTable) {
    var together = demands[task] ?? []
    var names: [String] = []
    var open = [task]
    var place: Place?
    while let next = open.popLast() {
      for edge in needs.edges(of: next) {
        let need = Int(needs.targets[edge])
        guard services.contains(need), !names.contains(tasks.name(need).string) else { continue }
        if next == task, place == nil {
          place = needs.place(of: edge, in: tasks.document(task).file)
        }
        names.append(tasks.name(need).string)
        together += demands[need] ?? []
        open.append(need)
      }
    }
    guard let place else { return }
    for resource in Set(together.map(\.resource)).sorted() {
      let sum = together.filter { $0.resource == resource }.reduce(UInt64(0)) { $0 &+ $1.amount }
      let capacity = resources.capacity(resource)
      guard sum > capacity, !resources.isGPUOfMachine(resource) else { continue }
      let name = resources.names.texts[Int(resource)].string
      mistakes.error(
        place,
        "with its services (\(names.joined(separator: ", "))) the task wants"
          + " \(ResourceEntry.text(sum, of: resource)) of `\(name)`, of which there is"
          + " \(ResourceEntry.text(capacity, of: resource))",
        help: "it is started together with them; ask for less, or raise the capacity")
    }
  }

  /// A task of the main part cannot wait for one that runs after all others.
  func checkFinally() {
    guard finallyTasks.contains(true) else { return }
    for task in 0..<needs.count where !finallyTasks[task] {
      var last: Place?
      for edge in needs.edges(of: task) where finallyTasks[Int(needs.targets[edge])] {
        // A family is one need of many tasks.
        let place = needs.place(of: edge, in: tasks.document(task).file)
        if place == last { continue }
        last = place
        mistakes.error(
          place,
          "task `\(tasks.name(task).string)` needs the `finally` task"
            + " `\(tasks.name(Int(needs.targets[edge])).string)`, which runs after it",
          help: "make both `finally`, or neither")
      }
    }
  }
}
