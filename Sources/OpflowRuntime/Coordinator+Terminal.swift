internal import OpflowPlan
internal import OpflowSystem

extension Coordinator {
  /// Flushes the view, then lends the terminal, before the worker gets the task. The view stays
  /// silent until the task has ended.
  func lendTerminal(to task: TaskID) {
    // The task must find the terminal modes from before the view.
    progress.giveKeysBack()
    let loan = TerminalLoan(to: task)
    if !loan.isForeground {
      progress.warning(
        "\(plan.nameString(task)) needs the terminal, and opflow is in the background: `fg` brings "
          + "it back")
    }
    progress.lendTerminal()
    self.loan = loan
  }

  func noteKey(_ signal: Signal, from sender: Int32) -> Bool {
    // Signals of a terminal have no sender.
    guard let loan, signal == .interrupt, sender == 0 else { return false }
    loan.wasInterrupted = true
    return true
  }

  /// If Ctrl-C or a hang-up ended the task with the terminal, it counts as stopped, and Ctrl-C
  /// stops the run.
  func heedInterruption(_ task: TaskID, _ outcome: inout Outcome) {
    guard let loan, loan.task == task else { return }
    if loan.isHangUp(outcome) { outcome.reason = .stopped(.signal) }
    guard loan.isInterruption(outcome),
      !plan.allowsFailure(task, outcome.status, outcome.reason)
    else { return }
    stop(by: .interrupt)
    outcome.reason = .stopped(.signal)
  }

  func endLoan() {
    guard let loan else { return }
    loan.end()
    self.loan = nil
    progress.takeTerminalBack()
  }
}
