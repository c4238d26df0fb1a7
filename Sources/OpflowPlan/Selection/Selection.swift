internal import OpflowBase

package struct Selection: Equatable, Sendable {
  /// Tasks that run or are skipped; other tasks are not part of the run.
  package private(set) var included: TaskSet
  /// `--skip` excludes these: dependents run as if they had succeeded.
  package private(set) var skipped: TaskSet
  package private(set) var namedFinally: TaskSet?
  /// `finally` tasks that run only if a dependency ran, because tasks were named.
  private var followers: TaskSet
  private var named: TaskSet?
  private var onlyNamed: TaskSet?
  /// The user did not name tasks, so `manual` tasks run only for dependents.
  private var leavesManualOut = false

  package init(all plan: Plan) {
    included = .all(taskCount: plan.taskCount)
    skipped = TaskSet(taskCount: plan.taskCount)
    followers = TaskSet(taskCount: plan.taskCount)
  }

  /// Selects tasks with their dependencies.
  ///
  /// - `tasks`: if any, only these and the `finally` tasks that depend on one of them. Without
  ///   `tasks` and `only`, all tasks but `manual` ones.
  /// - `only`: if any, only these and all `finally` tasks; intersected with `tasks`.
  /// - `skip`: overrides both, and does not select dependencies.
  package init(
    tasks: [String] = [], only: [String], skip: [String], of plan: Plan
  ) throws(SelectionError) {
    skipped = try Self.tasks("--skip", skip, plan)
    included = .all(taskCount: plan.taskCount)
    followers = TaskSet(taskCount: plan.taskCount)
    if !only.isEmpty {
      included = try Self.tasks("--only", only, plan)
      onlyNamed = included
      noteNamedFinally(of: plan)
      includeNeeds(of: plan)
      for index in plan.tasks where plan.flags(TaskID(index)).contains(.finally) {
        included.insert(TaskID(index))
      }
    }
    guard !tasks.isEmpty else {
      if only.isEmpty, plan.hasManual { leaveManualOut(of: plan) }
      return
    }
    let before = included
    included = try Self.tasks("run", tasks, plan)
    named = included
    noteNamedFinally(of: plan)
    includeNeeds(of: plan)
    includeFinally(of: plan)
    if !only.isEmpty { included = included.intersection(before) }
    for index in plan.tasks where plan.flags(TaskID(index)).contains(.finally) {
      if namedFinally?.contains(TaskID(index)) != true { followers.insert(TaskID(index)) }
    }
  }

  private mutating func leaveManualOut(of plan: Plan) {
    leavesManualOut = true
    included = TaskSet(taskCount: plan.taskCount)
    for index in plan.tasks where !plan.flags(TaskID(index)).contains(.manual) {
      included.insert(TaskID(index))
    }
    includeNeeds(of: plan)
  }

  /// Call it while `included` holds only named tasks.
  private mutating func noteNamedFinally(of plan: Plan) {
    for index in plan.tasks
    where included.contains(TaskID(index)) && plan.flags(TaskID(index)).contains(.finally) {
      if namedFinally == nil { namedFinally = TaskSet(taskCount: plan.taskCount) }
      namedFinally?.insert(TaskID(index))
    }
  }

  private mutating func includeNeeds(of plan: Plan) {
    let skipped = skipped
    included.addNeeds(of: plan) { !skipped.contains($0) }
  }

  /// Adds `finally` tasks that directly or indirectly depend on a selected task, without their
  /// other dependencies.
  private mutating func includeFinally(of plan: Plan) {
    var open = plan.tasks.map { TaskID($0) }.filter { included.contains($0) }
    while let task = open.popLast() {
      for edge in plan.dependents(task) {
        let dependent = plan.dependent(edge)
        guard plan.flags(dependent).contains(.finally) else { continue }
        if included.insert(dependent) { open.append(dependent) }
      }
    }
  }

  /// Tasks that the user selected. Services among them outlive their dependents. A service of
  /// `--only` is included if no other task of the run depends on it.
  package func namedForItself(of plan: Plan) -> TaskSet? {
    guard let onlyNamed, plan.hasServices else { return named }
    var all = named ?? TaskSet(taskCount: plan.taskCount)
    for index in plan.tasks {
      let task = TaskID(index)
      guard onlyNamed.contains(task), plan.isService(task) else { continue }
      let isNeeded = plan.dependents(task).contains { edge in
        let user = plan.dependent(edge)
        return included.contains(user) && !plan.flags(user).contains(.finally)
      }
      if !isNeeded { all.insert(task) }
    }
    return all
  }

  package static func tasks(
    _ flag: String, _ selectors: [String], _ plan: Plan
  ) throws(SelectionError) -> TaskSet {
    do throws(UnfitSelector) {
      return try Selector.tasks(selectors, of: plan)
    } catch {
      throw .unfit(flag: flag, error)
    }
  }

  /// Throws if nothing would run: `--skip` excludes all selected tasks, or `--only` all named ones.
  package func expectSomething(of plan: Plan) throws(SelectionError) {
    let isLeft = plan.tasks.contains { index in
      let task = TaskID(index)
      guard included.contains(task), !skipped.contains(task) else { return false }
      return !plan.flags(task).contains(.finally) || namedFinally?.contains(task) ?? false
    }
    if isLeft { return }
    if skipped.isEmpty, leavesManualOut { throw .onlyManual(tasks: Selector.manual(in: plan)) }
    throw skipped.isEmpty ? .nothingInCommon : .allSkipped
  }

  package func initialState(_ task: TaskID) -> InitialState {
    if !included.contains(task) { return .excluded }
    if skipped.contains(task) { return .skipOption }
    return followers.contains(task) ? .afterNeeds : .run
  }
}

