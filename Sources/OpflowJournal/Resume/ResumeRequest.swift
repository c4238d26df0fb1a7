package import OpflowPlan

package struct ResumeRequest: Sendable {
  /// With dependencies; nil for all tasks.
  package var selected: TaskSet?
  /// Of the run: `selected` and those of earlier sessions; nil for all tasks.
  package var scope: TaskSet?
  /// Named `finally` tasks run even if no other task does.
  package var namedFinally: TaskSet?
  /// With named tasks, a `finally` task runs only if a dependency ran.
  package var finallyFollowsNeeds = false
  package var rerun: TaskSet?
  package var skip: TaskSet?
  /// Skipped by the whole run; a later session can run others of `skip`. Nil if there are no
  /// others.
  package var runSkip: TaskSet?
  /// Keeps failures too: the session continues a crashed one, for a client that knows these ends.
  /// Requests stay in force. Services and `finally` tasks are treated as usual.
  package var keepsEnds = false
  /// Not in the previous session's plan.
  package var added: TaskSet?
  package var outputMissing: TaskSet?

  /// Generators whose generated matrix tasks are missing from the plan.
  package var withoutLegs: TaskSet?

  /// Of finished tasks, with the strings that an `if` may read.
  package var values: [TaskID: ValueSet] = [:]

  package var arguments: TaskArguments?
  /// They run until the user stops them, and are done then.
  package var standing: TaskSet?
  package var namedServices: TaskSet?

  /// They run under this process with an unchanged definition.
  package var held: TaskSet?

  package init() {}

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
  /// Only this session excludes the task, not the run.
  func isSkippedOnce(_ task: TaskID) -> Bool { runSkip.map { !$0.contains(task) } ?? false }
  func isNew(_ task: TaskID) -> Bool { added?.contains(task) ?? false }
  func lacksLegs(_ task: TaskID) -> Bool { withoutLegs?.contains(task) ?? false }
  func missesOutput(_ task: TaskID) -> Bool { outputMissing?.contains(task) ?? false }
}
