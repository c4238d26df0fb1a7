internal import OpflowEngine
internal import OpflowPlan
internal import OpflowSystem

extension Coordinator {
  /// Signals that were ignored at the start stay ignored: SIGHUP by nohup(1), SIGINT for background
  /// jobs of a shell without job control. SIGTERM always ends a run.
  static func watchedSignals() throws(Errno) -> SignalSet {
    for signal in [Signal.terminate, .proceed] { try Dispositions.restore(signal) }
    var watched: SignalSet = [.terminate, .proceed, .windowChange]
    watched.insert(unlessIgnored: .hangup, .interrupt, .terminalStop)
    return watched
  }

  func takeSignals() {
    do throws(Errno) {
      while let (signal, sender) = try signals.next() { take(signal, from: sender) }
    } catch {
      warn("cannot read a signal: \(error)")
    }
  }

  func endProgress() {
    display.end(atOnce: stopsAsked > 1, signals: signals.rawValue) {
      var isStop = false
      do throws(Errno) {
        while let (signal, _) = try signals.next() {
          guard [.hangup, .interrupt, .terminate].contains(signal) else { continue }
          stopSignal = stopSignal ?? signal
          isStop = true
        }
      } catch {
        isStop = true
      }
      return isStop
    }
  }

  func stop(by signal: Signal) {
    stopsAsked += 1
    stopSignal = stopSignal ?? signal
    if stopsAsked == 1 {
      warn("stopping: opflow ends the running tasks (Ctrl-C again to kill them)")
      tell(.stop(.signal(signal.rawValue)))
    } else {
      // The first signal may only have ended services.
      tell(.stop(.signal(signal.rawValue)))
      tell(.kill)
    }
  }

  private func take(_ signal: Signal, from sender: Int32) {
    if noteKey(signal, from: sender) { return }
    switch signal {
    case .hangup, .interrupt, .terminate:
      if signal == .hangup { loan?.wasHungUp = true }
      stop(by: signal)
    case .terminalStop: suspend(askedBy: sender)
    case .proceed:
      display.returnToTerminal()
      tell(.proceed)
    case .windowChange: display.resize()
    default: break
    }
  }

  /// Suspends the tasks, then this process. `sender` is 0 for a key.
  private func suspend(askedBy sender: Int32) {
    guard nodes == nil else {
      warn(
        "opflow does not suspend itself, because its nodes would treat it as dead and end their"
          + " tasks; `opflow pause` holds back tasks that have not started")
      return
    }
    let isKey = sender == 0 || loan != nil
    // No shell would continue this process.
    if isKey, ProcessGroup.isOrphaned { return }
    loan?.beginSuspension(askedBy: sender)
    tell(.suspend)
    performSteps()
    display.leaveTerminal()
    let began = Self.now
    var late: [(Signal, Int32)] = []
    do throws(Errno) {
      var isReady = false
      while !isReady {
        while let (signal, sender) = try signals.next() {
          if signal != .windowChange, signal != .terminalStop { late.append((signal, sender)) }
        }
        // The shell takes the terminal when this process stops; the task must not read by then.
        isReady = late.isEmpty ? try !awaitsStop(since: began) : true
      }
      // Stopping now would discard a pending SIGCONT, and no other would follow.
      if late.isEmpty { try ProcessID.stopSelf(asJob: isKey) }
    } catch {
      warn("cannot suspend opflow: \(error)")
    }
    display.returnToTerminal()
    awakeAt = Self.now
    wall = Clock.wallMilliseconds
    tell(.proceed)
    for (signal, sender) in late where signal != .proceed { take(signal, from: sender) }
  }

  /// Waits a moment, or for a signal, while the task with the terminal stops.
  private func awaitsStop(since began: Instant) throws(Errno) -> Bool {
    guard let loan, loan.isStopping(since: began, at: Self.now) else { return false }
    _ = try signalWait.wait(nanoseconds: TerminalLoan.lookNanoseconds)
    return true
  }
}

