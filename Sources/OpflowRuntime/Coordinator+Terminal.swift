internal import OpflowCore
internal import OpflowSystem

/// Lending the terminal to tasks, one at a time (`TerminalLoan`).
extension Coordinator {
  /// What is there to be said is said; from then on nothing is, until the task has ended. Before the
  /// task's worker is told.
  func lendTerminal(to task: TaskID) {
    // What is set of it from here on is what the task finds.
    progress.giveKeysBack()
    let loan = TerminalLoan(to: task)
    if !loan.isForeground {
      progress.warning(
        "\(plan.nameString(task)) needs the terminal, and opflow is in the background: `fg` brings it"
          + " back")
    }
    progress.lendTerminal()
    self.loan = loan
  }

  /// Whether the signal is a key that is for the task which has the terminal.
  func noteKey(_ signal: Signal, from sender: Int32) -> Bool {
    // What a terminal sends has no sender.
    guard let loan, signal == .interrupt, sender == 0 else { return false }
    loan.wasInterrupted = true
    return true
  }

  /// A task has ended. Where it had the terminal and a Ctrl-C ended it, the run is stopped first, and the
  /// task is one that this stopped.
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
