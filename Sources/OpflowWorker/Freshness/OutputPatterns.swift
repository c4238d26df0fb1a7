internal import OpflowPlan

/// A file that matches output patterns of two tasks may be from either; other shared outputs are an
/// error of the manifest.
struct OutputPatterns {
  private let patterns: [(task: TaskID, pattern: PlacedPattern)]
  /// More tasks may have been added since.
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

  /// `names` is a path split from the root.
  func isOfOther(than task: TaskID, _ names: [[UInt8]]) -> Bool {
    patterns.contains { $0.task != task && $0.pattern.covers(names) }
  }
}
