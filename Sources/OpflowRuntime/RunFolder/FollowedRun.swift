package import OpflowCore
internal import OpflowSystem

/// A run that another process may drive, looked at again and again: its lock, its journal, and its plan,
/// which a resume of an edited manifest replaces.
package struct FollowedRun {
  package let folder: RunFolder
  package private(set) var plan: Plan
  /// Whether a process drove it before this looked last: what ended meanwhile shows as running, never as
  /// interrupted.
  package private(set) var isHeld = false
  private var journal: FollowedJournal
  private let keepsDetails: Bool
  /// The plan that the journal spoke of when `plan` was opened; nil before the first look.
  private var planKey: String?

  package init(_ folder: RunFolder, keepingDetails: Bool = false) throws(RunFolderError) {
    self.folder = folder
    keepsDetails = keepingDetails
    plan = try folder.openPlan()
    journal = FollowedJournal(folder, plan: plan, keepingDetails: keepingDetails)
  }

  package var model: RunModel { journal.model }

  /// Takes in what is new.
  package mutating func look() throws(RunFolderError) {
    isHeld = try RunFolderLock.isHeld(folder)
    try read()
    let key = model.resume?.planKey ?? model.open?.planKey
    if key == planKey { return }
    // The first look found the plan as it was opened just before, unless a resume came between.
    let isOther = planKey != nil || key != plan.key.description
    planKey = key
    guard isOther else { return }
    plan = try folder.openPlan()
    journal = FollowedJournal(folder, plan: plan, keepingDetails: keepsDetails)
    try read()
  }

  /// Somebody drives the run, and nothing is journaled of it yet: what the journal tells is of the drive
  /// before.
  package var isBeginning: Bool { isHeld && model.close != nil }

  private mutating func read() throws(RunFolderError) {
    if isHeld { try journal.look() } else { try journal.lookToEnd() }
  }
}
