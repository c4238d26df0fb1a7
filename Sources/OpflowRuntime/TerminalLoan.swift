internal import OpflowCore
internal import OpflowSystem

/// The terminal, while an `interactive` task has it.
///
/// Who is in the foreground
/// ------------------------
///
/// A terminal has one process group in its foreground: the only one that may read, and the one that is
/// sent what Ctrl-C, Ctrl-\ and Ctrl-Z mean. The task is in the group of the coordinator, as a command of
/// a shell script is in the script's, so for a task that makes no groups itself the foreground never
/// changes hands, and there is no step between two owners in which somebody may die. Those who give a
/// child a group of its own and move the foreground have such steps: a child that reads before it was
/// moved is stopped for good (SIGTTIN), who takes it back stops himself (SIGTTOU), a Ctrl-Z must be
/// seen, followed and undone, and a parent that is killed leaves a group in the background that nobody
/// continues. In a terminal's session but in no group of its foreground is as bad: ninja had ordinary
/// commands there, and one that opened /dev/tty was stopped for ever (ninja-build/ninja issue 909). So
/// all other workers have sessions of their own, with no terminal, in every run; the worker of interactive
/// tasks alone is in the terminal's session.
///
///     process            session       process group           terminal
///     shell              S             its own                  waits for its job
///     coordinator        S             P, the shell's job       foreground, writes nothing
///     worker             S             P, once it is deaf       foreground, opens it and no more
///     interactive task   S             P                        foreground: 0, 1 and 2
///     other workers      their own     their own                none
///
/// That worker starts at the head of a group of its own, and joins P when it blocks all signals and so is
/// deaf to keys. It has to: a process whose parent is in another group of the session keeps its group from
/// being an orphaned one (setpgid(2)), and then a Ctrl-Z would stop task and coordinator also where no
/// shell is there to continue them, as in `docker run -it` and `ssh -t`, for ever.
///
/// A task that is itself a shell with jobs moves the foreground on, and back when it ends. Where it is
/// killed before that, the foreground is left with a group that is empty by then.
///
/// Who dies when
/// -------------
///
/// - The task: its worker ends what it left, then tells. Before anything is shown, `end` takes the
///   foreground back from a group that is empty, and sets the terminal as it was.
/// - The worker: the kernel kills the task (PR_SET_PDEATHSIG), what that left comes to the coordinator and
///   is ended, and only then the loss is told: the same `end`.
/// - The coordinator: the shell sees its job end, takes the foreground and sets the terminal. The worker
///   sees the end of its orders and ends the task, which is in the background by then.
/// - All of them: what is left of the task carries the run's mark, by which a resume ends it.
/// - A hang-up reaches coordinator and task; the run stops as without a task. Then nothing can be set any
///   more, which is no failure.
/// - The time is up, or the run is stopped: the worker ends the task, the same `end`.
///
/// Keys
/// ----
///
/// - Ctrl-C and Ctrl-\ reach both, and are the task's to answer: the coordinator takes a note of the
///   first and ignores the second, as system(3) has it. Where the task then ends by it, or with the code
///   that shells give that end, the run is stopped as by a Ctrl-C: a shell does the same with a script (and
///   does not where the command lived on, or ended otherwise). `allow_failure` says that such an end is
///   usual, and the run goes on.
/// - One that is typed in the moment before the task is in the group, or after its end, ends nothing: it
///   is to be typed again.
/// - A Ctrl-C that somebody else sends (kill -INT) is for the run.
/// - Ctrl-Z stops both, and the shell continues both. What editors do for it, stopping their whole group,
///   stops the coordinator as well; so does what somebody sends to the coordinator, who passes it on. Tasks
///   that run besides are paused meanwhile. In an orphaned group nobody stops.
/// - In the background, the task is stopped as soon as it reads, and the coordinator with it: the shell
///   tells, and `fg` continues both.
///
/// How all come to stand still
/// ---------------------------
///
/// A key's signal is sent to the whole group at once, but each process stops when it next gets a processor,
/// and the shell waits for the coordinator alone: when that has stopped, it takes the terminal, sets it as
/// it likes, and prompts. A task which has not run since
///
/// - may still be in its read(2): the kernel's terminal looks for input before it looks for signals, so
///   the task takes the first character that is typed to the shell, then stops;
/// - or, if it catches the signal to tidy the screen up first, sets the terminal after the shell has,
///   and writes into the shell's line.
///
/// A shell that has the task as its own child waits for that too. So the coordinator stops last: not before
/// all of the task has (`isStopping`). One that ignores the signal is not waited for, one that catches it
/// for three seconds, one that does neither until it had a processor. A signal that comes meanwhile ends
/// the wait, and nobody stops: SIGCONT takes back the stops that are pending, and a stop of the coordinator
/// after it would be one that nobody undoes.
///
/// Limits
/// ------
///
/// - A task that stops itself alone (ssh with `~^Z`) stops nobody else, as in a shell script; Ctrl-Z then
///   brings the shell.
/// - `kill 0` of a task ends the run in order, since that is what TERM means to the coordinator.
/// - A coordinator that is killed outright cannot wait: a line that is typed to the shell in the moment
///   until its task is gone may be the task's. One that is killed while all are stopped leaves an orphaned
///   group with stopped members, which the kernel hangs up and continues.
final class TerminalLoan {
  let task: TaskID
  /// Ctrl-C was typed.
  var wasInterrupted = false
  /// The terminal was closed, or somebody says so.
  var wasHungUp = false
  /// nil where it is gone.
  private let terminal: ControllingTerminal?
  /// nil where this process was not in the foreground, and what was set was not for it.
  private let modes: ControllingTerminal.Modes?
  private let ignoredQuit: Bool

