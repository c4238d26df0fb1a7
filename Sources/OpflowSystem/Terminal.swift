internal import CLinux
internal import Glibc

package enum Terminal {
  package static let standardInput = StandardStream.input.rawValue
  package static let standardOutput = StandardStream.output.rawValue
  package static let standardError = StandardStream.error.rawValue

  package static func isTerminal(_ rawDescriptor: Int32) -> Bool { isatty(rawDescriptor) == 1 }

  /// nil if unknown.
  package static func size(_ rawDescriptor: Int32) -> (columns: Int, rows: Int)? {
    var columns: Int32 = 0
    var rows: Int32 = 0
    guard clinux_terminal_size(rawDescriptor, &columns, &rows) == 0, columns > 0, rows > 0 else {
      return nil
    }
    return (Int(columns), Int(rows))
  }

  /// Also true for a terminal that is not the controlling terminal.
  package static func isForeground(_ rawDescriptor: Int32) -> Bool {
    let foreground = tcgetpgrp(rawDescriptor)
    return foreground < 0 || foreground == getpgrp()
  }
}

/// The controlling terminal of this process (credentials(7)).
package final class ControllingTerminal {
  private let descriptor: Descriptor

  package struct Modes {
    fileprivate var modes: clinux_terminal_modes
  }

  /// Throws `noDevice` if the process has no controlling terminal.
  package init() throws(Errno) {
    descriptor = Descriptor(owning: try call { clinux_open_terminal() })
  }

  package static var isThere: Bool {
    do throws(Errno) {
      _ = try ControllingTerminal()
      return true
    } catch {
      return false
    }
  }

  package var rawValue: Int32 { descriptor.rawValue }

  /// The foreground process group, which may be empty by now.
  package var foreground: Int32 {
    get throws(Errno) {
      return try call { tcgetpgrp(descriptor.rawValue) }
    }
  }

  package func setForeground(_ group: Int32) throws(Errno) {
    try call { clinux_set_foreground(descriptor.rawValue, group) }
  }

  package var modes: Modes {
    get throws(Errno) {
      var modes = clinux_terminal_modes()
      try call { clinux_terminal_modes(descriptor.rawValue, &modes) }
      return Modes(modes: modes)
    }
  }

  /// Turns off line buffering and echo; keys still send signals. Returns the old settings.
  package func takeKeys() throws(Errno) -> Modes {
    let before = try modes
    var old = before.modes
    var keys = clinux_terminal_modes()
    clinux_key_modes(&old, &keys)
    // First, since the user may press Ctrl-\ at any moment.
    clinux_give_back_at_death(rawValue, &old)
    try set(Modes(modes: keys))
    return before
  }

  /// Returns the keys typed since the last call; empty if the terminal is gone. Throws `.ioError`
  /// in the background.
  package func readKeys() throws(Errno) -> [UInt8] {
    return try withUnsafeTemporaryAllocation(byteCount: 256, alignment: 1) {
      room throws(Errno) -> [UInt8] in
      // SAFETY: the shim writes at most `room.count` bytes.
      let count = try call {
        Int(clinux_read_keys(descriptor.rawValue, room.baseAddress, UInt64(room.count)))
      }
      return Array(room[..<count])
    }
  }

  /// Keeps unread input readable.
  package func restore(_ modes: Modes) throws(Errno) {
    clinux_give_back_at_death(-1, nil)
    try set(modes)
  }

  private func set(_ modes: Modes) throws(Errno) {
    var modes = modes.modes
    try call { clinux_set_terminal_modes(descriptor.rawValue, &modes) }
  }
}
