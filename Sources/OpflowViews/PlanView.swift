internal import OpflowBase
package import OpflowEngine
package import OpflowJournal
package import OpflowPlan

/// The output of `opflow plan` and `--dry-run`.
package struct PlanView {
  private let plan: Plan
  private let options: SchedulerOptions
  private let capacities: [UInt64]
  private let resumeState: ResumeState
  private let reasons: [TaskID: Transition]
  private let foresight: FileForesight?
  private let isResumed: Bool
  private let palette: Palette
  private let showsAll: Bool
  private let columns: Int?

  private static let maxNeeds = 3
  private static let maxNames = 20

  /// `resumeState` is the engine's input. `reasons` explain why tasks with a result run again.
  /// `capacities` are values of `cpu` to compare, default the one in `options`; the first
  /// determines the order of the tasks. For `foresight` see `RunForecast`.
  package init(
    plan: Plan, options: SchedulerOptions, resumeState: ResumeState, reasons: [Transition] = [],
    capacities: [UInt64] = [], foresight: FileForesight? = nil, showsAll: Bool = false, color: Bool,
    columns: Int? = nil
  ) {
    self.columns = columns
    self.plan = plan
    self.showsAll = showsAll
    self.capacities = capacities.isEmpty ? [options.maxParallel] : capacities
    var options = options
    options.maxParallel = self.capacities[0]
    self.options = options
    self.resumeState = resumeState
    self.foresight = foresight
    var byTask: [TaskID: Transition] = [:]
    for reason in reasons where !reason.task.isNone { byTask[reason.task] = reason }
    self.reasons = byTask
    isResumed = !reasons.isEmpty || resumeState.initial.contains { $0.isReused }
    palette = Palette(isOn: color)
  }

  private static let pieceBytes = 64 * 1024

  package func write<Failure: Error>(to sink: ([UInt8]) throws(Failure) -> Void) throws(Failure) {
    let forecast = PlanForecast(
      plan: plan, options: options, resumeState: resumeState, capacities: capacities,
      foresight: foresight)
    var text = TextBuffer()
    writeHeading(forecast, into: &text)
    if !forecast.starts.isEmpty { try writeTable(forecast, into: &text, to: sink) }
    writeUpToDate(forecast.files.upToDate, into: &text)
    writeSettled(forecast.settled, into: &text)
    if !forecast.starts.isEmpty {
      DurationView(plan: plan, forecast: forecast, palette: palette).write(into: &text)
    }
    try sink(text.take())
  }

  package func text() -> [UInt8] {
    var bytes: [UInt8] = []
    write { bytes += $0 }
    return bytes
  }

  private func writeHeading(_ forecast: PlanForecast, into text: inout TextBuffer) {
    let count = resumeState.initial.count { !$0.isLeftOut }
    text.add(palette.bold(CleanText.string(plan.string(plan.manifest.name))))
    text.add(": \(count) \(count == 1 ? "task" : "tasks"), \(forecast.starts.count) to run")
    let files = forecast.files
    if !files.unsure.isEmpty { text.add(" (\(files.unsure.count) of them perhaps not)") }
    if !files.cached.isEmpty { text.add(", \(files.cached.count) of them from the cache") }
    let reused = resumeState.initial.count { $0.isReused } + files.keptCount
    if reused > 0 { text.add(", \(reused) already done") }
    if !files.upToDate.isEmpty { text.add(", \(files.upToDate.count) up to date") }
    text.add(", cpu \(options.maxParallel)\n")
  }

  private func writeTable<Failure: Error>(
    _ forecast: PlanForecast, into text: inout TextBuffer,
    to sink: ([UInt8]) throws(Failure) -> Void
  ) throws(Failure) {
    let starts = forecast.starts
    let demands = (0..<plan.demandCount).map { demand(UInt32(truncatingIfNeeded: $0)) }
    var layout = TableLayout(
      ["#", "TASK", "DURATION", "AFTER", "RESOURCES", "PRIORITY", "WHY", "COMMAND"],
      rightAligned: [0, 2, 5])
    layout.measure("\(starts.count)", in: 0)
    // The last column is not padded, so only the terminal's width counts.
    layout.measure(width: columns ?? 1, in: 7)
    let folds = showsAll ? [:] : FoldedInstances.of(starts, plan)
    for (index, task) in starts.enumerated() {
      guard let fold = fold(of: task, at: index, folds) else { continue }
      for (column, cell) in cells(task, fold, demands, forecast.files).enumerated() {
        layout.measure(cell, in: column + 1)
      }
    }
    if let columns { layout.fit(to: columns, cutsFirst: true, leavingOut: [5, 4, 2, 3, 6, 0]) }
    layout.writeTitles(into: &text, palette: palette)
    for (index, task) in starts.enumerated() {
      guard let fold = fold(of: task, at: index, folds) else { continue }
      let cells = cells(task, fold, demands, forecast.files)
      layout.write(["\(index + 1)"] + cells + [action(task)], into: &text)
      if text.bytes.count >= Self.pieceBytes { try sink(text.take()) }
    }
  }

  private func action(_ task: TaskID) -> String {
    plan.kind(task) == .approve
      ? ApprovalText.asks(task, plan: plan) : ActionText.text(task, plan: plan)
  }

  /// The matrix tasks that share a task's row: the task alone, or all of its matrix that start; nil
  /// if an earlier task has the row.
  private func fold(
    of task: TaskID, at index: Int, _ folds: [MatrixGroupID: FoldedInstances]
  ) -> FoldedInstances? {
    guard !folds.isEmpty, let matrixGroup = plan.matrixGroup(of: task),
      let fold = folds[matrixGroup]
    else { return FoldedInstances(first: index, tasks: [task]) }
    return fold.first == index ? fold : nil
  }

  private func cells(
    _ task: TaskID, _ fold: FoldedInstances, _ demands: [String], _ files: FilesForeseen
  ) -> [String] {
    var cells = fold.cells(plan, why: 5) { task in
      let priority = resumeState.priorities[task] ?? plan.priority[task.index]
      return [
        plan.nameString(task),
        plan.kind(task) == .approve ? "" : DurationView.cell(task, resumeState.durations),
        needs(task, isFolded: fold.tasks.count > 1), demands[Int(plan.demand[task.index])],
        priority == 0 ? "" : "\(priority)", why(task, files),
      ]
    }
    // If any task has a reason, a matrix has one too.
    if fold.tasks.count > 1, cells[5].isEmpty, hasReasons(files) {
      cells[5] =
        plan.isChecked(task)
        ? "no earlier success is recorded" : isResumed ? "has not run yet" : "has no `inputs`"
    }
    return cells
  }

  private func hasReasons(_ files: FilesForeseen) -> Bool {
    !reasons.isEmpty || !files.reasons.isEmpty || !files.unsure.isEmpty || !files.cached.isEmpty
  }

  private func why(_ task: TaskID, _ files: FilesForeseen) -> String {
    if let reason = reasons[task] { return ReasonText.text(reason.why, plan: plan) }
    if let need = files.unsure[task] {
      return "unless the outputs of \(plan.nameString(need)) stay the same"
    }
    let reason = CleanText.string(files.reasons[task] ?? "")
    guard files.cached.contains(task) else { return reason }
    return reason.isEmpty ? "cached" : "\(reason) (cached)"
  }

  private func writeUpToDate(_ tasks: [TaskID], into text: inout TextBuffer) {
    if tasks.isEmpty { return }
    let folds = showsAll ? [:] : FoldedInstances.of(tasks, plan)
    let names = tasks.enumerated().lazy.compactMap { index, task in
      fold(of: task, at: index, folds)?.name(plan)
    }
    let shown = names.prefix(showsAll ? .max : Self.maxNames).map(CleanText.string)
    let more = folds.isEmpty ? tasks.count - shown.count : names.dropFirst(shown.count).count
    let rest = more > 0 ? " … and \(more) more" : ""
    text.add("up to date: \(shown.joined(separator: ", "))\(rest)\n")
  }

  private func writeSettled(_ settled: [Transition], into text: inout TextBuffer) {
    let failed = resumeState.initial.indices.lazy.filter { resumeState.initial[$0] == .failed }
    for index in failed.prefix(Self.maxNames) {
      text.add(
        "stays failed: \(plan.nameString(TaskID(index)))"
          + " (on_interrupted: fail; to run it again: --rerun)\n")
    }
    writeManual(into: &text)
    for transition in settled.prefix(Self.maxNames) {
      let verb = transition.event.kind == .skip ? "skipped" : "failed"
      let reason =
        transition.detail.isEmpty
        ? ReasonText.text(transition.why, plan: plan) { state(of: $0, in: settled) }
        : transition.detail
      text.add("\(verb): \(plan.nameString(transition.task)) (\(CleanText.string(reason)))\n")
    }
    if settled.count > Self.maxNames {
      text.add("… and \(settled.count - Self.maxNames) more will not run\n")
    }
  }

  /// The known end of a dependency of a skipped task.
  private func state(of task: TaskID, in settled: [Transition]) -> TaskState? {
    if resumeState.initial[task.index] == .failed { return .failed }
    guard let end = settled.first(where: { $0.task == task }) else { return nil }
    return end.event.kind == .skip ? .skipped : .failed
  }

  private func writeManual(into text: inout TextBuffer) {
    guard plan.hasManual else { return }
    let left = plan.tasks.lazy.map { TaskID($0) }.filter {
      resumeState.initial[$0.index] == .excluded
    }
    guard left.allSatisfy({ plan.flags($0).contains(.manual) }) else { return }
    if left.isEmpty { return }
    let names = NameList.text(left, limit: Self.maxNames) { CleanText.string(plan.nameString($0)) }
    text.add("not selected (manual): \(names)\n")
  }

  /// `isFolded` names the matrix even for a single matrix task.
  private func needs(_ task: TaskID, isFolded: Bool) -> String {
    let edges = plan.needs(task)
    let isFinally = plan.flags(task).contains(.finally)
    if edges.isEmpty { return isFinally ? "all others" : "" }
    var names: [String] = []
    var edge = edges.lowerBound
    while edge < edges.upperBound, names.count < Self.maxNeeds {
      let (name, count) = need(at: edge, of: edges, isFolded: isFolded)
      switch plan.needCondition(edge) {
      case .success: names.append(name)
      case .failure: names.append("\(name) (failed)")
      case .finished: names.append("\(name) (finished)")
      case .ran: names.append("\(name) (ran)")
      }
      edge += count
    }
    if edge < edges.upperBound { names.append("\(edges.upperBound - edge) more") }
    if isFinally { names.append("all others") }
    return names.joined(separator: ", ")
  }

  /// The dependency of an edge: a task, or with the edges after it a matrix.
  private func need(
    at edge: Int, of edges: Range<Int>, isFolded: Bool
  ) -> (name: String, edges: Int) {
    let target = TaskID(plan.needTargets[edge])
    guard !showsAll, let matrixGroup = plan.matrixGroup(of: target) else {
      return (plan.nameString(target), 1)
    }
    let instances = plan.instances(matrixGroup)
    let count = edges[edge...].prefix {
      instances.contains(Int(plan.needTargets[$0]))
        && plan.needCondition($0) == plan.needCondition(edge)
    }.count
    let isTold = isFolded || (count == instances.count && count > 1)
    return isTold ? (plan.matrixGroupName(matrixGroup), count) : (plan.nameString(target), 1)
  }

  private func demand(_ demand: UInt32) -> String {
    let items = plan.demandList(demand)
    if items.count == 1, let only = items.first, only.resource == ResourceEntry.cpu,
      only.amount == 1
    {
      return ""
    }
    return items.map { item in
      "\(plan.string(plan.resources[Int(item.resource)].name))"
        + " \(AmountText.text(item.amount, of: item.resource))"
    }.joined(separator: ", ")
  }
}