extension Coordinator {
  /// Flushes the view and lends the terminal before the worker gets the task. The view is silent
  /// until the task ends.
  func lendTerminal(to task: TaskID) {
    // The task must find the terminal's original modes.
    display.giveKeysBack()
    let loan = TerminalLoan(to: task)
    if !loan.isForeground {
      warn(
        "\(plan.nameString(task)) needs the terminal, but opflow is in the background; `fg` brings "
          + "it to the foreground")
    }
    display.lendTerminal()
    self.loan = loan
  }

  func noteKey(_ signal: Signal, from sender: Int32) -> Bool {
    // Signals of a terminal have no sender.
    guard let loan, signal == .interrupt, sender == 0 else { return false }
    loan.wasInterrupted = true
    return true
  }

  /// If Ctrl-C or a hang-up ended the task with the terminal, the task was stopped, and Ctrl-C
  /// stops the run.
  func heedInterruption(_ task: TaskID, _ outcome: inout Outcome) {
    guard let loan, loan.task == task else { return }
    if loan.isHangUp(outcome) { outcome.reason = .stopped(.signal) }
    guard loan.isInterruption(outcome), !plan.allowsFailure(task, outcome.status, outcome.reason)
    else { return }
    stop(by: .interrupt)
    outcome.reason = .stopped(.signal)
  }

  func endLoan() {
    guard let loan else { return }
    loan.end()
    self.loan = nil
    display.takeTerminalBack()
  }
}

/// The terminal, while an `interactive` task has it.
///
/// Foreground
/// ----------
///
/// Only the terminal's foreground process group may read, and it gets the signals of Ctrl-C, Ctrl-\
/// and Ctrl-Z. The task runs in the coordinator's group, like a command in a script's group, so no
/// crash can fall between two owners of the foreground. With a separate group for the task,
///
/// - a child that reads too early would stop for good (SIGTTIN);
/// - a parent that takes the terminal back would stop itself (SIGTTOU);
/// - the parent would have to follow and undo each Ctrl-Z;
/// - a killed parent would leave a background group that never continues.
///
/// A process in the terminal's session but outside the foreground is as bad: in ninja, a command
/// that opened /dev/tty stopped forever (ninja-build/ninja issue 909). So all other workers have
/// their own sessions, without a terminal.
///
///     process            session     process group            terminal
///     shell              S           its own                  waits for its job
///     coordinator        S           P, the shell's job       foreground, writes nothing
///     worker             S           P, all signals blocked   foreground, only opens it
///     interactive task   S           P                        foreground: 0, 1 and 2
///     other workers      their own   their own                none
///
/// The worker of interactive tasks starts in its own group and joins P once it blocks all signals.
/// It must join: a group with a process whose parent is in another group of the session is not
/// orphaned (setpgid(2)), so Ctrl-Z would stop task and coordinator forever even where no shell can
/// continue them, as in `docker run -it` and `ssh -t`.
///
/// A task that is a shell with jobs moves the foreground, and moves it back at its end. If it is
/// killed first, the foreground is an empty group.
///
/// Deaths
/// ------
///
/// - Task: its worker ends the task's other processes, then reports. Before anything is shown,
///   `end` takes the foreground back from an empty group and restores the terminal's modes.
/// - Worker: the kernel kills the task (PR_SET_PDEATHSIG). The coordinator ends the task's other
///   processes, reports the loss and calls `end`.
/// - Coordinator: the shell sees its job end, takes the foreground and sets the terminal. The
///   worker sees end-of-file and ends the task, by then in the background.
/// - All three: remaining processes carry the run's mark, by which a resume ends them.
/// - A hang-up reaches coordinator and task; the run stops. The terminal cannot be restored then,
///   which is not an error.
/// - A timeout, or a stop of the run: the worker ends the task, then `end` runs.
///
/// Keys
/// ----
///
/// - The task handles Ctrl-C and Ctrl-\. The coordinator records the first and ignores the second,
///   like system(3). If the task ends by SIGINT, or with the shell's exit code for it, the run
///   stops as by Ctrl-C, like a script in a shell. With `allow_failure` the run continues.
/// - A key typed before the task joins the group, or after its end, has no effect.
/// - A SIGINT from another process (kill -INT) is for the run.
/// - Ctrl-Z stops both, and the shell continues both. An editor that stops its whole group stops
///   the coordinator too. The coordinator passes on a SIGTSTP. Other running tasks are suspended
///   meanwhile. In an orphaned group nothing stops.
/// - In the background, the task stops when it reads, and the coordinator with it; `fg` continues
///   both.
///
/// The order of stopping
/// ---------------------
///
/// A key's signal goes to the whole group, but each process stops when it next gets a processor.
/// The shell waits for the coordinator only: when the coordinator stops, the shell takes the
/// terminal, sets its modes and prompts. A task that has not run since
///
/// - may still be in read(2): the kernel checks for input before signals, so the task takes the
///   first character typed to the shell, then stops;
/// - or, if it catches the signal to clean up the screen, sets the modes after the shell and writes
///   into the shell's line.
///
/// So the coordinator stops after the whole task (`isStopping`). It does not wait for a task that
/// ignores the signal, waits three seconds for a task that catches it, and ten for any other task
/// to get a processor. A signal cancels the wait, and nothing stops: SIGCONT discards pending
/// stops, so a later stop of the coordinator would never be undone.
///
/// Limits
/// ------
///
/// - A task that stops only itself (ssh with `~^Z`) stops nothing else, as in a shell script;
///   Ctrl-Z then returns to the shell.
/// - `kill 0` in a task ends the run in order, since the coordinator handles SIGTERM.
/// - After a SIGKILL of the coordinator, a line typed to the shell before its task is gone may go
///   to the task. If all processes are stopped then, the kernel hangs up and continues the orphaned
///   group.
final class TerminalLoan {
  let task: TaskID
  var wasInterrupted = false
  var wasHungUp = false
  private let terminal: ControllingTerminal?
  /// nil if this process was not in the foreground: the modes were not its own.
  private let modes: ControllingTerminal.Modes?
  private let ignoredQuit: Bool

