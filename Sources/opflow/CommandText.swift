import OpflowCommandLine
import OpflowCore
import OpflowRuntime
import OpflowSystem

/// Command lines about a run, for a person to type.
enum CommandText {
  /// An order, with the run named where another one may be live too: without that it would ask which.
  static func order(
    _ folder: RunFolder, _ verb: OrderVerb, _ tasks: [String], _ view: ViewArguments
  ) -> String {
    let isAlone = !StateFolder(holding: folder).mayHaveLive(but: folder.id)
    return about(
      folder, verb.rawValue, tasks + (isAlone ? [] : ["--run", folder.id.description]), view)
  }

  /// What continues a run, on the machines that its newest drive was given: without them it would run here
  /// what was meant for others.
  ///
  /// - Parameter on: as the journal has it.
  static func resume(_ folder: RunFolder, on: [String], _ view: ViewArguments) -> String {
    about(folder, "resume", [folder.id.description] + on.flatMap { ["--on", $0] }, view)
  }

  /// The same of a run of which nothing is read yet.
  static func resume(_ folder: RunFolder, _ view: ViewArguments) -> String {
    // Of a journal that cannot be read somebody else complains.
    resume(folder, on: (try? folder.readRunHistory())?.on ?? [], view)
  }

  /// As short as it finds the run from where the person is.
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
    // By hand: the types of `joined` are made at run time when it is first called, which with those of
    // `split` on the way of a manifest takes nearly a tenth of a run of one task.
    var text = ""
    for word in words + arguments {
      if !text.isEmpty { text += " " }
      text += ActionText.quoted(word)
    }
    return text
  }
}
