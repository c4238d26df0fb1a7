import OpflowCommandLine
import OpflowCore
import OpflowSystem

/// Why a command ends before its work is done: what to tell, and the exit code.
struct CommandError: Error {
  let code: ExitCode
  /// Whole lines for standard error.
  let text: String

  /// The same without the program's name and the end of the line.
  var message: String {
    let text = text.hasSuffix("\n") ? String(text.dropLast()) : text
    return text.hasPrefix("opflow: ") ? String(text.dropFirst(8)) : text
  }

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    text = "opflow: \(message)\n"
  }

  /// Text that stands as it is, as diagnostics of a manifest do.
  init(_ code: ExitCode, verbatim text: String) {
    self.code = code
    self.text = text
  }

  init(_ error: UsageError) { self.init(.usage, verbatim: error.text) }

  /// What could not be done with which file, and why.
  init(_ code: ExitCode, _ what: String, _ error: Errno) {
    self.init(code, "\(what): \(error)")
  }
}