  init(to task: TaskID) {
    self.task = task
    let terminal = try? ControllingTerminal()
    let foreground = try? terminal?.foreground
    modes = foreground == ProcessGroup.own ? try? terminal?.modes : nil
    self.terminal = terminal
    ignoredQuit = Dispositions.isIgnored(.quit)
    // Cannot fail for a valid signal.
    if !ignoredQuit { try? Dispositions.ignore(.quit) }
  }

  var isForeground: Bool { modes != nil }

  /// A key (0) reaches the task directly, as does the signal of an editor that stops its group.
  func beginSuspension(askedBy sender: Int32) {
    if sender != 0 { ProcessGroup.signalGrandchildren(.terminalStop) }
  }

  func isStopping(since began: Instant, at now: Instant) -> Bool {
    let waited = now.nanoseconds - began.nanoseconds
    return switch ProcessGroup.halt() {
    case .none: false
    case .perhaps: waited < Self.patienceNanoseconds
    case .certain: waited < Self.mostPatienceNanoseconds
    }
  }

  /// The interval of checks.
  static let lookNanoseconds: Int64 = 1_000_000
  /// The wait for a program that cleans up the screen before it stops, or does not stop.
  private static let patienceNanoseconds: Int64 = 3_000_000_000
  /// The wait for a task without a processor.
  private static let mostPatienceNanoseconds: Int64 = 10_000_000_000

  /// Called when all processes of the task are gone. A shell keeps the terminal.
  func end() {
    if !ignoredQuit { try? Dispositions.restore(.quit) }
    guard let modes else { return }
    do throws(Errno) {
      guard let foreground = try terminal?.foreground else { return }
      if foreground != ProcessGroup.own {
        if ProcessGroup.isThere(foreground) { return }
        try terminal?.setForeground(ProcessGroup.own)
      }
      try terminal?.restore(modes)
    } catch {
      // The terminal is gone.
    }
  }

  func isInterruption(_ outcome: Outcome) -> Bool {
    guard wasInterrupted, outcome.reason == nil else { return false }
    let signal = Signal.interrupt.rawValue
    return outcome.status == .signal(signal) || outcome.status == .exit(128 + signal)
  }

  func isHangUp(_ outcome: Outcome) -> Bool {
    wasHungUp && outcome.reason == nil && outcome.status == .signal(Signal.hangup.rawValue)
  }
}
