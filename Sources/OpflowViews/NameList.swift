package import OpflowCore

package enum NameList {
  /// `a, b, c and 4 more`
  package static func text(_ tasks: some Collection<TaskID>, plan: Plan, limit: Int) -> String {
    let shown = tasks.prefix(limit).map { plan.nameString($0) }.joined(separator: ", ")
    return tasks.count > limit ? "\(shown) and \(tasks.count - limit) more" : shown
  }
}
