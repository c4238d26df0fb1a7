package import OpflowPlan

/// The state of each task at the start of the newest session, for a client that attaches later.
/// Results that were not discarded are kept or left alone; the rest of the selection is to run.
package enum EnteredDrive {
  package static func states(_ history: RunModel, _ plan: Plan) -> [InitialState] {
    let ofRun = RunScope.of(history, plan)
    let asked = history.selections.last ?? DriveSelection(only: [], skip: [])
    // A resume without its own `--only` has all tasks of the run.
    let isWhole = history.drives > 1 && asked.only == history.only
    var selected = isWhole ? ofRun : selection(asked, history, plan)?.included
    if var named = selected {
      RunScope.add(history.addedInDrive(plan), to: &named, plan)
      selected = named
    }
    let skippedOnce = skippedOnce(asked, history, plan)
    return plan.tasks.map { index in
      let task = TaskID(index)
      let record = history[task]
      if record.why == .skipped(.withdrawn) { return .excluded }
      let isEarlier = record.settleSequence > 0 && record.settleSequence < history.driveSequence
      if selected?.contains(task) ?? true {
        guard isEarlier else { return .run }
        if record.state == .skipped, record.why?.skipReason == .skipOption,
          skippedOnce?.contains(task) == true
        {
          return .leftOpen
        }
        return ResumeDecision.initialState(keeping: record.state, record.why?.skipReason)
      }
      guard history.drives > 1, ofRun?.contains(task) ?? true else { return .excluded }
      return ResumeDecision.initialState(
        leaving: record.isChanged ? .waiting : record.state, record.why?.skipReason)
    }
  }

  package static func states(ofAdded tasks: Range<Int>, _ plan: Plan) -> [InitialState] {
    var entered = TaskSet(taskCount: plan.taskCount)
    RunScope.add(tasks, to: &entered, plan)
    return tasks.map { entered.contains(TaskID($0)) ? .run : .excluded }
  }

  private static func selection(
    _ asked: DriveSelection, _ history: RunModel, _ plan: Plan
  ) -> Selection? {
    try? Selection(
      tasks: RunScope.fitting(history.tasks, plan), only: RunScope.fitting(asked.only, plan),
      skip: RunScope.fitting(asked.skip, plan), of: plan)
  }

  private static func skippedOnce(
    _ asked: DriveSelection, _ history: RunModel, _ plan: Plan
  ) -> TaskSet? {
    if history.drives < 2 || asked.skip == history.skip { return nil }
    guard let skipped = selection(asked, history, plan)?.skipped else { return nil }
    let always = RunScope.skipped(by: history, plan)
    var once = TaskSet(taskCount: plan.taskCount)
    for task in plan.tasks.lazy.map({ TaskID($0) })
    where skipped.contains(task) && !always.contains(task) {
      once.insert(task)
    }
    return once
  }
}