  init(to task: TaskID) {
    self.task = task
    let terminal = try? ControllingTerminal()
    let foreground = try? terminal?.foreground
    modes = foreground == ProcessGroup.own ? try? terminal?.modes : nil
    self.terminal = terminal
    ignoredQuit = Dispositions.isIgnored(.quit)
    // Neither fails for a signal that there is.
    if !ignoredQuit { try? Dispositions.ignore(.quit) }
  }

  /// Whether keys reach this process, and so the task.
  var isForeground: Bool { modes != nil }

  /// Somebody wants all to stop.
  ///
  /// - Parameter sender: 0 for a key, which reaches the task by itself, as the editor's own signal does that
  ///   stops its group.
  func beginSuspension(askedBy sender: Int32) {
    if sender != 0 { ProcessGroup.signalGrandchildren(.terminalStop) }
  }

  /// Whether the task has yet to stop, after all were told to at `began`.
  func isStopping(since began: Instant, at now: Instant) -> Bool {
    let waited = now.nanoseconds - began.nanoseconds
    return switch ProcessGroup.halt() {
    case .none: false
    case .perhaps: waited < Self.patienceNanoseconds
    case .certain: waited < Self.mostPatienceNanoseconds
    }
  }

  /// From one look at the task to the next, while it stops.
  static let lookNanoseconds: Int64 = 1_000_000
  /// For a program that tidies the screen up before it stops, or does not stop at all.
  private static let patienceNanoseconds: Int64 = 3_000_000_000
  /// For a processor.
  private static let mostPatienceNanoseconds: Int64 = 10_000_000_000

  /// The task and all below it are gone: takes the terminal back, unless it is a shell's by now.
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
      // It is gone, and with it what could be set.
    }
  }

  /// Whether the task ended by the Ctrl-C that was typed.
  func isInterruption(_ outcome: Outcome) -> Bool {
    guard wasInterrupted, outcome.reason == nil else { return false }
    let signal = Signal.interrupt.rawValue
    return outcome.status == .signal(signal) || outcome.status == .exit(128 + signal)
  }

  /// Whether the task ended by the hang-up that stops the run.
  func isHangUp(_ outcome: Outcome) -> Bool {
    wasHungUp && outcome.reason == nil && outcome.status == .signal(Signal.hangup.rawValue)
  }
}
