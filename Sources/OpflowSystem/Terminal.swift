internal import CLinux
internal import Glibc

/// What a descriptor shows its output on.
package enum Terminal {
  package static let standardInput = StandardStream.input.rawValue
  package static let standardOutput = StandardStream.output.rawValue
  package static let standardError = StandardStream.error.rawValue

  package static func isTerminal(_ rawDescriptor: Int32) -> Bool { isatty(rawDescriptor) == 1 }

  /// Writes all of it, waiting where the other end is slow and somebody made it non-blocking.
  package static func writeAll(_ bytes: [UInt8], to rawDescriptor: Int32) throws(Errno) {
    var written = 0
    while written < bytes.count {
      do throws(Errno) {
        let from = written
        written += try bytes.withUnsafeBufferPointer { all throws(Errno) -> Int in
          // SAFETY: the kernel reads the rest of an array that is held for the call.
          try call { write(rawDescriptor, all.baseAddress.map { $0 + from }, all.count - from) }
        }
      } catch .wouldBlock {
        var waiting = pollfd(fd: rawDescriptor, events: Int16(POLLOUT), revents: 0)
        try call { poll(&waiting, 1, -1) }
      }
    }
  }

  /// Columns; nil where it is no terminal or does not say.
  package static func width(_ rawDescriptor: Int32) -> Int? {
    let columns = clinux_terminal_columns(rawDescriptor)
    return columns > 0 ? Int(columns) : nil
  }
}
