package import OpflowJournal
package import OpflowPlan
internal import OpflowSystem

/// Reads a run for a view, without changing it.
package struct ReadRun {
  package let folder: RunFolder
  package var plan: Plan { journal.plan }
  /// Can continue where this reading stopped.
  package let journal: FollowedJournal
  package let recovery: JournalRecovery
  package let isHeld: Bool

  package init(
    _ folder: RunFolder, keepingDetails: Bool = false, keepingAttempts: Bool = false
  ) throws(RunFolderError) {
    self.folder = folder
    // First: a run that ends in between shows as running, never as interrupted.
    isHeld = try RunFolderLock.isHeld(folder)
    var journal = FollowedJournal(
      folder, plan: try folder.openPlan(), keepingDetails: keepingDetails,
      keepingAttempts: keepingAttempts)
    recovery = try journal.lookToEnd()
    self.journal = journal
  }

  package var history: RunModel { journal.model }

  package var status: RunStatus {
    var status = RunStatus(
      run: folder.id.description, plan: plan, history: history,
      included: RunScope.of(history, plan) ?? .all(taskCount: plan.taskCount), isHeld: isHeld)
    if isHeld {
      status.told = folder.readProgress(plan: plan)
      status.awaited = folder.readAwaited()
      let running = plan.tasks.lazy.map { TaskID($0) }.filter { history[$0].state.isRunning }
      if !running.isEmpty {
        var inner = InnerRuns(within: folder)
        status.inner = inner.look(at: Array(running), of: plan)
      }
    }
    return status
  }

  /// Damage of the journal, unless it is just being written.
  package var warnings: [String] {
    recovery.isIntact || isHeld && recovery.isOnlyTorn
      ? [] : recovery.warnings(path: folder.journal)
  }
}

extension JournalRecovery {
  func warnings(path: String) -> [String] {
    var warnings = damage.prefix(5).map { "\(path): \($0.message)" }
    if damage.count > 5 { warnings.append("\(path): \(damage.count - 5) more places are damaged") }
    return warnings
  }
}
