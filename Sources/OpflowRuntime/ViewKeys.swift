internal import OpflowSystem

/// The keyboard, while a live view has it: no lines are gathered and nothing is echoed, in the foreground only,
/// and what was set before is given back on every way out.
///
/// Nobody else's keys are taken: there are none where standard input, output or error is no terminal, since
/// another program may read there, as behind `|`; none in the background, where the shell has them; and none
/// while a task has the terminal (`TerminalLoan`), or this process stands still.
final class ViewKeys {
  private let terminal: ControllingTerminal
  /// What was set before; nil while the keyboard is not this view's.
  private var before: ControllingTerminal.Modes?
  /// The terminal was closed.
  private var isGone = false

  /// Nil where no keys are to be had.
  init?() {
    let streams = [Terminal.standardInput, Terminal.standardOutput, Terminal.standardError]
    guard streams.allSatisfy(Terminal.isTerminal), let terminal = try? ControllingTerminal() else {
      return nil
    }
    self.terminal = terminal
  }

  deinit { giveBack() }

  var isTaken: Bool { before != nil }

  /// Readable when something was typed; -1 while that is not for this view.
  var rawDescriptor: Int32 { isTaken ? terminal.rawValue : -1 }

  /// Takes the keyboard where this process is in the foreground.
  func take() {
    if isTaken || isGone { return }
    guard let foreground = try? terminal.foreground, foreground == ProcessGroup.own else { return }
    before = try? terminal.takeKeys()
  }

  /// Sets what was set before.
  func giveBack() {
    guard let modes = before else { return }
    before = nil
    // Where it is another's by now, that one has set it as it likes.
    guard let foreground = try? terminal.foreground, foreground == ProcessGroup.own else { return }
    // It may be gone, and with it what could be set.
    try? terminal.restore(modes)
  }

  /// What was typed.
  func read() -> [UInt8] {
    guard isTaken else { return [] }
    do throws(Errno) {
      let typed = try terminal.readKeys()
      // It was said that there is something: nothing is what a terminal gives that was closed.
      if typed.isEmpty { end() }
      return typed
    } catch .wouldBlock {
      return []
    } catch {
      if (try? terminal.foreground) == nil { end() } else { before = nil }
      return []
    }
  }

  private func end() {
    giveBack()
    isGone = true
  }
}
