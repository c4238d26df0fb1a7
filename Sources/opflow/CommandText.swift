internal import OpflowBase
import OpflowCommandLine
internal import OpflowJournal
internal import OpflowPlan
import OpflowRuntime
import OpflowSystem

/// Commands about a run, for the user to type.
enum CommandText {
  /// Names the run if others may be live.
  static func order(
    _ folder: RunFolder, _ verb: OrderVerb, _ tasks: [String], _ view: ViewArguments
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
