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
  /// What `--skip` of the run itself names: what is skipped beside that is still to be done. Nil where
  /// all that is skipped is skipped for good.
  package var runSkip: TaskSet?
  /// What has an end keeps it, whatever that is: the drive goes on where one was lost, for somebody who knows those
  /// ends, and is no further try of what went wrong. What was ordered of it holds. Services and `finally` tasks are as in any drive.
  package var keepsEnds = false
  /// Tasks that the plan of the drive before did not have.
  package var added: TaskSet?
  /// Tasks one of whose outputs is not there.
  package var outputMissing: TaskSet?

  /// Tasks that make legs, and whose legs the plan is without though they made some.
  package var withoutLegs: TaskSet?

  /// What tasks left for others, with the texts that an `if` may read.
  package var values: [TaskID: ValueSet] = [:]

  package var arguments: TaskArguments?
  /// Services that are to stay until somebody ends them, and are done only then; nil for none that ended.
  package var standing: TaskSet?
  /// Services that the run is about for themselves, whatever else may need them.
  package var namedServices: TaskSet?

  /// Services that are up in the hands of this process, and defined as they were when they were started.
  package var held: TaskSet?

  package init() {}

  /// Whether it says nothing of certain tasks that they have not come to by themselves.
  var singlesOutNone: Bool {
    rerun == nil && skip == nil && outputMissing == nil && withoutLegs == nil && arguments == nil
      && !keepsEnds
  }

  func isOfRun(_ task: TaskID) -> Bool { scope?.contains(task) ?? true }
  func namesFinally(_ task: TaskID) -> Bool { namedFinally?.contains(task) ?? false }
  package func selects(_ task: TaskID) -> Bool { selected?.contains(task) ?? true }
  func stays(_ service: TaskID) -> Bool { standing?.contains(service) ?? false }
  func names(_ service: TaskID) -> Bool { namedServices?.contains(service) ?? false }
  func holds(_ service: TaskID) -> Bool { held?.contains(service) ?? false }
  func reruns(_ task: TaskID) -> Bool { rerun?.contains(task) ?? false }
  package func skips(_ task: TaskID) -> Bool { skip?.contains(task) ?? false }
  /// Whether `--skip` of a drive, but not of the run, is all that can name the task.
  func isSkippedOnce(_ task: TaskID) -> Bool { runSkip.map { !$0.contains(task) } ?? false }
  func isNew(_ task: TaskID) -> Bool { added?.contains(task) ?? false }
  func lacksLegs(_ task: TaskID) -> Bool { withoutLegs?.contains(task) ?? false }
  func missesOutput(_ task: TaskID) -> Bool { outputMissing?.contains(task) ?? false }
}
