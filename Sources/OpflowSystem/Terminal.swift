internal import CLinux
internal import Glibc

/// What a descriptor shows its output on.
package enum Terminal {
  package static let standardInput = StandardStream.input.rawValue
  package static let standardOutput = StandardStream.output.rawValue
  package static let standardError = StandardStream.error.rawValue

  package static func isTerminal(_ rawDescriptor: Int32) -> Bool { isatty(rawDescriptor) == 1 }

  /// Columns; nil where it is no terminal or does not say.
  package static func width(_ rawDescriptor: Int32) -> Int? {
    let columns = clinux_terminal_columns(rawDescriptor)
    return columns > 0 ? Int(columns) : nil
  }
}
