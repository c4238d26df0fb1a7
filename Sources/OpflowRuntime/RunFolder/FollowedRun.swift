package import OpflowCore
internal import OpflowSystem

/// A run that another process may drive, looked at again and again: its lock, its journal, and its plan,
/// which a resume of an edited manifest replaces, and to which tasks may be added.
package struct FollowedRun {
  package let folder: RunFolder
  /// Whether a process drove it before this looked last: what ended meanwhile shows as running, never as
  /// interrupted.
  package private(set) var isHeld = false
  private var journal: FollowedJournal
  private let keepsDetails: Bool
  /// What the journal spoke of when the plan was opened; nil before the first look.
  private var origin: PlanOrigin?

  package init(_ folder: RunFolder, keepingDetails: Bool = false) throws(RunFolderError) {
    self.folder = folder
    keepsDetails = keepingDetails
    journal = FollowedJournal(
      folder, plan: try folder.openPlan(), keepingDetails: keepingDetails)
  }

  package var model: RunModel { journal.model }
  package var plan: Plan { journal.plan }

  /// Takes in what is new.
  package mutating func look() throws(RunFolderError) { try look(isHeld: nil, each: nil) }

  /// Takes in what is new, and hands on each line of that.
  ///
  /// - Parameters:
  ///   - isHeld: whether a process drives the run, where that is known without its lock.
  ///   - tellsAnew: `each` is called also for what is read anew, from the beginning.
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
    // The first look found the plan as it was opened just before, unless a resume came between.
    let isOther = origin != nil || found.isOther(than: plan)
    origin = found
    guard isOther else { return }
    journal = FollowedJournal(
      folder, plan: try folder.openPlan(), keepingDetails: keepsDetails)
    try read(each)
  }

  /// Somebody drives the run, and nothing is journaled of it yet: what the journal tells is of the drive
  /// before.
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
