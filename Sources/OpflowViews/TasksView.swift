internal import OpflowBase
package import OpflowJournal
package import OpflowPlan

/// The output of `opflow tasks` and plain `opflow`: the manifest's tasks and its newest run.
package enum TasksView {
  package static func text(
    _ plan: Plan, manifest: String, only: TaskSet? = nil, newest: RunStatus?,
    nowMilliseconds: Int64, color: Bool
  ) -> [UInt8] {
    let palette = Palette(isOn: color)
    var text = TextBuffer()
    let tasks = plan.taskCount == 1 ? "1 task" : "\(plan.taskCount) tasks"
    text.add("\(CleanText.string(manifest)): \(tasks)\n")
    let hasTags = plan.tasks.contains { !plan.texts(.tags, of: TaskID($0)).isEmpty }
    var table = TextTable(["TASK", "DESCRIPTION"] + (hasTags ? ["TAGS"] : []))
    var next = 0
    while next < plan.taskCount {
      let task = TaskID(next)
      let matrixGroup = plan.matrixGroup(of: task)
      let end = matrixGroup.map { plan.instances($0).upperBound } ?? next + 1
      let shown = only.map { only in (next..<end).count { only.contains(TaskID($0)) } }
      defer { next = end }
      if shown == 0 { continue }
      let name = matrixGroup.map { matrixGroup in
        let count = plan.instances(matrixGroup).count
        let some = shown.map { $0 < count } == true ? "\(shown ?? 0) of " : ""
        return "\(plan.matrixGroupName(matrixGroup)) (\(some)\(count) tasks)"
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
          + " \(newest.counts.ended) of \(newest.counts.total) done, started \(age)")
      text.endLine()
    }
    return text.take()
  }

  private static func description(of task: TaskID, _ plan: Plan) -> String {
    let text = CleanText.string(plan.description(of: task))
    guard plan.flags(task).contains(.manual) else { return text }
    return text.isEmpty ? "(manual)" : "\(text) (manual)"
  }
}

package enum TasksJSON {
  package static func text(_ plan: Plan, manifest: String, only: TaskSet? = nil) -> [UInt8] {
    let tasks = plan.tasks.lazy.map { TaskID($0) }.filter { only?.contains($0) ?? true }
    return JSONWriter.line { json in
      json.add("manifest", manifest)
      json.objects("tasks", tasks) { json, task in
        json.add("id", plan.nameBytes(task))
        json.add("family", plan.matrixGroup(of: task).map { plan.matrixGroupName($0) })
        json.add("desc", plan.description(of: task))
        json.array("tags", plan.texts(.tags, of: task)) { $0.string(plan.string($1)) }
        json.add("manual", plan.flags(task).contains(.manual))
        json.add("finally", plan.flags(task).contains(.finally))
        json.add("service", plan.isService(task))
        json.add("needs", plan.needs(task).map { TaskID(plan.needTargets[$0]) }, plan)
        let place = plan.place(of: task)
        json.add("file", place?.path)
        json.add("line", place.map { Int64($0.line) })
      }
    }
  }
}