package struct UnfitSelector: Error, Equatable, Sendable {
  package var selector: String
  package var nearest: String?
  /// The selector's matrix, if its tasks are generated only during the run.
  package var laterMatrix: String?
  /// The tasks, each matrix once, or the tags for a `tag:` selector; nil if too many to list.
  package var known: [String]?

  init(
    _ selector: String, nearest: String? = nil, laterMatrix: String? = nil, known: [String]?
  ) {
    self.selector = selector
    self.nearest = nearest
    self.laterMatrix = laterMatrix
    self.known = known
  }

  private var hint: String {
    if let matrix = laterMatrix.map(CleanText.string) {
      return "; the run has yet to generate the tasks of `\(matrix)`; name `\(matrix)`"
    }
    if let nearest {
      return "; did you mean `\(QuotedWords.quoted(CleanText.string(nearest)))`?"
    }
    let isTag = selector.hasPrefix("tag:")
    guard let known else { return isTag ? "" : "; `opflow tasks` lists the tasks" }
    if known.isEmpty {
      return isTag ? "; no task has a tag: add `tags: [slow]` to a task" : "; there are no tasks"
    }
    return "; its \(isTag ? "tags" : "tasks"): \(Self.list(known))"
  }

  fileprivate static func list(_ names: [String]) -> String {
    names.map { CleanText.string($0) }.joined(separator: ", ")
  }

  /// For `subject`, such as `no task of ci.yaml`; `hint` replaces the list of tasks.
  package func message(_ subject: String = "no task", hint: String? = nil) -> String {
    "\(subject) matches `\(CleanText.string(selector))`\(hint ?? self.hint)"
  }

  package func message(of flag: String) -> String { "\(flag): \(message())" }
}

package enum SelectionError: Error, Equatable, Sendable {
  case unfit(flag: String, UnfitSelector)
  case nothingInCommon
  case allSkipped
  case nothingRemains([String])
  case rerunLeftOut
  case noArguments(task: String, why: String)
  case onlyManual(tasks: [String]?)

  package var message: String {
    switch self {
    case .unfit(let flag, let selector): selector.message(of: flag)
    case .nothingInCommon:
      "--only matches none of the tasks that you named, so nothing would run"
    case .allSkipped: "--skip matches all selected tasks, so nothing would run"
    case .nothingRemains(let selectors):
      "the manifest no longer has \(CleanText.list(selectors) { "`\(CleanText.string($0))`" }),"
        + " for which the run was started; start a new run with `opflow run`"
    case .noArguments(let task, let why):
      "`\(CleanText.string(task))` cannot get arguments: \(why)"
    case .rerunLeftOut: "--rerun: --only or --skip excludes its tasks, or they are `manual`"
    case .onlyManual(let tasks):
      "every task is `manual`; name one" + (tasks.map { ": \(UnfitSelector.list($0))" } ?? "")
    }
  }
}

