internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
import OpflowManifest
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem

/// Standard output and error of commands.
struct Console {
  let colorsOutput: Bool
  let colorsError: Bool

  private init(_ choice: ColorChoice) {
    colorsOutput = Self.colors(choice, Terminal.standardOutput)
    // CI servers show colours in logs.
    colorsError = Self.colors(choice, Terminal.standardError, isShown: Self.server != nil)
  }

  /// Changes to the `-C` folder before any path is used.
  static func enter(_ arguments: ViewArguments) throws(CommandError) -> Console {
    if let directory = arguments.directory {
      try rethrowing(Path.changeDirectory(to: directory)) {
        CommandError(
          .usage,
          "cannot change to \(CleanText.string(directory)): \($0)"
            + ($0 == .noSuchFile ? NearestFile.hint(directory) : ""))
      }
    }
    return Console(arguments.color)
  }

  /// A non-empty NO_COLOR (no-color.org) overrides CLICOLOR_FORCE, which counts unless empty or 0
  /// (bixense.com/clicolors), even without a terminal.
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

  /// No cursor control.
  private static var isDumb: Bool { ["", "dumb"].contains(Environment.value("TERM") ?? "") }

  /// `live` needs cursor control and no `--json` on the same terminal.
  static func mode(_ arguments: Invocation) -> OutputMode {
    let isTerminal = Terminal.isTerminal(Terminal.standardError) && !isDumb
    if let mode = arguments.output { return mode == .live && !isTerminal ? .line : mode }
    switch server {
    // The output goes to the log of a task of another run.
    case _? where Environment.value(TaskAround.variable) != nil: return .line
    case .gitHub: return .gitHub
    case .gitLab: return .gitLab
    case nil: break
    }
    let isShared = arguments.json && Terminal.isTerminal(Terminal.standardOutput)
    return isTerminal && !isShared ? .live : .line
  }

  /// nil if the server's logs support text only.
  static var server: CIServer? {
    if !(Environment.value("GITHUB_ACTIONS") ?? "").isEmpty { return .gitHub }
    return (Environment.value("GITLAB_CI") ?? "").isEmpty ? nil : .gitLab
  }

  /// A step of a GitHub job gets annotations and a summary in every output mode.
  static func isGitHubStep(_ arguments: Invocation) -> Bool {
    mode(arguments) == .gitHub
      || server == .gitHub && Environment.value(TaskAround.variable) == nil
  }

  enum CIServer { case gitHub, gitLab }

  /// Throws an empty success if the reader is gone, to end quietly.
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

  /// Ignores errors.
  static func complain(_ text: String) {
    try? StandardStream.error.writeAll(Array(text.utf8))
  }

  func show(_ warnings: [Diagnostic]) {
    let renderer = DiagnosticRenderer(isColored: colorsError)
    for warning in warnings { Self.complain(renderer.render(warning)) }
  }

  func warn(_ text: String) {
    let word = colorsError ? "\u{1b}[33mwarning:\u{1b}[0m" : "warning:"
    Self.complain("opflow: \(word) \(CleanText.string(text))\n")
  }
}

struct ShownPath {
  private let base: String?

  /// With `-C` the user is in another folder, so paths stay absolute.
  init(_ arguments: ViewArguments) {
    base = arguments.directory == nil ? try? Path.workingDirectory() : nil
  }

  func text(_ absolute: String) -> String {
    guard let base, base != "/", absolute.hasPrefix(base + "/") else { return absolute }
    return String(absolute.dropFirst(base.count + 1))
  }
}

/// Commands about a run, for the user to type.
enum CommandText {
  /// Names the run if others may be live.
  static func request(
    _ folder: RunFolder, _ verb: ControlAction, _ tasks: [String], _ view: ViewArguments
  ) -> String {
    let isAlone = !StateFolder(holding: folder).mayHaveLive(but: folder.id)
    return about(
      folder, verb.rawValue, tasks + (isAlone ? [] : ["--run", folder.id.description]), view)
  }

  /// `on` has the journal's `--on` options.
  static func resume(_ folder: RunFolder, on: [String], _ view: ViewArguments) -> String {
    about(folder, "resume", [folder.id.description] + on.flatMap { ["--on", $0] }, view)
  }

  static func resume(_ folder: RunFolder, _ view: ViewArguments) -> String {
    // Other code reports an unreadable journal.
    resume(folder, on: (try? folder.readRunHistory())?.on ?? [], view)
  }

  /// The shortest command that finds the run from the user's folder.
  static func about(
    _ folder: RunFolder, _ command: String, _ arguments: [String], _ view: ViewArguments
  ) -> String {
    var words = ["opflow", command]
    if let directory = view.directory { words += ["-C", directory] }
    let state = Path.parent(of: Path.parent(of: folder.path))
    let here = (try? Path.workingDirectory()).flatMap { StateFolder.nearest(to: $0) }
    if here?.path != state || (try? here?.expectTrusted()) == nil {
      words += ["--state-dir", ShownPath(view).text(state)]
    }
    // A loop: the first calls of `joined` and `split` build types at run time, nearly a tenth of a
    // run of one task.
    var text = ""
    for word in words + arguments {
      if !text.isEmpty { text += " " }
      text += QuotedWords.quoted(word)
    }
    return text
  }
}
