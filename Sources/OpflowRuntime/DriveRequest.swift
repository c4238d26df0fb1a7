package import OpflowBase
package import OpflowEngine
package import OpflowJournal
package import OpflowPlan
package import OpflowViews

package struct DriveRequest {
  package var folder: RunFolder
  package var plan: Plan
  package var runID: String
  package var options: SchedulerOptions
  package var durability: Durability
  package var entering: Entering
  /// Continues behind the last line of the journal.
  package var encoder: JournalEncoder
  /// Journaled before anything starts: `open` for a new run; `resume` and the tasks that leave an
  /// earlier state for a further session.
  package var opening: [JournalEntry]
  package var progress: ProgressOptions
  package var heading: ProgressHeading
  package var warnings: [String] = []
  /// Whether the make that started this process limits the jobs.
  package var sharesJobs = false
  var controlDescriptor: Int32?
  /// Ends services when files change; nil if only a user ends them.
  var serving: ServingWatch?
  /// To workers that the previous session left, by worker number; each has one of the held
  /// services.
  var links: [WorkerLink] = []
  /// Detects a takeover of the run; nil if that is impossible.
  var claim: RunClaim?
  /// nil for this machine only.
  var sites: SiteSettings?
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
