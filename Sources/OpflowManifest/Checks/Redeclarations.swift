internal import OpflowPlan

/// Handles tasks that the run already has: equal ones are left out, different ones are errors.
struct Redeclarations {
  let tasks: TaskList
  let diagnostics: Diagnostics

  /// Returns equal tasks, and reports different ones.
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
      if diagnostics.isFull { diagnostics.count() }
      let key = declared.document(declaration).place(declared.key(declaration))
      if run.matrixGroup != nil {
        diagnostics.error(
          key,
          "the run already has matrix tasks of `\(name.string)`, with \(difference)",
          help: "`opflow resume --rerun \(name.string)` makes them again")
        continue
      }
      let place = run.member(named: name).flatMap { placeText($0, run.plan) } ?? ""
      diagnostics.error(
        key, "`\(name.string)` is already in the run, with \(difference)\(place)",
        help: "give it another ID, or repeat the definition of the run, which changes nothing;"
          + " a retried task can replace a task that it added, unless another task needs that one")
    }
    return unchanged
  }

  /// A matrix's generator is not its matrix.
  private func isKnown(_ name: ByteView, to run: RunTasks) -> Bool {
    switch run.member(named: name) {
    case nil: false
    case .matrixGroup: true
    case .task: run.matrixGroup == nil
    }
  }

  private func placeText(_ member: RunTasks.Member, _ plan: Plan) -> String? {
    let task =
      switch member {
      case .task(let task): task
      case .matrixGroup(let matrixGroup): TaskID(plan.instances(matrixGroup).lowerBound)
      }
    return plan.place(of: task).map { path, line in path == "-" ? "" : " (\(path):\(line))" }
  }

  /// Nil if there is no difference.
  private func difference(
    of declaration: Int, _ run: RunTasks, _ comparison: DefinitionComparison
  ) -> String? {
    let otherValues = "different values"
    let own = tasks.tasks(of: declaration)
    let matrixGroup = tasks.matrixGroup(of: declaration).flatMap { $0.ids.isEmpty ? nil : $0 }
    switch run.member(named: tasks.declared.name(declaration)) {
    case nil: return nil
    case .task(let task):
      if matrixGroup != nil { return "no matrix tasks" }
      return comparison.difference(old: task, new: TaskID(own.lowerBound))
    case .matrixGroup(let id):
      let instances = run.plan.instances(id)
      guard let matrixGroup else { return run.matrixGroup == nil ? "matrix tasks" : otherValues }
      guard instances.count == own.count,
        zip(matrixGroup.ids, instances).allSatisfy({ $0.isSame(as: run.name(TaskID($1))) })
      else { return otherValues }
      // IDs do not contain all values, so matrix tasks are compared too.
      for (old, new) in zip(instances, own) {
        if let found = comparison.difference(old: TaskID(old), new: TaskID(new)) { return found }
      }
      return nil
    }
  }
}

/// Both plans must have the same resources.
struct DefinitionComparison {
  let old: Plan
  let new: Plan

  /// Worded as the end of a sentence.
  func difference(old a: TaskID, new b: TaskID) -> String? {
    let (before, after) = (old.fingerprint(a), new.fingerprint(b))
    if before.whole != after.whole {
      let part = after.changedPart(from: before)
      if part == .run, new.kind(b) == .approve { return "a different `approve`" }
      if part == .run, new.kind(b) == .block { return "a different action" }
      return part.map { "a different `\($0)`" } ?? "a different definition"
    }
    return differentKey(a, b).map { "a different `\($0.name)`" }
  }

  /// Compares keys that fingerprints lack.
  private func differentKey(_ a: TaskID, _ b: TaskID) -> TaskKey? {
    differentFlag(a, b) ?? differentPolicy(old.policy(a), new.policy(b))
      ?? differentSetting(a, b) ?? differentAction(a, b)
  }

  private func differentFlag(_ a: TaskID, _ b: TaskID) -> TaskKey? {
    let different = old.flags(a).symmetricDifference(new.flags(b))
    return TaskKey.ofFlags.first { different.contains($0.flag) }?.key
  }

  private func differentPolicy(_ a: TaskPolicy, _ b: TaskPolicy) -> TaskKey? {
    PolicyReader.differentKey(
      a, b, sameCodes: old.codeList(a.retryCodes).elementsEqual(new.codeList(b.retryCodes)))
  }

  private func differentSetting(_ a: TaskID, _ b: TaskID) -> TaskKey? {
    let (before, after) = (old.record(a), new.record(b))
    if old.priority[a.index] != new.priority[b.index] { return .priority }
    if !old.demandList(old.demand[a.index]).elementsEqual(new.demandList(new.demand[b.index])) {
      return .resources
    }
    if !old.codeList(before.allowedCodes).elementsEqual(new.codeList(after.allowedCodes)) {
      return .allowFailure
    }
    for row in TaskKey.ofTexts where !isSame(before.texts[row.text], after.texts[row.text]) {
      return row.key
    }
    for row in TaskKey.ofProcesses where before.processes[row.rule] != after.processes[row.rule] {
      return row.key
    }
    if old.inputs(of: a) != new.inputs(of: b) { return .inputs }
    if old.outputs(of: a) != new.outputs(of: b) { return .outputs }
    if !isSameCondition(a, b) { return .condition }
    return nil
  }

  private func differentAction(_ a: TaskID, _ b: TaskID) -> TaskKey? {
    if old.kind(a) == .download {
      let (before, after) = (old.download(a), new.download(b))
      return before.resumes == after.resumes && before.maxBytesPerSecond == after.maxBytesPerSecond
        ? nil : .download
    }
    guard old.isService(a) else { return nil }
    return old.readiness(of: a) == new.readiness(of: b)
      && old.restarts(of: a) == new.restarts(of: b) && old.portNames(of: a) == new.portNames(of: b)
      ? nil : .service
  }

  private func isSameCondition(_ a: TaskID, _ b: TaskID) -> Bool {
    guard let before = old.lateCondition(a), let after = new.lateCondition(b) else { return true }
    let (first, second) = (old.steps(before), new.steps(after))
    return first.count == second.count
      && zip(first, second).allSatisfy { first, second in
        first.operation == second.operation && first.count == second.count
          && old.text(first.text).isSame(as: new.text(second.text))
          && (0..<Int(first.count)).allSatisfy {
            old.needName(Int(first.first) + $0, of: a)
              .isSame(as: new.needName(Int(second.first) + $0, of: b))
          }
      }
  }

  private func isSame(_ a: ListIndex, _ b: ListIndex) -> Bool {
    let (before, after) = (old.list(a), new.list(b))
    return before.count == after.count
      && zip(before, after).allSatisfy { old.text($0).isSame(as: new.text($1)) }
  }
}