/// Resolves IDs, matrices, matrix tasks by value, patterns for IDs, and `tag:NAME`.
package enum Selector {
  /// Throws if a selector does not match any task.
  package static func tasks(_ selectors: [String], of plan: Plan) throws(UnfitSelector) -> TaskSet {
    var set = TaskSet(taskCount: plan.taskCount)
    for selector in selectors {
      if let tag = tagName(selector) {
        try insertTagged(tag, selector, plan, into: &set)
      } else if let instances = plan.instances(namedBy: selector) {
        for task in instances { set.insert(task) }
        // The generator of a matrix belongs to it.
        if let maker = plan.task(named: selector) { set.insert(maker) }
      } else if Glob.isPattern(selector) {
        try insertMatching(selector, plan, into: &set)
      } else if let task = plan.task(named: selector) {
        set.insert(task)
      } else {
        throw UnfitSelector(
          selector, nearest: nearest(to: selector, plan),
          laterMatrix: laterMatrix(of: selector, plan), known: known(in: plan, for: selector))
      }
    }
    return set
  }

  /// Returns `work` for `work[part=a]`, if a generator has yet to add its tasks.
  private static func laterMatrix(of selector: String, _ plan: Plan) -> String? {
    guard selector.utf8.last == UInt8(ascii: "]"), let open = selector.firstIndex(of: "[") else {
      return nil
    }
    let name = String(selector[..<open])
    guard let maker = plan.task(named: name), plan.makesInstances(maker) else { return nil }
    return name
  }

  private static let maxCandidates = 10_000

  private static func nearest(to selector: String, _ plan: Plan) -> String? {
    let matrixGroups = plan.matrixGroups.indices.lazy.map {
      plan.matrixGroupName(MatrixGroupID($0))
    }
    let names = plan.tasks.lazy.prefix(maxCandidates).map { plan.nameString(TaskID($0)) }
    return NearestName.of(selector, among: Array(matrixGroups.prefix(maxCandidates)) + names)
  }

  private static let mostKnown = 20

  /// The tasks to list for a wrong selector, or the tags for `tag:NAME`; nil if there are too many.
  static func known(in plan: Plan, for selector: String) -> [String]? {
    let names =
      tagName(selector) == nil
      ? Array(plan.foldedNames.prefix(mostKnown + 1)) : Array(tags(of: plan).prefix(mostKnown + 1))
    return names.count > mostKnown ? nil : names
  }

  /// The `manual` tasks, each matrix once; nil if there are too many.
  static func manual(in plan: Plan) -> [String]? {
    var names: [String] = []
    for name in plan.foldedNames {
      guard let task = plan.instances(namedBy: name)?.first ?? plan.task(named: name),
        plan.flags(task).contains(.manual)
      else { continue }
      if names.count == mostKnown { return nil }
      names.append(name)
    }
    return names
  }

  package static func tags(of plan: Plan) -> [String] {
    var tags: Set<String> = []
    for index in plan.tasks where tags.count < 1000 {
      for ref in plan.texts(.tags, of: TaskID(index)) { tags.insert(plan.string(ref)) }
    }
    return tags.sorted().map { "tag:\($0)" }
  }

  private static func tagName(_ selector: String) -> String? {
    selector.hasPrefix("tag:") ? String(selector.dropFirst(4)) : nil
  }

  private static func insertTagged(
    _ tag: String, _ selector: String, _ plan: Plan, into set: inout TaskSet
  ) throws(UnfitSelector) {
    var found = false
    var others: Set<String> = []
    for index in plan.tasks {
      for ref in plan.texts(.tags, of: TaskID(index)) {
        if plan.text(ref).elementsEqual(tag.utf8) {
          set.insert(TaskID(index))
          found = true
        } else if !found, others.count < 1000 {
          others.insert(plan.string(ref))
        }
      }
    }
    if found { return }
    let nearest = NearestName.of(tag, among: others.sorted()).map { "tag:\($0)" }
    throw UnfitSelector(selector, nearest: nearest, known: known(in: plan, for: selector))
  }

  private static func insertMatching(
    _ selector: String, _ plan: Plan, into set: inout TaskSet
  ) throws(UnfitSelector) {
    let glob = Glob(selector)
    var found = false
    for index in plan.tasks where glob.matches(plan.nameBytes(TaskID(index))) {
      set.insert(TaskID(index))
      found = true
    }
    if !found { throw UnfitSelector(selector, known: known(in: plan, for: selector)) }
  }
}

extension Plan {
  /// The tasks of a matrix, or those with the values of `build[arch=x86_64]`.
  func instances(namedBy word: String) -> [TaskID]? {
    if matrixGroups.isEmpty { return nil }
    var word = word
    if let matrixGroup = word.withUTF8({ matrixGroup(named: UnsafeRawBufferPointer($0)) }) {
      return instances(matrixGroup).map { TaskID($0) }
    }
    let bytes = Array(word.utf8)
    guard bytes.last == UInt8(ascii: "]"), let open = bytes.firstIndex(of: UInt8(ascii: "[")),
      let matrixGroup = bytes[..<open].withUnsafeBytes({ matrixGroup(named: $0) }),
      let wanted = values(bytes[(open + 1)..<(bytes.count - 1)], of: matrixGroup)
    else { return nil }
    let instances = instances(matrixGroup).lazy.map { TaskID($0) }.filter { task in
      let values = self.instanceValues(task, of: matrixGroup)
      return wanted.allSatisfy { self.text(values[$0.axis]).elementsEqual($0.value) }
    }
    return instances.isEmpty ? nil : Array(instances)
  }

