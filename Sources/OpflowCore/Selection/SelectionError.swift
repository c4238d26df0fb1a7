/// A selector that fits no task of the plan.
package struct UnfitSelector: Error, Equatable, Sendable {
  package var selector: String
  /// A task or tag that was likely meant.
  package var nearest: String?
  /// The matrix that it names a task of, where only a run finds these tasks.
  package var laterMatrix: String?

  /// What to do, behind what is wrong; nil where that is not known.
  package var hint: String? {
    if let matrix = laterMatrix.map(CleanText.string) {
      return "; the tasks of `\(matrix)` are known when a run has found them: name `\(matrix)`"
    }
    return nearest.map { "; did you mean `\(CleanText.string($0))`?" }
  }

  /// What is wrong, for the flag or argument it was given as.
  package func message(of flag: String) -> String {
    "\(flag): no task fits `\(CleanText.string(selector))`\(hint ?? "")"
  }
}

/// Why the tasks that a person named make no run.
package enum SelectionError: Error, Equatable, Sendable {
  /// Given as this flag or argument.
  case unfit(flag: String, UnfitSelector)
  /// `--only` and the tasks that are named have nothing in common.
  case nothingInCommon
  /// `--skip` takes away all that is named.
  case allSkipped
  /// The manifest has none of the tasks any more that the run was started for.
  case nothingRemains([String])
  /// `--rerun` names none of the tasks that `--only` and `--skip` leave.
  case rerunLeftOut
  /// What stands behind `--` cannot go to that task, for that reason.
  case noArguments(task: String, why: String)
  /// All tasks are `manual`, and none is named.
  case onlyManual

  package var message: String {
    switch self {
    case .unfit(let flag, let selector): selector.message(of: flag)
    case .nothingInCommon:
      "--only: none of its tasks is one of those that are named, so nothing would run"
    case .allSkipped: "--skip: it skips all that is to run, so nothing would run"
    case .nothingRemains(let selectors):
      "the run was started for \(Self.list(selectors)), which the manifest does not have any more;"
        + " start a new run"
    case .noArguments(let task, let why):
      "arguments cannot go to `\(CleanText.string(task))`: \(why)"
    case .rerunLeftOut: "--rerun: what it names is left out by --only or --skip, or is `manual`"
    case .onlyManual: "every task is `manual`, so nothing would run: name one"
    }
  }

  private static func list(_ selectors: [String]) -> String {
    let names = selectors.prefix(5).map { "`\(CleanText.string($0))`" }.joined(separator: ", ")
    return selectors.count > 5 ? "\(names) and \(selectors.count - 5) more" : names
  }
}
