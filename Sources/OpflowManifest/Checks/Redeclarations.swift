internal import OpflowCore

/// Handles tasks that the run already has: equal ones are left out, different ones are errors.
struct Redeclarations {
  let tasks: TaskList
  let mistakes: Mistakes

  /// Returns the IDs of equal tasks, and reports different ones.
  ///
  /// - Parameter bytes: The plan of the manifest.
  func unchanged(in bytes: [UInt8]) -> [String] {
    guard let run = tasks.run else { return [] }
    let declared = tasks.declared
    let again = (0..<declared.count).filter { isKnown(declared.name($0), to: run) }
    // The plan was just built, so it is valid.
    guard !again.isEmpty, let plan = try? Plan(copying: bytes) else { return [] }
    let comparison = DefinitionComparison(old: run.plan, new: plan)
    var unchanged: [String] = []
    for declaration in again {
      let name = declared.name(declaration)
      let difference = difference(of: declaration, run, comparison)
      guard let difference else {
        unchanged.append(name.string)
        continue
      }
      if mistakes.isFull { mistakes.count() }
      let key = declared.document(declaration).place(declared.key(declaration))
      if run.family != nil {
        mistakes.error(
          key,
          "`\(name.string)` has legs in this run already, with \(difference) than those that it is "
            + "to have now",
          help: "`opflow resume --rerun \(name.string)` makes them anew")
        continue
      }
      let place = run.member(named: name).flatMap { placeText($0, run.plan) } ?? ""
      mistakes.error(
        key,
        "`\(name.string)` is in the run already, with \(difference)\(place)",
        help: "give it another id, or add it as the run has it: then nothing comes of it;"
          + " a task that is tried again may add another one by its id, unless something else "
          + "needs the first"
      )
    }
    return unchanged
  }

  /// Whether the run already has the task. A generator does not count as its matrix.
  private func isKnown(_ name: Text, to run: RunTasks) -> Bool {
    switch run.member(named: name) {
    case nil: false
    case .family: true
    case .task: run.family == nil
    }
  }

  private func placeText(_ member: RunTasks.Member, _ plan: Plan) -> String? {
    let task =
      switch member {
      case .task(let task): task
      case .family(let family): TaskID(plan.legs(family).lowerBound)
      }
    return plan.place(of: task).map { path, line in
      path == "-" ? "" : " (\(path):\(line))"
    }
  }

  /// Returns how a task differs from the run's; nil if it does not.
  private func difference(
    of declaration: Int, _ run: RunTasks, _ comparison: DefinitionComparison
  ) -> String? {
    let own = tasks.tasks(of: declaration)
    let family = tasks.family(of: declaration).flatMap { $0.ids.isEmpty ? nil : $0 }
    switch run.member(named: tasks.declared.name(declaration)) {
    case nil: return nil
    case .task(let task):
      if family != nil { return "no legs" }
      return comparison.difference(old: task, new: TaskID(own.lowerBound))
    case .family(let id):
      let legs = run.plan.legs(id)
      guard let family else { return run.family == nil ? "legs" : "other legs" }
      guard legs.count == own.count,
        zip(family.ids, legs).allSatisfy({ $0.isSame(as: run.name(TaskID($1))) })
      else { return "other legs" }
      // IDs do not contain all values, so matrix tasks are compared too.
      for (old, new) in zip(legs, own) {
        if let found = comparison.difference(old: TaskID(old), new: TaskID(new)) { return found }
      }
      return nil
    }
  }
}
