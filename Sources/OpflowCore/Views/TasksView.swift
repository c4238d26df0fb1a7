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
    for index in plan.tasks {
      table.add([
        CleanText.string(plan.nameString(TaskID(index))),
        CleanText.string(plan.string(plan.record(TaskID(index)).description)),
      ])
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
}