struct DurationView {
  let plan: Plan
  let forecast: PlanForecast
  let palette: Palette

  private static let maxNames = 20

  private var durations: TaskDurations { forecast.durations }
  private var path: CriticalPath { forecast.path }
  private var rows: [PlanForecast.Row] { forecast.rows }

  func write(into text: inout TextBuffer) {
    if let only = rows.first, rows.count == 1 { writeExpected(only, into: &text) }
    writePath(into: &text)
    if rows.count > 1 { writeTable(into: &text) }
    if let basis { text.add("\(basis)\n") }
  }

  private func writeExpected(_ row: PlanForecast.Row, into text: inout TextBuffer) {
    text.add("expected: \(amount(row.makespan)), at least \(amount(row.bound))\n")
  }

  private func writePath(into text: inout TextBuffer) {
    let names = NameList.text(path.tasks, limit: Self.maxNames) { task in
      let name = CleanText.string(plan.nameString(task))
      return durations.areKnown ? "\(name) \(Self.cell(task, durations))" : name
    }
    text.add("critical path, \(amount(path.length)): \(names)\n")
  }

  private func writeTable(into text: inout TextBuffer) {
    var table = TextTable(["CPU", "EXPECTED", "AT LEAST"], rightAligned: [0, 1, 2])
    for row in rows {
      table.add(["\(row.maxParallel)", amount(row.makespan), amount(row.bound)])
    }
    table.write(into: &text, palette: palette)
  }

  private var basis: String? {
    guard durations.areKnown else {
      return "no durations from earlier runs, so every task counts as 1"
    }
    let count = plan.taskCount - plan.approvalCount
    if count == durations.knownCount { return nil }
    return "earlier runs timed \(durations.knownCount) of \(count) tasks; ~ is an estimate"
  }

  private func amount(_ value: Int64) -> String {
    if durations.areKnown { return DurationText.text(microseconds: value) }
    return value == 1 ? "1 task" : "\(value) tasks"
  }

  static func cell(_ task: TaskID, _ durations: TaskDurations) -> String {
    guard durations.areKnown else { return "" }
    let text = DurationText.text(microseconds: durations[task])
    return durations.isGuess(task) ? "~\(text)" : text
  }
}
