import OpflowCommandLine
import OpflowRuntime
import OpflowSystem

struct CommandError: Error {
  let code: ExitCode
  /// Complete lines for standard error.
  let text: String
  /// Processes that must end first.
  var survivors: [Orphans.Survivor] = []

  /// Without the program's name and the last newline.
  var message: String {
    let text = text.hasSuffix("\n") ? String(text.dropLast()) : text
    return text.hasPrefix("opflow: ") ? String(text.dropFirst(8)) : text
  }

  init(_ code: ExitCode, _ message: String) {
    self.code = code
    text = "opflow: \(message)\n"
  }

  /// For complete text, such as diagnostics.
  init(_ code: ExitCode, verbatim text: String) {
    self.code = code
    self.text = text
  }

  init(_ error: UsageError) { self.init(.usage, verbatim: error.text) }

  init(_ code: ExitCode, _ what: String, _ error: Errno) {
    self.init(code, "\(what): \(error)")
  }
}
