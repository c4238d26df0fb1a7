/// The expected result of an up-to-date check.
package enum FileForecast: Equatable, Sendable {
  /// Up to date, by the success with that origin number and those values.
  case fresh(origin: UInt64, [TaskValue])
  /// The task runs or is restored; the reason is for people.
  case stale(why: String, isCached: Bool)
  /// A task that runs before it decides.
  case unsure
  /// The task cannot start; the reason is for people.
  case unfit(what: String)
}

/// The tasks that would run before a task.
package struct RunBefore {
  /// The direct dependencies among them.
  package let needs: [TaskID]
  /// Whether all of these may turn out to be up to date.
  package let isUnsure: Bool
  /// Whether a task would have started, by task.
  let isStarted: [Bool]

  package func isStarted(_ task: TaskID) -> Bool { isStarted[task.index] }
}

/// Checks the files of a task as they are now.
package typealias FileForesight = (_ check: TaskCheck, _ before: RunBefore) -> FileForecast

/// The file results of a forecast.
package struct FilesForeseen: Equatable, Sendable {
  /// Tasks that do not run, in the order of checking.
  package internal(set) var upToDate: [TaskID] = []
  /// The number of further tasks that keep an earlier result of the run.
  package internal(set) var keptCount = 0
  /// The reasons why tasks run, for people; not for all.
  package internal(set) var reasons: [TaskID: String] = [:]
  /// Tasks restored from the cache.
  package internal(set) var cached: Set<TaskID> = []
  /// Tasks that may turn out up to date -> the first task this depends on.
  package internal(set) var unsure: [TaskID: TaskID] = [:]
}
