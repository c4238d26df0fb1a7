/// The expected result of an up-to-date check.
package enum FileForecast: Equatable, Sendable {
  /// Up to date, by the success with that origin number and those values.
  case fresh(origin: UInt64, [TaskValue])
  /// It runs or is restored; the reason is for people.
  case stale(why: String, isCached: Bool)
  /// A task that runs before it decides.
  case unsure
  /// It cannot start; the reason is for people.
  case unfit(what: String)
}

package struct RunBefore {
  package let needs: [TaskID]
  /// Whether all of these may turn out up to date.
  package let isUnsure: Bool
  /// Whether it would have started, by task.
  let isStarted: [Bool]

  package init(needs: [TaskID], isUnsure: Bool, isStarted: [Bool]) {
    self.needs = needs
    self.isUnsure = isUnsure
    self.isStarted = isStarted
  }

  package func isStarted(_ task: TaskID) -> Bool { isStarted[task.index] }
}

/// By the files as they are now.
package typealias FileForesight = (_ check: TaskCheck, _ before: RunBefore) -> FileForecast
