internal import OpflowBase

/// A selector that matches no task of the plan.
package struct UnfitSelector: Error, Equatable, Sendable {
  package var selector: String
  /// A task or tag.
  package var nearest: String?
  /// Of the selector, if its tasks are generated only during the run.
  package var laterMatrix: String?

  package var hint: String? {
    if let matrix = laterMatrix.map(CleanText.string) {
      return "; the tasks of `\(matrix)` are known when a run has found them: name `\(matrix)`"
    }
    return nearest.map { "; did you mean `\(CleanText.string($0))`?" }
  }

  package func message(of flag: String) -> String {
    "\(flag): no task fits `\(CleanText.string(selector))`\(hint ?? "")"
  }
}

package enum SelectionError: Error, Equatable, Sendable {
  /// No task matches a selector of this flag or argument.
  case unfit(flag: String, UnfitSelector)
  /// `--only` excludes all named tasks.
  case nothingInCommon
  /// `--skip` excludes all selected tasks.
  case allSkipped
  /// The manifest no longer has the tasks that the run was started for.
  case nothingRemains([String])
  /// `--rerun` selects only tasks that `--only` and `--skip` exclude.
  case rerunLeftOut
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
