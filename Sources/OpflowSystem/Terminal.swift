internal import CLinux
internal import Glibc

package enum Terminal {
  package static let standardInput = StandardStream.input.rawValue
  package static let standardOutput = StandardStream.output.rawValue
  package static let standardError = StandardStream.error.rawValue

  package static func isTerminal(_ rawDescriptor: Int32) -> Bool { isatty(rawDescriptor) == 1 }

  /// nil if it is not a terminal or does not say.
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