  private func values(
    _ text: ArraySlice<UInt8>, of matrixGroup: MatrixGroupID
  ) -> [(axis: Int, value: [UInt8])]? {
    let axes = axes(matrixGroup)
    var values: [(axis: Int, value: [UInt8])] = []
    for part in text.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard let equals = part.firstIndex(of: UInt8(ascii: "=")),
        let axis = axes.firstIndex(where: { self.text($0).elementsEqual(part[..<equals]) })
      else { return nil }
      values.append((axis, Self.unescaped(part[(equals + 1)...])))
    }
    return values
  }

  /// `%XX` as in task IDs; users may write it or not.
  private static func unescaped(_ text: ArraySlice<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var position = text.startIndex
    while position < text.endIndex {
      if text[position] == UInt8(ascii: "%"), position + 2 < text.endIndex,
        let high = Hexadecimal.digit(text[position + 1]),
        let low = Hexadecimal.digit(text[position + 2])
      {
        bytes.append(high << 4 | low)
        position += 3
      } else {
        bytes.append(text[position])
        position += 1
      }
    }
    return bytes
  }
}

extension TaskArguments {
  /// nil without arguments. Throws for several tasks, and for a task without a command.
  package init?(_ words: [String], of names: [String], in plan: Plan) throws(SelectionError) {
    guard !words.isEmpty else { return nil }
    let found = try Selection.tasks("run", names, plan)
    guard found.count == 1,
      let task = plan.tasks.lazy.map({ TaskID($0) }).first(where: found.contains)
    else { throw Self.several(names, found, plan) }
    switch plan.kind(task) {
    case .command where plan.isName(task):
      throw .noArguments(
        task: plan.nameString(task), why: "it only groups its dependencies and runs no command")
    case .command where plan.makesInstances(task):
      throw .noArguments(
        task: plan.nameString(task),
        why: "it is a matrix whose tasks are generated during the run")
    case .shell, .command: self.init(task: task, words: words)
    case .approve:
      throw .noArguments(task: plan.nameString(task), why: "it is an approval and runs no command")
    case .block:
      throw .noArguments(
        task: plan.nameString(task), why: "it is an external task and runs no command")
    case .download:
      throw .noArguments(task: plan.nameString(task), why: "it is a download and runs no command")
    }
  }

  private static func several(_ names: [String], _ found: TaskSet, _ plan: Plan) -> SelectionError {
    let first = plan.tasks.lazy.map { TaskID($0) }.first(where: found.contains)
    let instance =
      first.map { QuotedWords.quoted(CleanText.string(plan.nameString($0))) } ?? ""
    return .noArguments(
      task: names.first ?? "",
      why: "these are \(found.count) tasks; name one, such as `\(instance)`")
  }
}

extension Plan {
  /// Tasks that are certain to be skipped: by `--skip`, by a false `if`, because of such a
  /// dependency, or as a `finally` task of named tasks without a dependency that can run.
  package func skippedFromTheStart(_ initial: [InitialState]) -> TaskSet {
    var skipped = TaskSet(taskCount: taskCount)
    var upstream = TaskSet(taskCount: taskCount)
    for position in 0..<taskCount {
      let task = TaskID(topologicalOrder[position])
      switch initial[task.index] {
      case .run, .recheck, .later, .afterNeeds, .laterAfterNeeds: break
      case .skipOption, .skipOnce:
        skipped.insert(task)
        continue
      case .succeeded, .upToDate, .failedAllowed, .skipped, .unused, .skippedUpstream, .interrupted,
        .failed, .stillFailed, .stillCancelled, .stillUpstream, .excluded, .leftDone, .leftFailed,
        .leftUpstream, .leftOpen, .stays:
        continue
      }
      if flags(task).contains(.conditionFalse) {
        skipped.insert(task)
      } else if needs(task).contains(where: { edge in
        let need = TaskID(needTargets[edge])
        return skipped.contains(need)
          && !TaskState.skipped.meets(needCondition(edge), skippedUpstream: upstream.contains(need))
      }) {
        skipped.insert(task)
        upstream.insert(task)
      } else if initial[task.index] == .afterNeeds,
        !needs(task).contains(where: { edge in
          let need = TaskID(needTargets[edge])
          return initial[need.index].mayStart && !skipped.contains(need)
        })
      {
        skipped.insert(task)
        upstream.insert(task)
      }
    }
    return skipped
  }
}
