import OpflowCommandLine
import OpflowCore
import OpflowManifest
import OpflowSystem

/// Standard output and standard error of commands that show something and end.
struct Console {
  /// Whether standard output and standard error take colours.
  let colorsOutput: Bool
  let colorsError: Bool

  private init(_ choice: ColorChoice) {
    colorsOutput = Self.colors(choice, Terminal.standardOutput)
    // The log of a job there shows colours.
    colorsError = Self.colors(choice, Terminal.standardError, isShown: Self.server != nil)
  }

  /// Goes where `-C` says, before anything else looks at a path.
  static func enter(_ arguments: ViewArguments) throws(CommandError) -> Console {
    if let directory = arguments.directory {
      do throws(Errno) {
        try Path.changeDirectory(to: directory)
      } catch {
        throw CommandError(
          .usage,
          "cannot go to \(CleanText.string(directory)): \(error)"
            + (error == .noSuchFile ? NearestFile.hint(directory) : ""))
      }
    }
    return Console(arguments.color)
  }

  /// NO_COLOR counts when it is set and not empty (no-color.org), and more than CLICOLOR_FORCE, which counts
  /// when it is neither empty nor 0 (bixense.com/clicolors), whatever reads there.
  private static func colors(
    _ choice: ColorChoice, _ descriptor: Int32, isShown: Bool = false
  ) -> Bool {
    switch choice {
    case .always: return true
    case .never: return false
    case .auto:
      let noColor = Environment.value("NO_COLOR") ?? ""
      let forced = Environment.value("CLICOLOR_FORCE") ?? ""
      if !noColor.isEmpty { return false }
      if !forced.isEmpty, forced != "0" { return true }
      return isShown || !isDumb && Terminal.isTerminal(descriptor)
    }
  }

  /// The terminal can do no more than a typewriter: it says so, or says nothing.
  private static var isDumb: Bool { ["", "dumb"].contains(Environment.value("TERM") ?? "") }

  /// How progress shows: as the command line says, else as fits to where it goes. `live` needs a
  /// terminal that can move its cursor, and the lines of `--json` not between its own.
  static func mode(_ arguments: Invocation) -> OutputMode {
    let isTerminal = Terminal.isTerminal(Terminal.standardError) && !isDumb
    if let mode = arguments.output { return mode == .live && !isTerminal ? .line : mode }
    switch server {
    // What a task of another run prints is in that one's log.
    case _? where Environment.value(TaskAround.variable) != nil: return .line
    case .gitHub: return .gitHub
    case .gitLab: return .gitLab
    case nil: break
    }
    let isShared = arguments.json && Terminal.isTerminal(Terminal.standardOutput)
    return isTerminal && !isShared ? .live : .line
  }

  /// The CI server that runs this; nil where none does whose logs are more than text.
  static var server: CIServer? {
    if !(Environment.value("GITHUB_ACTIONS") ?? "").isEmpty { return .gitHub }
    return (Environment.value("GITLAB_CI") ?? "").isEmpty ? nil : .gitLab
  }

  /// Whether the run is a step of a job on GitHub, which takes annotations and a summary in every mode of output.
  static func isGitHubStep(_ arguments: Invocation) -> Bool {
    mode(arguments) == .gitHub
      || server == .gitHub && Environment.value(TaskAround.variable) == nil
  }

  enum CIServer { case gitHub, gitLab }

  /// Writes to standard output.
  ///
  /// - Throws: success without a word when nobody reads any more, which ends a view quietly.
  static func write(_ bytes: [UInt8]) throws(CommandError) {
    do throws(Errno) {
      try StandardStream.output.writeAll(bytes)
    } catch .brokenPipe {
      throw CommandError(.success, verbatim: "")
    } catch {
      throw CommandError(.io, "cannot write to standard output", error)
    }
  }

  static func write(_ text: String) throws(CommandError) { try write(Array(text.utf8)) }

  /// Writes to standard error; when that fails there is nobody left to tell.
  static func complain(_ text: String) {
    try? StandardStream.error.writeAll(Array(text.utf8))
  }

  /// Warnings of a manifest that has no mistakes.
  func show(_ warnings: [Diagnostic]) {
    let renderer = DiagnosticRenderer(isColored: colorsError)
    for warning in warnings { Self.complain(renderer.render(warning)) }
  }

  func warn(_ text: String) {
    let word = colorsError ? "\u{1b}[33mwarning:\u{1b}[0m" : "warning:"
    Self.complain("opflow: \(word) \(CleanText.string(text))\n")
  }
}
