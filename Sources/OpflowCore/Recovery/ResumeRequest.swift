/// What a call asks of a run.
package struct ResumeRequest: Sendable {
  /// What this drive is about, with all that it needs; nil for all tasks.
  package var selected: TaskSet?
  /// What the run is about, `selected` among it: what an earlier drive was to do too; nil for all tasks.
  package var scope: TaskSet?
  /// `finally` tasks that were named, and so are due without any other.
  package var namedFinally: TaskSet?
  /// The run is one of named tasks: a `finally` task runs when one of its needs ran.
  package var finallyFollowsNeeds = false
  /// `--rerun`
  package var rerun: TaskSet?
  /// `--skip`
  package var skip: TaskSet?
  /// Tasks that the plan of the drive before did not have.
  package var added: TaskSet?
  /// Tasks one of whose outputs is not there.
  package var outputMissing: TaskSet?

  package init() {}

  func isOfRun(_ task: TaskID) -> Bool { scope?.contains(task) ?? true }
  func namesFinally(_ task: TaskID) -> Bool { namedFinally?.contains(task) ?? false }
  package func selects(_ task: TaskID) -> Bool { selected?.contains(task) ?? true }
  func reruns(_ task: TaskID) -> Bool { rerun?.contains(task) ?? false }
  package func skips(_ task: TaskID) -> Bool { skip?.contains(task) ?? false }
  func isNew(_ task: TaskID) -> Bool { added?.contains(task) ?? false }
  func missesOutput(_ task: TaskID) -> Bool { outputMissing?.contains(task) ?? false }
}
