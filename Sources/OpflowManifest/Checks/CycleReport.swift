struct CycleReport {
  let needs: NeedList
  let tasks: TaskList

  func report(to mistakes: Mistakes) {
    for ring in needs.rings() {
      guard let first = ring.first else { continue }
      guard !mistakes.isFull else {
        mistakes.count()
        continue
      }
      // A cycle may have thousands of tasks, so only its beginning is shown.
      let shown = ring.prefix(20)
      var names = shown.map { tasks.name($0.task).string }
      if ring.count > shown.count { names.append("… \(ring.count - shown.count) more …") }
      names.append(tasks.name(first.task).string)
      let notes = shown.map { step in
        Mistakes.Note(
          place: place(step),
          message: "`\(tasks.name(step.task).string)` needs"
            + " `\(tasks.name(Int(needs.targets[step.edge])).string)` here"
        )
      }
      mistakes.add(
        Mistakes.Mistake(
          severity: .error, place: place(first),
          message: "tasks need each other in a ring: \(names.joined(separator: " -> "))",
          help: "take one of these needs away", notes: notes))
    }
  }
  private func place(_ step: (task: Int, edge: Int)) -> Place {
    needs.place(of: step.edge, in: tasks.document(step.task).file)
  }
}
