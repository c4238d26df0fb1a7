package import OpflowCore

/// All that one drive of a run is given.
package struct DriveRequest {
  package var folder: RunFolder
  package var plan: Plan
  package var runID: String
  package var options: SchedulerOptions
  package var durability: Durability
  /// How each task enters, and the number of its last try.
  package var initial: [InitialState]
  package var attempts: [Int32]
  /// `finally` tasks run though nothing else may start (`ResumeDecision`).
  package var owesFinally = false
  /// What earlier runs tell of how long tasks take.
  package var durations = TaskDurations.unknown
  /// What is journaled before anything starts: `open` of a new run; `resume` and the tasks that
  /// leave an earlier state of a further drive.
  package var opening: [JournalEntry]
  package var progress: ProgressOptions
  package var heading: ProgressHeading
  /// Told to the person before anything starts.
  package var warnings: [String] = []

  package init(
    folder: RunFolder, plan: Plan, runID: String, options: SchedulerOptions,
    durability: Durability, initial: [InitialState], attempts: [Int32], opening: [JournalEntry],
    progress: ProgressOptions, heading: ProgressHeading
  ) {
    self.folder = folder
    self.plan = plan
    self.runID = runID
    self.options = options
    self.durability = durability
    self.initial = initial
    self.attempts = attempts
    self.opening = opening
    self.progress = progress
    self.heading = heading
  }
}
