package import OpflowCore

/// All that one drive of a run is given.
package struct DriveRequest {
  package var folder: RunFolder
  package var plan: Plan
  package var runID: String
  package var options: SchedulerOptions
  package var durability: Durability
  package var entering: Entering
  /// Goes on behind the last line of the run's journal.
  package var encoder: JournalEncoder
  /// What is journaled before anything starts: `open` of a new run; `resume` and the tasks that
  /// leave an earlier state of a further drive.
  package var opening: [JournalEntry]
  package var progress: ProgressOptions
  package var heading: ProgressHeading
  /// Told to the person before anything starts.
  package var warnings: [String] = []
  /// Whether it has no more jobs than a make leaves it that started this process.
  package var sharesJobs = false
  /// See `RunRequest`.
  var controlDescriptor: Int32?
  /// What is to end services that stay; nil for nothing but a person.
  var serving: ServingWatch?
  /// Of workers that the drive before left, by their numbers: each has one of the services that enter as held.
  var links: [WorkerLink] = []
  /// By what it is seen that nobody has taken the run over; nil where that cannot be known.
  var claim: RunClaim?
  /// How other machines are reached; nil for this one alone.
  var sites: SiteSettings?
  /// For every worker.
  package var secrets: [SecretValue] = []

  package init(
    folder: RunFolder, plan: Plan, runID: String, options: SchedulerOptions,
    durability: Durability, entering: Entering, encoder: JournalEncoder, opening: [JournalEntry],
    progress: ProgressOptions, heading: ProgressHeading
  ) {
    self.folder = folder
    self.plan = plan
    self.runID = runID
    self.options = options
    self.durability = durability
    self.entering = entering
    self.encoder = encoder
    self.opening = opening
    self.progress = progress
    self.heading = heading
  }
}
