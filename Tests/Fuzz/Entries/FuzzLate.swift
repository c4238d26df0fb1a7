import OpflowPlan

/// Reads matrices, secrets and late expressions of a plan, and evaluates them with all kinds of
/// values.
enum FuzzLate {
  /// Limits the time: one program may serve many tasks, and each result may have megabytes.
  private static let mostTasks = 50

  static func readAll(_ plan: Plan) throws(FuzzFinding) {
    var size = 0
    for index in plan.matrixGroups.indices {
      let matrixGroup = MatrixGroupID(index)
      size += plan.matrixGroupName(matrixGroup).utf8.count + plan.axes(matrixGroup).count
      for instance in plan.instances(matrixGroup) {
        for value in plan.instanceValues(TaskID(instance), of: matrixGroup) {
          size += plan.text(value).count
        }
        try expect(
          plan.matrixGroup(of: TaskID(instance)) == matrixGroup, "a leg is of another family")
      }
    }
    for name in plan.foldedNames { size += name.utf8.count }
    for secret in plan.secrets { size += secret.name.utf8.count }
    for index in plan.tasks.prefix(mostTasks) {
      let task = TaskID(index)
      size += plan.secretNames(task).count
      try evaluate(plan, task)
    }
    try expect(size >= 0, "a size below nothing")
  }

  private static func evaluate(_ plan: Plan, _ task: TaskID) throws(FuzzFinding) {
    let needs = Set(plan.needs(task).map { TaskID(plan.needTargets[$0]) })
    try expect(
      plan.valueSources(of: task).allSatisfy { needs.contains($0) },
      "a value is read of a task that is not needed")
    for item in plan.lateItems(task) {
      var kind = 0
      let result = plan.evaluate(item.program, of: task) { source, name in
        kind += 1
        return answer(kind, source, name)
      }
      if case .lacking(let missing) = result {
        try expect(needs.contains(missing.need), "what is missing is of a task that is not needed")
        try expect(!missing.text(plan).isEmpty, "nothing is said of what is missing")
      }
    }
    if let condition = plan.lateCondition(task) {
      _ = plan.verdict(of: task, condition) { values($0) }
    }
    let digest = plan.valueDigest(of: task, arguments: ["x"]) { values($0) ?? [] }
    try expect(
      digest == plan.valueDigest(of: task, arguments: ["x"]) { values($0) ?? [] },
      "the same values have another digest")
  }

  private static func answer(
    _ kind: Int, _ source: TaskID, _ name: UnsafeRawBufferPointer
  ) -> FoundValue {
    switch kind % 5 {
    case 0: .absent
    case 1: .text(Array(name))
    case 2: .noSuccess
    case 3: .text(Array("false".utf8))
    default: source.index % 7 == 6 ? .tooLong : .text([])
    }
  }

  private static func values(_ task: TaskID) -> [TaskValue]? {
    if task.index % 3 == 2 { return nil }
    return [TaskValue(name: "v", text: Array("x".utf8), keepsText: true)]
  }
}
