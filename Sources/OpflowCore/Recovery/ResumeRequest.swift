/// What a call asks of a run.
package struct ResumeRequest: Sendable {
  /// `--only`, with all that the named ones need; nil for all tasks.
  package var selected: TaskSet?
  /// `--rerun`
  package var rerun: TaskSet?
  /// `--skip`
  package var skip: TaskSet?
  /// Tasks one of whose outputs is not there.
  package var outputMissing: TaskSet?

  package init() {}

  func selects(_ task: TaskID) -> Bool { selected?.contains(task) ?? true }
  func reruns(_ task: TaskID) -> Bool { rerun?.contains(task) ?? false }
  func skips(_ task: TaskID) -> Bool { skip?.contains(task) ?? false }
  func missesOutput(_ task: TaskID) -> Bool { outputMissing?.contains(task) ?? false }
}
