internal import OpflowCore

/// The patterns among the outputs of a plan's tasks. What two of them fit may be from either task; of other outputs that
/// two tasks have the manifest is an error.
struct OutputPatterns {
  private let patterns: [(task: TaskID, pattern: PlacedPattern)]
  /// How many tasks the plan had: more may have been added since.
  let taskCount: Int

  init(_ plan: Plan) {
    var patterns: [(task: TaskID, pattern: PlacedPattern)] = []
    for task in plan.tasks.lazy.map({ TaskID($0) }) where plan.declaresOutputs(task) {
      let folder = plan.string(plan.record(task).directory)
      for case .glob(let text) in plan.outputs(of: task) {
        if let pattern = PlacedPattern(text, in: folder) { patterns.append((task, pattern)) }
      }
    }
    self.patterns = patterns
    taskCount = plan.taskCount
  }

  /// Whether another task has a file among its outputs.
  ///
  /// - Parameter names: from the root.
  func isOfOther(than task: TaskID, _ names: [[UInt8]]) -> Bool {
    patterns.contains { $0.task != task && $0.pattern.covers(names) }
  }
}
