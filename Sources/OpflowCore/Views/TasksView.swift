/// What `opflow tasks` and `opflow` alone show: the tasks of a manifest, and where its newest run stands.
package enum TasksView {
  /// - Parameters:
  ///   - manifest: its path, as seen from here.
  ///   - only: the tasks that are shown; nil for all.
  ///   - newest: the newest run of it, where there is one.
  package static func text(
    _ plan: Plan, manifest: String, only: TaskSet? = nil, newest: RunStatus?,
    nowMilliseconds: Int64, color: Bool
  ) -> [UInt8] {
    let palette = Palette(isOn: color)
    var text = TextBuffer()
    let tasks = plan.taskCount == 1 ? "1 task" : "\(plan.taskCount) tasks"
    text.add("\(CleanText.string(manifest)): \(tasks)")
    text.endLine()
    let hasTags = plan.tasks.contains { !plan.texts(.tags, of: TaskID($0)).isEmpty }
    var table = TextTable(["TASK", "DESCRIPTION"] + (hasTags ? ["TAGS"] : []))
    var next = 0
    while next < plan.taskCount {
      let task = TaskID(next)
      let family = plan.family(of: task)
      let end = family.map { plan.legs($0).upperBound } ?? next + 1
      let shown = only.map { only in (next..<end).count { only.contains(TaskID($0)) } }
      defer { next = end }
      if shown == 0 { continue }
      let name = family.map { family in
        let count = plan.legs(family).count
        let some = shown.map { $0 < count } == true ? "\(shown ?? 0) of " : ""
        return "\(plan.familyName(family)) (\(some)\(count) legs)"
      }
      let tags = plan.texts(.tags, of: task).map { CleanText.string(plan.string($0)) }
      table.add(
        [CleanText.string(name ?? plan.nameString(task)), description(of: task, plan)]
          + (hasTags ? [tags.joined(separator: ", ")] : []))
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
    let text = CleanText.string(plan.description(of: task))
    guard plan.flags(task).contains(.manual) else { return text }
    return text.isEmpty ? "(manual)" : "\(text) (manual)"
  }
}
