internal import CLinux
internal import Glibc

/// What a descriptor shows its output on.
package enum Terminal {
  package static let standardInput: Int32 = 0
  package static let standardOutput: Int32 = 1
  package static let standardError: Int32 = 2

  package static func isTerminal(_ rawDescriptor: Int32) -> Bool { isatty(rawDescriptor) == 1 }

  /// Columns; nil where it is no terminal or does not say.
  package static func width(_ rawDescriptor: Int32) -> Int? {
    let columns = clinux_terminal_columns(rawDescriptor)
    return columns > 0 ? Int(columns) : nil
  }
}
