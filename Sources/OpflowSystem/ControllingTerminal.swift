internal import CLinux
internal import Glibc

/// The terminal of this process's session (credentials(7)): whose processes are stopped and
/// interrupted from its keyboard, a process group at a time.
package final class ControllingTerminal {
  private let descriptor: Descriptor

  /// What is set of a terminal, for `restore`.
  package struct Modes {
    fileprivate var modes: clinux_terminal_modes
  }

  /// - Throws: `.noDevice` where the session has none.
  package init() throws(Errno) {
    descriptor = Descriptor(owning: try call { clinux_open_terminal() })
  }

  /// Whether the session has one.
  package static var isThere: Bool {
    do throws(Errno) {
      _ = try ControllingTerminal()
      return true
    } catch {
      return false
    }
  }

  package var rawValue: Int32 { descriptor.rawValue }

  /// The process group that reads from it, which may be one that is empty by now.
  package var foreground: Int32 {
    get throws(Errno) {
      let rawDescriptor = descriptor.rawValue
      return try call { tcgetpgrp(rawDescriptor) }
    }
  }

  package func setForeground(_ group: Int32) throws(Errno) {
    let rawDescriptor = descriptor.rawValue
    try call { clinux_set_foreground(rawDescriptor, group) }
  }

  package var modes: Modes {
    get throws(Errno) {
      let rawDescriptor = descriptor.rawValue
      var modes = clinux_terminal_modes()
      try call { clinux_terminal_modes(rawDescriptor, &modes) }
      return Modes(modes: modes)
    }
  }

  /// Sets it up for `readKeys`: no lines are gathered and nothing is echoed; what signals are sent by stays
  /// so.
  ///
  /// - Returns: what was set before, to be restored.
  package func takeKeys() throws(Errno) -> Modes {
    let before = try modes
    var old = before.modes
    var keys = clinux_terminal_modes()
    clinux_key_modes(&old, &keys)
    // Before it is changed: somebody may press Ctrl-\ at once.
    clinux_give_back_at_death(rawValue, &old)
    try set(Modes(modes: keys))
    return before
  }

  /// What was typed since the last call; nothing where it is gone. Never waits.
  ///
  /// - Throws: `.ioError` in the background.
  package func readKeys() throws(Errno) -> [UInt8] {
    let rawDescriptor = descriptor.rawValue
    return try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) {
      room throws(Errno) -> [UInt8] in
      // SAFETY: the shim writes at most as much as there is room for.
      let count = try call {
        Int(clinux_read_keys(rawDescriptor, room.baseAddress, UInt64(room.count)))
      }
      return Array(room[..<count])
    }
  }

  /// Sets what was set when `modes` was read. What was typed since is still there to be read.
  package func restore(_ modes: Modes) throws(Errno) {
    clinux_give_back_at_death(-1, nil)
    try set(modes)
  }

  private func set(_ modes: Modes) throws(Errno) {
    let rawDescriptor = descriptor.rawValue
    var modes = modes.modes
    try call { clinux_set_terminal_modes(rawDescriptor, &modes) }
  }
}
