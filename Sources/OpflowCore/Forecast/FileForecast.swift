/// What is found, without running anything, of a task that is checked by content.
package enum FileForecast: Equatable, Sendable {
  /// It is up to date: by the success with that number, which left those values.
  case fresh(origin: UInt64, [TaskValue])
  /// It runs, or its result comes back from the cache; why, for people.
  case stale(why: String, isCached: Bool)
  /// As far as can be seen it is up to date: what a task leaves that runs before decides.
  case unsure
  /// It cannot start; what is the matter, for people.
  case unfit(what: String)
}

/// What would run before a task.
package struct RunBefore {
  /// Of what it needs itself.
  package let needs: [TaskID]
  /// Whether each of these may turn out not to run.
  package let isUnsure: Bool
  /// By task, whether it would have been started.
  let isStarted: [Bool]

  package func isStarted(_ task: TaskID) -> Bool { isStarted[task.index] }
}

/// Looks at the files of a task as they are now.
///
/// - Parameter check: the question, as a drive would ask it.
package typealias FileForesight = (_ check: TaskCheck, _ before: RunBefore) -> FileForecast

/// What a forecast found of the files of tasks.
package struct FilesForeseen: Equatable, Sendable {
  /// Tasks that do not run for that, in the order they are looked at.
  package internal(set) var upToDate: [TaskID] = []
  /// How many more keep the result that they have of an earlier drive of the run.
  package internal(set) var keptCount = 0
  /// Why others run, for people; of many there is nothing to say.
  package internal(set) var reasons: [TaskID: String] = [:]
  /// Those of which the cache has the result.
  package internal(set) var cached: Set<TaskID> = []
  /// Those that may come out up to date, by what they need and what runs before them: the first of that.
  package internal(set) var unsure: [TaskID: TaskID] = [:]
}
