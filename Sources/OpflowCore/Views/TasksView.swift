/// What `opflow` alone shows: the tasks of the manifest that is here, and where its newest run stands.
package enum TasksView {
  /// - Parameters:
  ///   - manifest: its path, as seen from here.
  ///   - newest: the newest run of it, where there is one.
  package static func text(
    _ plan: Plan, manifest: String, newest: RunStatus?, nowMilliseconds: Int64, color: Bool
  ) -> [UInt8] {
    let palette = Palette(isOn: color)
    var text = TextBuffer()
    let tasks = plan.taskCount == 1 ? "1 task" : "\(plan.taskCount) tasks"
    text.add("\(CleanText.string(manifest)): \(tasks)")
    text.endLine()
    var table = TextTable(["TASK", "DESCRIPTION"])
    var next = 0
    while next < plan.taskCount {
      let task = TaskID(next)
      let family = plan.family(of: task)
      let name = family.map { "\(plan.familyName($0)) (\(plan.legs($0).count) legs)" }
      table.add([
        CleanText.string(name ?? plan.nameString(task)),
        description(of: task, plan),
      ])
      next = family.map { plan.legs($0).upperBound } ?? next + 1
    }
    table.write(into: &text, palette: palette)
    if let newest {
      let age = RunsView.age(nowMilliseconds - newest.openedMilliseconds)
      text.add(
        "newest run: \(newest.run) \(newest.state.rawValue),"
          + " \(newest.counts.ended) of \(newest.counts.total) done, began \(age)")
      text.endLine()
    }
    return text.take()
  }

  /// What the manifest says of a task, and whether it runs by itself.
  private static func description(of task: TaskID, _ plan: Plan) -> String {
    let text = CleanText.string(plan.string(plan.record(task).description))
    guard plan.flags(task).contains(.manual) else { return text }
    return text.isEmpty ? "(manual)" : "\(text) (manual)"
  }
}
