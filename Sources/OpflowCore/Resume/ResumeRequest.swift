/// What the user asks of a session.
package struct ResumeRequest: Sendable {
  /// The tasks of this session with their dependencies; nil for all tasks.
  package var selected: TaskSet?
  /// The tasks of the run, including `selected` and those of earlier sessions; nil for all tasks.
  package var scope: TaskSet?
  /// `finally` tasks that the user named; they run even if no other task does.
  package var namedFinally: TaskSet?
  /// Whether the run has named tasks, so that a `finally` task runs only if a dependency ran.
  package var finallyFollowsNeeds = false
  /// `--rerun`
  package var rerun: TaskSet?
  /// `--skip`
  package var skip: TaskSet?
  /// The tasks that the whole run skips; a later session can run others of `skip`. Nil if there are
  /// no others.
  package var runSkip: TaskSet?
  /// Whether all ends are kept, failures too: the session continues a crashed one, for a client
  /// that knows these ends. Requests stay in force. Services and `finally` tasks are treated as
  /// usual.
  package var keepsEnds = false
  /// Tasks that the previous session's plan did not have.
  package var added: TaskSet?
  package var outputMissing: TaskSet?

  /// Generators whose matrix tasks are missing from the plan although they were generated.
  package var withoutLegs: TaskSet?

  /// The values of finished tasks, with the strings that an `if` may read.
  package var values: [TaskID: ValueSet] = [:]

  package var arguments: TaskArguments?
  /// Services that run until the user stops them, and are done then; nil for none.
  package var standing: TaskSet?
  /// Services that the user selected explicitly.
  package var namedServices: TaskSet?

  /// Services that run under this process with an unchanged definition.
  package var held: TaskSet?

  package init() {}

  /// Whether the request treats no task specially.
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
  /// Whether only `--skip` of this session, not of the run, can exclude the task.
  func isSkippedOnce(_ task: TaskID) -> Bool { runSkip.map { !$0.contains(task) } ?? false }
  func isNew(_ task: TaskID) -> Bool { added?.contains(task) ?? false }
  func lacksLegs(_ task: TaskID) -> Bool { withoutLegs?.contains(task) ?? false }
  func missesOutput(_ task: TaskID) -> Bool { outputMissing?.contains(task) ?? false }
}
