import OpflowCore
import OpflowRuntime
import OpflowSystem

/// A run read for a view: nothing of it is changed.
struct ReadRun {
  let folder: RunFolder
  let plan: Plan
  let history: RunHistory
  let recovery: JournalRecovery
  let isHeld: Bool

  init(_ folder: RunFolder, keepingDetails: Bool = false) throws(RunFolderError) {
    self.folder = folder
    // Before the journal: a run that ends meanwhile shows as running, never as interrupted.
    isHeld = try RunFolderLock.isHeld(folder)
    plan = try folder.openPlan()
    (history, recovery) = try folder.readHistory(
      plan: plan, keepingDetails: keepingDetails)
  }

  var status: RunStatus {
    var status = RunStatus(
      run: folder.id.description, plan: plan, history: history,
      included: RunScope.of(history, plan) ?? .all(taskCount: plan.taskCount), isHeld: isHeld)
    if isHeld { status.told = folder.readProgress(plan: plan) }
    return status
  }

  /// Tells what is wrong with the journal, unless it is just being written.
  func warn(_ console: Console) {
    if recovery.isIntact || isHeld && recovery.isOnlyTorn { return }
    for damage in recovery.damage.prefix(5) {
      console.warn("\(folder.journal): \(damage.message)")
    }
    if recovery.damage.count > 5 {
      console.warn("\(folder.journal): \(recovery.damage.count - 5) more places are damaged")
    }
  }
}
