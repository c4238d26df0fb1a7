internal import OpflowBase

extension TaskArguments {
  /// Nil without arguments. Throws for several tasks, and for one that runs no command.
  package init?(
    _ words: [String], of names: [String], in plan: Plan
  ) throws(SelectionError) {
    guard !words.isEmpty else { return nil }
    let found = try Selection.tasks("run", names, plan)
    guard found.count == 1,
      let task = plan.tasks.lazy.map({ TaskID($0) }).first(where: found.contains)
    else { throw Self.several(names, found, plan) }
    switch plan.kind(task) {
    case .command where plan.isName(task):
      throw .noArguments(
        task: plan.nameString(task), why: "it is a name for what it needs, and runs no command")
    case .command where plan.makesLegs(task):
      throw .noArguments(
        task: plan.nameString(task),
        why: "it is a family, whose legs it makes while the run goes on")
    case .shell, .command: self.init(task: task, words: words)
    case .approve:
      throw .noArguments(task: plan.nameString(task), why: "it asks a person, and runs no command")
    case .block:
      throw .noArguments(task: plan.nameString(task), why: "it is a block, and runs no command")
    case .download:
      throw .noArguments(task: plan.nameString(task), why: "it is a download, and runs no command")
    }
  }

  private static func several(
    _ names: [String], _ found: TaskSet, _ plan: Plan
  ) -> SelectionError {
    let first = plan.tasks.lazy.map { TaskID($0) }.first(where: found.contains)
    let leg = first.map { CleanText.string(plan.nameString($0)) } ?? ""
    return .noArguments(
      task: names.first ?? "", why: "these are \(found.count) tasks; name one, such as `\(leg)`")
  }
}
