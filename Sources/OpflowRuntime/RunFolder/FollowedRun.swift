package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

/// Follows a run's lock, its journal, and its plan, which a resume may replace and additions
/// extend.
package struct FollowedRun {
  package let folder: RunFolder
  /// As of before the journal was read: a run that ended in between shows as running, never as
  /// interrupted.
  package private(set) var isHeld = false
  private var journal: FollowedJournal
  private let keepsDetails: Bool
  /// As of the opening of the plan; nil before the first check.
  private var origin: PlanOrigin?

  package init(_ folder: RunFolder, keepingDetails: Bool = false) throws(RunFolderError) {
    self.folder = folder
    keepsDetails = keepingDetails
    journal = FollowedJournal(
      folder, plan: try folder.openPlan(), keepingDetails: keepingDetails)
  }

  package var model: RunModel { journal.model }
  package var plan: Plan { journal.plan }

  package mutating func look() throws(RunFolderError) { try look(isHeld: nil, each: nil) }

  /// Reads what is new. `isHeld`: the run is live, if known without its lock. `tellsAnew`: call
  /// `each` even for lines that are read again.
  package mutating func look(
    isHeld: Bool? = nil, tellsAnew: Bool, each: JournalFollower.EachLine
  ) throws(RunFolderError) {
    try withoutActuallyEscaping(each) { each throws(RunFolderError) in
      try look(isHeld: isHeld, each: (tellsAnew, each))
    }
  }

  private mutating func look(
    isHeld known: Bool?, each: (tellsAnew: Bool, body: JournalFollower.EachLine)?
  ) throws(RunFolderError) {
    isHeld = if let known { known } else { try RunFolderLock.isHeld(folder) }
    try read(each)
    let found = PlanOrigin(model)
    if let origin, !origin.isLeft(for: found, plan) { return }
    // At first the plan was just opened, and fits unless a resume came between.
    let isOther = origin != nil || found.isOther(than: plan)
    origin = found
    guard isOther else { return }
    journal = FollowedJournal(
      folder, plan: try folder.openPlan(), keepingDetails: keepsDetails)
    try read(each)
  }

  /// A session holds the run but the journal still describes the one before.
  package var isBeginning: Bool { isHeld && model.close != nil }

  private mutating func read(
    _ each: (tellsAnew: Bool, body: JournalFollower.EachLine)?
  ) throws(RunFolderError) {
    if let each {
      _ = try journal.look(toEnd: !isHeld, tellsAnew: each.tellsAnew, each: each.body)
    } else if isHeld {
      try journal.look()
    } else {
      try journal.lookToEnd()
    }
  }
}
