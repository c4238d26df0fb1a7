extension ExitStatus {
  /// `exit 2`, `signal 9 (KILL)`.
  package var text: String {
    switch self {
    case .unknown: "unknown end"
    case .exit(let code): "exit \(code)"
    case .signal(let number):
      SignalName.text(number).map { "signal \(number) (\($0))" } ?? "signal \(number)"
    }
  }
}

/// Names of signals that end processes (signal(7), Linux on x86 and Arm).
package enum SignalName {
  /// Empty for signals that do not end processes.
  private static let names = [
    "", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
    "PIPE", "ALRM", "TERM", "STKFLT", "", "", "", "", "", "", "", "XCPU", "XFSZ", "VTALRM", "PROF",
    "", "IO", "PWR", "SYS",
  ]

  package static func text(_ number: Int32) -> String? {
    guard names.indices.contains(Int(number)), !names[Int(number)].isEmpty else { return nil }
    return names[Int(number)]
  }

  /// `SIGTERM`, or `signal 40`.
  package static func spelled(_ number: Int32) -> String {
    text(number).map { "SIG\($0)" } ?? "signal \(number)"
  }
}

/// Errors at the start of a task (errno(3), Linux).
package enum ErrorName {
  private static let texts: [Int32: String] = [
    1: "operation not permitted", 2: "no such file or directory", 5: "input/output error",
    7: "argument list too long", 8: "not an executable format", 11: "no process left to start it",
    12: "out of memory", 13: "permission denied", 20: "not a directory", 21: "is a directory",
    23: "too many open files", 24: "too many open files", 26: "the program is being written",
    27: "file too large",
    28: "no space left on the device", 30: "read-only file system", 36: "file name too long",
    40: "too many symbolic links", 107: "transport endpoint is not connected",
    110: "connection timed out", 112: "host is down", 116: "stale file handle",
    121: "remote I/O error", 122: "disk quota exceeded",
  ]

  package static func text(_ number: Int32) -> String { texts[number] ?? "errno \(number)" }
}
