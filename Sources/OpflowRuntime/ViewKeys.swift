internal import OpflowSystem

/// The keyboard, while a live view in the foreground owns it: input is unbuffered and not echoed.
/// The earlier modes are restored on every way out. All standard streams must be the terminal, and
/// a process in the background, stopped, or without the terminal (`TerminalLoan`) reads no keys.
final class ViewKeys {
  private let terminal: ControllingTerminal
  /// nil while the view does not own the keyboard.
  private var before: ControllingTerminal.Modes?
  private var isGone = false

  init?() {
    let streams = [Terminal.standardInput, Terminal.standardOutput, Terminal.standardError]
    guard streams.allSatisfy(Terminal.isTerminal), let terminal = try? ControllingTerminal() else {
      return nil
    }
    self.terminal = terminal
  }

  deinit { giveBack() }

  var isTaken: Bool { before != nil }

  /// -1 while the view does not own the keyboard.
  var rawDescriptor: Int32 { isTaken ? terminal.rawValue : -1 }

  func take() {
    if isTaken || isGone { return }
    guard let foreground = try? terminal.foreground, foreground == ProcessGroup.own else { return }
    before = try? terminal.takeKeys()
  }

  func giveBack() {
    guard let modes = before else { return }
    before = nil
    // Another process in the foreground has set the modes itself.
    guard let foreground = try? terminal.foreground, foreground == ProcessGroup.own else { return }
    try? terminal.restore(modes)
  }

  func read() -> [UInt8] {
    guard isTaken else { return [] }
    do throws(Errno) {
      let typed = try terminal.readKeys()
      // The terminal was closed.
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
